"""Comparing texts, compiled and uncompiled, against the definition in plain Python."""

from itertools import accumulate
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

BOTH = both("osm")
LEVELS = 3

# A text is {key: count}.
text = st.dictionaries(st.integers(0, 23), st.integers(1, 5), max_size=8)
node = st.tuples(text.filter(bool), st.integers(1, LEVELS), st.booleans())
weights = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4).filter(any)


def part(one, component):
    return {key: count for key, count in one.items() if key & 3 == component}


def plain_cosine(one, other, component):
    a, b = part(one, component), part(other, component)
    squares = sum(c * c for c in a.values()) * sum(c * c for c in b.values())
    return sum(a[key] * b[key] for key in a.keys() & b.keys()) / sqrt(squares) if squares else 0.0


def plain_mask(one):
    return sum({1 << (key & 3) for key in one})


def plain_osm(one, other, weights):
    used = [c for c in range(4) if (plain_mask(one) | plain_mask(other)) >> c & 1]
    total = sum(weights[c] for c in used) or 1.0
    return sum(weights[c] * plain_cosine(one, other, c) for c in used) / total


def arrays(texts):
    pairs = [pair for one in texts for pair in sorted(one.items())]
    keys = np.array([key for key, _ in pairs], np.int32)
    counts = np.array([count for _, count in pairs], np.uint16)
    return keys, counts, list(map(len, texts))


def in_order(nodes):
    """Return nodes as an index has them, and their levels and masks."""
    nodes = sorted(nodes, key=lambda node: (node[1], plain_mask(node[0])))
    return nodes, [node[1] for node in nodes], [plain_mask(node[0]) for node in nodes]


class Asked:
    """Postings over *nodes*, as one version of the core has them."""

    def __init__(self, osm, nodes, first_row):
        nodes, levels, masks = in_order(nodes)
        keys, counts, sizes = arrays([node[0] for node in nodes])
        self.alive = np.array([node[2] for node in nodes], np.uint8)
        self.postings = osm.Postings(
            np.arange(first_row, first_row + len(nodes)),
            np.array(levels, np.int8),
            np.array(masks, np.uint8),
            self.alive,
            np.array(sizes, np.int64),
            keys,
            counts,
        )

    def improve(self, queries, weights, best, row):
        keys, counts, sizes = arrays(queries)
        bounds = np.array([0, *accumulate(sizes)], np.int32)
        divisors = [sum(weights[c] for c in range(4) if mask >> c & 1) or 1.0 for mask in range(16)]
        self.postings.best(keys, counts, bounds, np.array(weights), np.array(divisors), best, row)


@given(
    st.lists(node, max_size=12),
    st.lists(node, max_size=5),
    st.lists(text, max_size=6),
    st.lists(st.integers(0, 5), max_size=6),
    weights,
)
def test_the_best_of_two_indexes(old, young, queries, again, weights):
    queries += [queries[at] for at in again if at < len(queries)]  # some with the same headings
    nodes = [*in_order(old)[0], *in_order(young)[0]]
    rows = []
    for osm in BOTH:
        best, row = np.zeros((len(queries), LEVELS)), np.full(len(queries), -1)
        for _ in range(2):  # nothing is left over from the first time
            best[:], row[:] = 0, -1
            Asked(osm, old, 0).improve(queries, weights, best, row)
            Asked(osm, young, len(old)).improve(queries, weights, best, row)
        for at, query in enumerate(queries):
            expected = np.zeros(LEVELS)
            for words, level, alive in nodes:
                if alive:
                    value = plain_osm(query, words, weights)
                    expected[level - 1] = max(expected[level - 1], value)
            assert best[at] == pytest.approx(expected, abs=1e-9)
            if expected.max() > 1e-9:
                words, level, alive = nodes[row[at]]
                assert alive
                assert plain_osm(query, words, weights) == pytest.approx(expected.max())
                first = next(i for i, n in enumerate(nodes) if n == nodes[row[at]])
                assert row[at] == first, "of nodes alike the first is the best"
            else:
                assert row[at] == -1
        rows.append((best.tolist(), row.tolist()))
    assert rows[0] == rows[1]


def test_among_equals_the_first_is_best():
    same = {3: 1, 7: 2}
    for osm in BOTH:
        asked = Asked(osm, [({3: 1}, 1, True), (same, 2, True), (same, 2, True)], 10)
        best, row = np.zeros((1, LEVELS)), np.zeros(1, np.int64)
        asked.improve([same], (1.0, 1.0, 1.0, 1.0), best, row)
        assert row.tolist() == [11]
        asked.alive[1] = 0
        asked.improve([same], (1.0, 1.0, 1.0, 1.0), best, row)
        assert row.tolist() == [11], "what was found elsewhere stays where it is as good"
        best[:], row[:] = 0, 0
        asked.improve([same], (1.0, 1.0, 1.0, 1.0), best, row)
        assert row.tolist() == [12]


@given(text, text)
def test_cosine_and_mask_are_those_of_the_definition(one, other):
    (keys, counts, _), (other_keys, other_counts, _) = arrays([one]), arrays([other])
    for osm in BOTH:
        assert osm.mask(keys) == plain_mask(one)
        for component in range(4):
            found = osm.cosine(keys, counts, other_keys, other_counts, component)
            assert found == pytest.approx(plain_cosine(one, other, component), abs=1e-12)


def test_many_keys_have_a_list_each():
    random = np.random.default_rng(0)
    nodes = [
        ({int(key) * 4 + 3: 1 for key in random.choice(1 << 21, 20, replace=False)}, 1, True)
        for _ in range(400)
    ]
    for osm in BOTH:
        asked = Asked(osm, nodes, 0)
        best, row = np.zeros((len(nodes), 1)), np.zeros(len(nodes), np.int64)
        asked.improve([words for words, _, _ in nodes], (1.0, 1.0, 1.0, 1.0), best, row)
        assert row.tolist() == list(range(len(nodes)))
        assert best == pytest.approx(1.0)
        assert asked.postings.nbytes > 12 * 20 * len(nodes)
