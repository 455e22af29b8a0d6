"""The walk over a page, compiled and uncompiled."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.both import both
from tests.core.pages import PAGES, lexbor
from treasure.core.tags import unescaped

INSTALLED, UNCOMPILED = both("walk")
OWN = "http://own.test/"


class Steps(dict):
    def __missing__(self, names):
        tag, name, classes, role = (*names[:1], *map(unescaped, names[1:]))
        step = f"{tag}#{name}" if name else f"{tag}.{classes}"
        return f"!{step}" if "menu" in name or "sidebar" in classes or role else step


def walked(module, written, *, max_links=100, max_chars=1000, max_nodes=1000):
    asked = []

    def resolve(href):
        asked.append(href)
        return "" if href == "2" else OWN if href == "own" else f"http://host.test/{href}"

    walk = module.Walk(written, OWN, Steps(), resolve, max_links, max_nodes)
    walk.read(max_chars)
    walk.link("refresh", "meta")
    walk.end_block()
    text = bytes(walk.text[: walk.size])
    found = (walk.begins, walk.blocks, walk.headings, walk.lists)
    return text, *(rows.tolist() for rows in found), walk.links, asked


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
@example(b"<>", "< >")
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
