"""Finding terms, compiled and uncompiled, and as slowly as the docstring says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

MODULES = both("matching")
STEMS = 5
TERMS = st.sets(st.lists(st.integers(0, STEMS - 1), min_size=1, max_size=4).map(tuple), min_size=1)
WORDS = st.lists(st.integers(-1, STEMS + 2), max_size=30)


def matcher(matching, terms):
    """Return the matcher of *terms* whose words have the numbers of their stems, and one more."""
    longest = max(map(len, terms))
    columns = np.full((longest + 1, len(terms)), -1, np.int32)
    words = np.stack([[*range(STEMS), -1], np.full(STEMS + 1, -1)], axis=1).astype(np.int32)
    for place, term in enumerate(terms):
        columns[: len(term), place] = term
        if len(term) == 1:
            words[term[0], 1] = place
    begin = np.searchsorted(columns[0], np.arange(STEMS + 1)).astype(np.int32)
    return matching.Matcher(words, begin, columns)


def naive(terms, words):
    kept = [(place, word) for place, word in enumerate(words) if word >= 0]
    stems = [word if word < STEMS else -1 for _, word in kept]
    found, at = [], 0
    while at < len(kept):
        sizes = [
            n for n in range(min(4, len(kept) - at), 0, -1) if tuple(stems[at : at + n]) in terms
        ]
        if sizes:
            term = terms.index(tuple(stems[at : at + sizes[0]]))
            found.append((term, kept[at][0], kept[at + sizes[0] - 1][0] + 1))
        at += sizes[0] if sizes else 1
    return found, stems, [place for place, _ in kept]


@given(TERMS, WORDS)
def test_the_longest_term_is_found_from_the_left(terms, words):
    ordered = sorted(terms)
    for matching in MODULES:
        *hits, stems, places = matcher(matching, ordered).match(np.array(words, np.int32))
        found = list(zip(*(row.tolist() for row in hits), strict=True))
        assert (found, stems.tolist(), places.tolist()) == naive(ordered, words)
