"""The weighted galaxy: how pages are classified.

The plain galaxy counts every dot alike, so common words with many numbers swamp it. Here a dot
weighs what its term tells, shared among the term's numbers:

    weight(dot) = rarity(term) x sqrt(tf) x anchor impact / numbers of the term

tf counts the opening words of a text three times: titles come first. To the dots of terms come the
faint dots of all words (``kinship``). A region's weight is the plain sum; a class is ranked by
its own weight and, in part, by that of its division and main class, so that the numbers of a
text support each other. How each choice was measured: docs/decisions/031-faint-dots.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.core.galaxy import Scale
from treasure.ddc.galaxy import ANCHOR_IMPACT, Galaxy, dots_of
from treasure.ddc.lexicon import Hits, Lexicon
from treasure.ddc.numbers import class_of, normal, pointed
from treasure.text import VOCABULARY, words

OPENING_WORDS = 15
OPENING_WEIGHT = 3
DIVISION, MAIN_CLASS = 0.3, 0.2
"""What a class gains from the weight of its division and of its main class."""
MOST_GAIN = 4.0
"""It gains at most this many times its own weight: neighbours alone make no number."""
MOST_NUMBERS = 10
"""How many numbers a galaxy names."""
MAJORITY = 0.5
"""A number is made more precise while one branch below it holds more than this of its terms."""

Floats = NDArray[np.float64]


class WeightedGalaxy:
    """Classifies by what words tell."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        sizes = np.diff(lexicon.posting_start)
        self._term_weight = (lexicon.rarity / sizes).astype(np.float32)
        """The weight of each dot of a term."""
        self._digits = lexicon.digits
        classes = [class_of(number) for number in lexicon.numbers]
        self._class_names, self._class_of = np.unique(classes, return_inverse=True)

    @cached_property
    def _scale(self) -> Scale:
        """What weighs the dots of a text."""
        lexicon, names = self.lexicon, self._class_names
        # Nearly all stems have as many faint dots as any, so that rows of that size, filled up with
        # dots of no weight, take no more room and are found by their number alone. And what is
        # needed together lies together.
        sizes = np.diff(lexicon.faint_start)
        most = int(sizes.max(initial=1))
        row = [("class", np.uint16, (most,)), ("weight", np.float32, (most,))]
        rows = np.zeros(len(sizes), np.dtype(row, align=True))
        filled = np.arange(most) < sizes[:, None]
        rows["class"][filled] = self._class_of[lexicon.faint_number]
        rows["weight"][filled] = lexicon.faint_weight
        divisions, mains = (
            np.unique([name[:digits] for name in names], return_inverse=True)[1].astype(np.int32)
            for digits in (2, 1)
        )
        digits = np.array([own.encode() for own in self._digits])
        digits = digits.view(np.uint8).reshape(len(digits), -1)
        return Scale(
            (lexicon.posting_start, lexicon.posting_number, self._term_weight),
            (rows["class"], rows["weight"]),
            (self._class_of.astype(np.int32), divisions, mains),
            (DIVISION, MAIN_CLASS, MOST_GAIN),
            digits,
            MAJORITY,
        )

    def classify_text(self, text: str) -> Galaxy:
        """Return the galaxy of *text*."""
        return self.classify(VOCABULARY.ids(words(text)))

    def classify(self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of a text given as vocabulary ids; *anchor* marks words of the link.

        >>> galaxy = WeightedGalaxy(Lexicon.load()).classify(page.terms)  # doctest: +SKIP
        >>> galaxy.numbers[0], galaxy.share(topic.numbers)  # doctest: +SKIP
        (("523", 0.31), 0.44)
        """
        lexicon = self.lexicon
        hits, word, strength = self._read(terms, anchor)
        bright = word < lexicon.size
        term, stem = word[bright], word[~bright] - lexicon.size
        of_term, place = dots_of(lexicon.posting_start, term)
        of_stem, faint = dots_of(lexicon.faint_start, stem)
        term_weight = self._term_weight[term] * strength[bright]
        stem_weight = lexicon.faint_weight[faint] * strength[~bright][of_stem]
        return Galaxy(
            lexicon,
            hits,
            np.concatenate([term[of_term], stem[of_stem] + lexicon.size]),
            np.concatenate([lexicon.posting_number[place], lexicon.faint_number[faint]]),
            np.concatenate([term_weight[of_term], stem_weight]),
            self._ranked(word, strength, MOST_NUMBERS),
        )

    def numbers(
        self, terms: NDArray[np.int32], most: int = MOST_NUMBERS
    ) -> tuple[tuple[str, float], ...]:
        """Return the best numbers of a text, as ``classify`` does, without the rest."""
        _, word, strength = self._read(terms, None)
        return self._ranked(word, strength, most)

    def _read(
        self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None
    ) -> tuple[Hits, NDArray[np.int32], Floats]:
        """Return the hits of a text; then its distinct words and sqrt(tf) x anchor impact of each.

        Words are terms and, numbered after the last term, stems.
        """
        hits, stem, place = self.lexicon.match_stems(terms)
        word, strength = self._scale.strengths(
            hits.term, hits.start, stem, place, OPENING_WORDS, OPENING_WEIGHT
        )
        if anchor is not None:
            stems = stem[anchor[place] & (stem >= 0)] + self.lexicon.size
            linked = np.append(hits.term[anchor[hits.start]], stems)
            strength[np.isin(word, linked)] *= ANCHOR_IMPACT
        return hits, word, strength

    def share_of_terms(self, prefixes: Sequence[str]) -> NDArray[np.float32]:
        """Return a weight for each vocabulary id (those known at load): a topic as a word vector.

        Only words have a place here, phrases have none.
        """
        lexicon = self.lexicon
        on_term, on_stem = self._topic(tuple(map(normal, prefixes)))
        singles = np.flatnonzero(np.diff(lexicon.term_start) == 1)
        weights = on_stem.copy()
        weights[lexicon.term_stems[lexicon.term_start[singles]]] += on_term[singles]
        vector = np.zeros(VOCABULARY.size, np.float32)
        usable = lexicon.vocabulary_ids >= 0
        vector[lexicon.vocabulary_ids[usable]] = weights[usable]
        return vector

    @lru_cache(maxsize=64)  # noqa: B019 - as many as there are topics, for the life of a crawl
    def _topic(self, prefixes: tuple[str, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the weight of each term, and of each stem's faint dots, under *prefixes*."""
        lexicon = self.lexicon
        under = lexicon.under(prefixes)
        sizes = np.diff(lexicon.posting_start)
        bright = np.repeat(lexicon.rarity / sizes, sizes)
        return (
            _row_sums(lexicon.posting_start, bright * under[lexicon.posting_number]),
            _row_sums(lexicon.faint_start, lexicon.faint_weight * under[lexicon.faint_number]),
        )

    def _ranked(
        self, word: NDArray[np.int32], strength: Floats, most: int
    ) -> tuple[tuple[str, float], ...]:
        """Return the best classes, each as its most precise number that a majority backs."""
        found = self._scale.ranked(word, strength, most)
        return tuple([(self._named(self._digits[at][:size]), share) for at, size, share in found])

    @lru_cache(maxsize=4_096)  # noqa: B019 - galaxies live as long as the process
    def _named(self, reached: str) -> str:
        """Return the number of these digits, or the nearest above it that has a name."""
        reached = reached.ljust(3, "0")
        while len(reached) > 3 and pointed(reached) not in self.lexicon:
            reached = reached[:-1]
        return normal(pointed(reached))


def _row_sums(starts: NDArray[np.int32], weights: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
    return np.asarray(sums[starts[1:]] - sums[starts[:-1]], np.float32)
