"""Blocks and links as arrays, compiled and uncompiled."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.extract import read_page
from treasure.pages import Block, Blocks, Link, Span

HTML = (
    "<nav><a href=m>menu</a></nav><h1>Head</h1><ul><li><a href=a>one</a><li>two</ul><p>" + "x " * 9
)


def test_tables_hold_what_the_tuples_say():
    page = read_page("http://host.test/", HTML)
    blocks = [[*b.span, b.heading, b.boilerplate, *b.whole] for b in page.blocks]
    for tables in both("tables"):
        assert tables.block_table(page.blocks).tolist() == blocks
        assert tables.block_table([]).shape == (0, 6)
    assert page.block_table.tolist() == blocks


def test_main_terms_are_those_of_the_title_and_of_all_blocks_but_boilerplate():
    page = read_page("http://host.test/", f"<title>A fine title</title>{HTML}")
    spans = [page.title_span, *(b.span for b in page.blocks if not b.boilerplate)]
    expected = [t for span in spans for t in page.terms[span.start : span.stop].tolist() if t >= 0]
    for tables in both("tables"):
        terms = tables.main_terms(page.terms, page.title_span.stop, page.block_table)
        assert terms.tolist() == expected
        assert tables.main_terms(page.terms[:0], 0, page.block_table[:0]).size == 0
    assert page.main_terms.tolist() == expected
    assert len(expected) < (page.terms >= 0).sum()


PLACES = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)
WORDS = st.lists(st.integers(0, 9), min_size=6, max_size=6).map(np.cumsum)
ROWS = st.lists(st.tuples(PLACES, st.integers(-1, 3), st.booleans(), st.integers(-1, 1)))


@given(WORDS, ROWS)
def test_blocks_of_a_walk_are_those_that_are_made_one_by_one(words, rows):
    lists = [(1, 4), (2, -1)]  # one that did not end
    at = words.tolist()
    blocks = []
    navigation = sum(at[last] - at[first] for (first, last), _, within, _ in rows if within)
    trusted = navigation <= 0.9 * (at[-1] - at[0])
    for (first, last), heading, within, inside in rows:
        span = Span(at[first], at[last])
        whole = Span(*(at[place] for place in lists[inside])) if inside >= 0 else span
        blocks.append(Block("cell", span, heading, within and trusted, whole))
    walked = [(2, *places, heading, within, inside) for places, heading, within, inside in rows]
    walked = np.array(walked, np.int32).reshape(len(rows), 6)
    for tables in both("tables"):
        found = tables.counted_blocks(
            walked, np.array(lists, np.int32), words.astype(np.int32), 0.9
        )
        assert found.tolist() == tables.block_table(blocks).tolist()
        lazy = Blocks(walked, found)
        assert list(lazy) == blocks == lazy[:]
        assert len(lazy) == len(blocks)


@given(WORDS, st.lists(st.tuples(PLACES, st.booleans())), st.booleans())
def test_links_of_a_walk_are_those_that_are_made_one_by_one(words, rows, nofollow):
    at = words.tolist()
    walked = [("u", *places, "shown", 7, "p>a", own) for places, own in rows]
    links = [
        Link("u", Span(at[first], at[last]), "shown", 7, "p>a", own or nofollow, 1)
        for (first, last), own in rows
    ]
    for tables in both("tables"):
        given = walked, words.astype(np.int32), Link, Span, nofollow
        found = tables.counted_links(*given, {"u": 1}.__getitem__)
        assert found == links
        assert all(type(link) is Link and type(link.anchor) is Span for link in found)
