"""The walk over a page, compiled and uncompiled, and what lexbor must write for it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tests.core.both import both

INSTALLED, UNCOMPILED = both("walk")
OWN = "http://own.test/"

TAGS = (
    "a area b br body caption div dl em footer frame h1 h2 h6 hr iframe img input li math nav "
    "noframes noscript ol option p plaintext pre script section select span style svg table td "
    "template textarea th title tr ul wbr xmp x-y"
).split()
ATTRIBUTES = (
    " href=1", " href='/x?a=1&amp;b=2'", ' href=""', " rel=nofollow", " rel='ugc x'", " title=t",
    " aria-label='l\u00a0m'", " alt='a&lt;b'", " id=menu", " class='x y'", " class=sidebar",
    " role=heading", " role=navigation", " aria-level=3", " aria-level=9", ' =x="y', " q'<=2",
)  # fmt: skip
TEXTS = (
    "word", " ", "\n ", "\x01", "&nbsp;", "&lt;/style&gt;", "&amp;lt;", "é", "\u2003", "<!--x>-->",
    "<?php ?>", "]]>",
)  # fmt: skip


def opening(tag: str, attributes: list[str]) -> str:
    return f"<{tag}{''.join(attributes)}>"


PIECES = st.one_of(
    st.builds(opening, st.sampled_from(TAGS), st.lists(st.sampled_from(ATTRIBUTES), max_size=3)),
    st.sampled_from([f"</{tag}>" for tag in TAGS]),
    st.sampled_from(TEXTS),
    st.text(max_size=5),
)
PAGES = st.lists(PIECES, max_size=30).map("".join)


class Steps(dict):
    def __missing__(self, names):
        tag, name, classes, role = (*names[:1], *map(INSTALLED.unescaped, names[1:]))
        step = f"{tag}#{name}" if name else f"{tag}.{classes}"
        return f"!{step}" if "menu" in name or "sidebar" in classes or role else step


def walked(module, written, *, max_links=100, max_chars=1000, max_nodes=1000):
    asked = []

    def resolve(href):
        asked.append(href)
        return "" if href == "2" else OWN if href == "own" else f"http://host.test/{href}"

    walk = module.Walk(written, OWN, Steps(), resolve, max_links)
    walk.read(max_chars, max_nodes)
    walk.link("refresh", "meta")
    walk.end_block()
    text = bytes(walk.text[: walk.size])
    found = (walk.begins, walk.blocks, walk.headings, walk.lists)
    return text, *(rows.tolist() for rows in found), walk.links, asked


def lexbor(html):
    body = LexborHTMLParser(html.encode("utf-8", "replace")).body
    return body.html.encode() if body is not None else b""


@given(PAGES)
@example("<svg><style>&lt;/style&gt;</style></svg></p></div></body>after<a href=1>x")
@example("<a href=1><area href=3 alt=z></a><table><a href=1>y<table><tr><td><a href=4>z")
@example("<plaintext></plaintext><p>x")
def test_compiled_and_uncompiled_read_the_same(html):
    written = lexbor(html)
    assert walked(INSTALLED, written) == walked(UNCOMPILED, written)


@given(st.binary(max_size=200), PAGES)
@example(b"<a ", "")
@example(b"<a =", "")
@example(b"<img alt=", "<img alt")
@example(b'<a href="', "")
@example(b"<", "x&")
def test_nothing_that_lexbor_would_not_write_leads_astray(rubbish, html):
    """Places stay within the text, and text within its room, whatever comes."""
    for written in (rubbish, html.encode(), html.encode()[:-3], b"<a b" + rubbish):
        found = walked(UNCOMPILED, written)
        assert found == walked(INSTALLED, written)
        text, begins, blocks, _, lists, links, _ = found
        places = len(begins) - 1
        assert begins == sorted(begins) and begins[-1] == len(text) <= len(written) + 8
        assert all(0 <= first <= last <= places for _, first, last, *_ in blocks)
        assert all(0 <= first <= last <= places for _, first, last, *_ in links)
        assert all(0 <= first <= places for first, _ in lists)


def test_limits():
    html = b"<body>" + b'<p>one <a href="%d">two</a></p>' * 3 % (1, 3, 4) + b"</body>"
    for module in (INSTALLED, UNCOMPILED):
        assert len(walked(module, html, max_links=2)[5]) == 2
        assert walked(module, html, max_chars=3)[0] == b"one \x01"
        assert len(walked(module, html, max_nodes=4)[2]) == 2  # and the refresh


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
