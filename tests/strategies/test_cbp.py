from __future__ import annotations

import dataclasses

import lxml.html
import pytest

from tests.strategies.small_web import terms, url
from treasure.extract import read_page
from treasure.strategies.cbp import ContentBlock, content_blocks, partition

# blockHeight(html) = 4: table, tr, td, p. Half of it is 2.
TABLES = """<html><body>
<table id=menu><tr id=top><td id=left><p id=a><a href=A.htm>owls</a></p><p id=b>text</p></td>
<td id=right><p id=c><a href=B.htm>hills</a> far away</p></td></tr></table>
<p id=d>The <a href=C.htm>end</a></p>
</body></html>"""


def names(html: str, *, alpha: float = 0.5) -> list[str]:
    root = lxml.html.document_fromstring(html)
    return [element.get("id") or element.tag for element in partition(root, alpha=alpha)]


def test_algorithm_1_by_hand() -> None:
    # s = 2. html (4), body (4), table (3), tr (2) are split: each has a child with links. Both td
    # (1) are blocks, and p#d (0).
    assert names(TABLES) == ["d", "left", "right"]


def test_a_lower_alpha_cuts_finer() -> None:
    # s = 1: td (1) is split too.
    assert names(TABLES, alpha=0.25) == ["d", "a", "b", "c"]


def test_alpha_1_cuts_only_what_is_as_high_as_the_root() -> None:
    # s = 4: html and body are split, the table (3) is not.
    assert names(TABLES, alpha=1.0) == ["menu", "d"]


def test_without_links_the_page_is_one_block() -> None:
    assert names("<html><body><table><tr><td>text</td></tr></table></body></html>") == ["html"]


def test_a_div_counts_when_it_holds_blocks() -> None:
    # div#outer is a block tag here, div#plain is not: heights 2 (div, p) and 0; s = 1.
    html = """<html><body><div id=outer><p id=p><a href=A.htm>a</a></p></div>
    <div id=plain><a href=B.htm>b</a></div></body></html>"""
    assert names(html) == ["plain", "p"]


def read(html: str) -> list[ContentBlock]:
    return content_blocks(read_page(url("Page"), html))


def test_blocks_hold_their_words_and_links() -> None:
    last, left, right = read(TABLES)
    assert list(left.terms) == list(terms("owls text"))
    assert [(a.url, list(a.terms)) for a in right.anchors] == [(url("B"), list(terms("hills")))]
    assert list(right.anchors[0].context) == list(terms("hills far away"))
    assert list(last.anchors[0].context) == list(terms("The end"))


def test_scripts_are_no_text() -> None:
    [block] = read("<p><script>var owls;</script><a href=A.htm>hill</a><style>b{}</style> end</p>")
    assert list(block.terms) == list(terms("hill end"))


def test_relative_links_follow_the_base_and_others_are_left_out() -> None:
    html = """<html><head><base href="http://other.test/x/"></head><body><p>
    <a href="A.htm#part">a</a> <a href="mailto:a@b.c">b</a> <a name=c>c</a></p></body></html>"""
    [block] = read(html)
    assert [anchor.url for anchor in block.anchors] == ["http://other.test/x/A.htm"]


@pytest.mark.parametrize("html", ["", "   ", "<!-- nothing -->", "<p>text</p>"])
def test_pages_without_links_have_no_blocks_that_matter(html: str) -> None:
    assert read(html) == []


def test_a_page_without_its_html_is_cut_as_it_was_read() -> None:
    page = read_page(url("Page"), "<p>owls <a href=A.htm>hill</a></p><p><a href=B.htm>b</a></p>")
    first, second = content_blocks(dataclasses.replace(page, html=""))
    assert list(first.terms) == list(terms("owls hill"))
    assert [anchor.url for anchor in first.anchors] == [url("A")]
    assert [anchor.url for anchor in second.anchors] == [url("B")]


@pytest.mark.parametrize(("depth", "found"), [(1_000, [url("A")]), (100_000, [])])
def test_very_deep_pages_are_cut_without_recursion(depth: int, found: list[str]) -> None:
    """libxml2 gives up at 2,048 levels; what is deeper is in no block."""
    html = "<div>" * depth + "<a href=A.htm>a</a>" + "</div>" * depth
    assert [anchor.url for block in read(html) for anchor in block.anchors] == found
