"""Counting and comparing texts, compiled and uncompiled, against the definition in plain Python."""

from collections import Counter
from itertools import accumulate
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.extract import read_page

BOTH = both("osm")
LEVELS = 3

spans = st.tuples(st.integers(0, 25), st.integers(0, 25))
headings = st.lists(st.tuples(st.integers(1, 4), spans), max_size=6)


def above(headings, main, heading):
    """Return what is above the blocks under a heading: MH, ISH and SH."""
    around = []
    for level, span in headings[: heading + 1]:
        around = [outer for outer in around if outer[0] < level]
        around.append((level, span))
    parts = [(span, 1) for _, span in around[:-1]] + [(span, 0) for _, span in around[-1:]]
    return [(main, 2)] + [(span, component) for span, component in parts if span != main]


@given(
    st.lists(st.sampled_from([-1, 0, 1, 2, 7, 1 << 20]), max_size=20),
    headings,
    st.data(),
)
def test_counts_are_those_of_each_text(terms, headings, data):
    main = data.draw(st.sampled_from([span for _, span in headings]) if headings else spans)
    under = st.integers(-1, len(headings) - 1)
    texts = data.draw(st.lists(st.tuples(under, spans), max_size=6))
    expected = []
    for heading, span in texts:
        counts = Counter()
        for (begin, end), component in [*above(headings, main, heading), (span, 3)]:
            counts.update(term * 4 + component for term in terms[begin:end] if term >= 0)
        expected.append(sorted(counts.items()))
    for osm in BOTH:
        keys, counts, bounds = osm.counted(
            np.array(terms, np.int32),
            np.array([span for _, span in texts], np.int32).reshape(-1, 2),
            np.array([heading for heading, _ in texts], np.int32),
            osm.heading_table([(*heading, "") for heading in headings], main),
        )
        assert (keys.dtype, counts.dtype, bounds.dtype) == (np.int32, np.uint16, np.int32)
        pairs = list(zip(keys.tolist(), counts.tolist(), strict=True))
        ends = bounds.tolist()
        assert [pairs[ends[i] : ends[i + 1]] for i in range(len(texts))] == expected
        assert ends[-1] == len(pairs)


def test_counts_end_at_what_fits_a_column():
    terms = np.zeros(70_000, np.int32)
    data, under = np.array([[0, 70_000]], np.int32), np.array([-1], np.int32)
    for osm in BOTH:
        _, counts, _ = osm.counted(terms, data, under, osm.heading_table([], (0, 0)))
        assert counts.tolist() == [65_535]


def test_links_are_grouped_by_paragraph_or_list_and_heading():
    page = read_page(
        "http://host.test/",
        "<p><a href=a>a</a> <a href=b>b</a></p><h2>One</h2><ul><li><a href=c>c</a><li>"
        "<a href=d>d</a></ul><p><a href=e>e</a></p><a href=f></a>"
        "<ul><li><a href=g>g</a><li><h3>Two</h3><a href=h>h</a> <a href=i>i</a></ul>",
    )
    for order in (page.links, page.links[::-1], []):
        expected = {}
        for at, link in enumerate(order):
            block = page.blocks[link.block]
            whole = block.whole or block.span
            if block.heading >= 0 and page.headings[block.heading].span.start >= whole.start:
                whole = block.span
            expected.setdefault((*whole, block.heading), []).append(at)
        for osm in BOTH:
            headings = osm.heading_table(page.headings, page.main_heading)
            rows, inside, of_link = osm.grouped(page.block_table, order, headings)
            assert rows.tolist() == [list(name) for name in expected]
            assert inside == list(expected.values())
            assert all(at in inside[place] for at, place in enumerate(of_link.tolist()))


def test_a_link_in_no_block_is_an_error():
    for osm in BOTH:
        for block in (-1, 0):
            with pytest.raises(IndexError):
                osm.grouped(
                    np.zeros((0, 6), np.int32),
                    [("", (0, 0), "", block, "", False)],
                    osm.heading_table([], (0, 0)),
                )


# -- comparing: a text is {key: count}

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
