"""Where links stand, and the words around them, compiled and uncompiled, against plain Python."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.extract import read_page

BOTH = both("paragraphs")

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
    for paragraphs in BOTH:
        keys, counts, bounds = paragraphs.counted(
            np.array(terms, np.int32),
            np.array([span for _, span in texts], np.int32).reshape(-1, 2),
            np.array([heading for heading, _ in texts], np.int32),
            paragraphs.heading_table([(*heading, "") for heading in headings], main),
        )
        assert (keys.dtype, counts.dtype, bounds.dtype) == (np.int32, np.uint16, np.int32)
        pairs = list(zip(keys.tolist(), counts.tolist(), strict=True))
        ends = bounds.tolist()
        assert [pairs[ends[i] : ends[i + 1]] for i in range(len(texts))] == expected
        assert ends[-1] == len(pairs)


def test_counts_end_at_what_fits_a_column():
    terms = np.zeros(70_000, np.int32)
    data, under = np.array([[0, 70_000]], np.int32), np.array([-1], np.int32)
    for paragraphs in BOTH:
        _, counts, _ = paragraphs.counted(terms, data, under, paragraphs.heading_table([], (0, 0)))
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
        for paragraphs in BOTH:
            headings = paragraphs.heading_table(page.headings, page.main_heading)
            rows, inside, of_link = paragraphs.grouped(page.block_table, order, headings)
            assert rows.tolist() == [list(name) for name in expected]
            assert inside == list(expected.values())
            assert all(at in inside[place] for at, place in enumerate(of_link.tolist()))


def test_a_link_in_no_block_is_an_error():
    for paragraphs in BOTH:
        for block in (-1, 0):
            with pytest.raises(IndexError):
                paragraphs.grouped(
                    np.zeros((0, 6), np.int32),
                    [("", (0, 0), "", block, "", False)],
                    paragraphs.heading_table([], (0, 0)),
                )
