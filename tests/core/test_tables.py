"""Blocks and links as arrays, compiled and uncompiled."""

import numpy as np

from tests.core.both import both
from treasure.extract import read_page

HTML = (
    "<nav><a href=m>menu</a></nav><h1>Head</h1><ul><li><a href=a>one</a><li>two</ul><p>" + "x " * 9
)


def test_tables_hold_what_the_tuples_say():
    page = read_page("http://host.test/", HTML)
    blocks = [[*b.span, b.heading, b.boilerplate, *b.whole] for b in page.blocks]
    links = [[*link.anchor, link.block] for link in page.links]
    for tables in both("tables"):
        assert tables.block_table(page.blocks).tolist() == blocks
        assert tables.link_table(page.links).tolist() == links
        assert tables.block_table([]).shape == (0, 6)
        assert tables.link_table([]).dtype == np.int32
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
