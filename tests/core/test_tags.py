"""HTML read tag by tag, compiled and uncompiled, and what lexbor must write for it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tests.core.both import both
from tests.core.pages import PAGES, lexbor
from treasure.core.tags import ANCHOR, BLOCK, END, HEADING, HREF, KIND, RAW_TEXT, ROLE, TEXT

INSTALLED, UNCOMPILED = both("tags")


def read(module, html, most=1_000):
    return [found.tolist() for found in module.read(html, most)]


@given(st.binary(max_size=200), PAGES)
@example(b"<a ", "")
@example(b"<a id", "")
@example(b'<a a=""' * 9, "<xmp>")
@example(b"<plaintext><", "<xmp role=heading>&lt;</xmp>")
def test_compiled_and_uncompiled_read_the_same(rubbish, html):
    """Whatever comes has its place in the rows."""
    for written in (lexbor(html), rubbish, html.encode(), b"<a b" + rubbish):
        rows, values = read(UNCOMPILED, written)
        assert read(INSTALLED, written) == [rows, values]
        assert len(rows) <= 2 * written.count(b"<") + 4
        assert len(values) <= len(written) // 5 + 1
        stops = [row[5] for row in rows]
        assert stops == sorted(stops) and all(stop <= len(values) for stop in stops)


def test_rows():
    html = b'<p class="x">a<b role="heading" aria-level="3">b</b><a href="/u" x="">c</a>' + (
        b"<h2>d</h2><!-- e --><script>f</script><xmp>&lt;</xmp><x-y>"
    )
    for module in (INSTALLED, UNCOMPILED):
        rows, values = read(module, html)
        kinds = [row[0] & KIND if row[0] >= 0 else row[0] for row in rows]
        assert kinds == [
            BLOCK, TEXT, HEADING, TEXT, END, ANCHOR, TEXT, END,
            HEADING, TEXT, END, BLOCK, RAW_TEXT, END, BLOCK,
        ]  # fmt: skip
        names = [html[row[2] : row[3]] for row in rows]
        assert names[:4] == [b"p", b"a", b"b", b"b"] and names[-3:] == [b"&lt;", b"", b"x-y"]
        assert [row[4] for row in rows if row[0] >= 0 and row[0] & KIND == HEADING] == [3, 2]
        said = {which: html[begin:end] for which, begin, end in values}
        assert said[HREF] == b"/u" and said[ROLE] == b"heading" and len(values) == 4
        assert module.STEPS[rows[0][1]] == "p" and rows[-1][1] == -1
        assert len(read(module, html, most=3)[0]) == 3


@given(PAGES)
@example("<p>x<svg><title>y</title></svg>")
def test_what_is_said_of_a_page_is_not_overlooked_in_its_body(html):
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    written = lexbor(html)
    for module in (INSTALLED, UNCOMPILED):
        if not module.holds_facts(written) and tree.body is not None:
            assert tree.body.css("base, title, meta, link") == []
    assert INSTALLED.holds_facts(written) == UNCOMPILED.holds_facts(written)


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p title=\"a>b'&quot;&lt;\">", '<p title="a&gt;b\'&quot;&lt;"></p>'),
        ("<a<b c\"d=1 =e=f>", '<a<b c"d="1" =e="f"></a<b>'),
        ("x&nbsp;&lt;&gt;&amp;\"", 'x&nbsp;&lt;&gt;&amp;"'),
        ("<noscript><p>x</noscript>", "<noscript><p>x</p></noscript>"),
        ("<a href>x", '<a href="">x</a>'),
    ],
)  # fmt: skip
def test_lexbor_writes_what_the_walk_relies_on(html, written):
    assert lexbor(f"<body>{html}") == f"<body>{written}</body>".encode()
