"""Pages of all that the core reads, and what lexbor makes of them."""

from __future__ import annotations

from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

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


def lexbor(html):
    body = LexborHTMLParser(html.encode("utf-8", "replace")).body
    return body.html.encode() if body is not None else b""
