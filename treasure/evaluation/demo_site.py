"""A page of the demo web as HTML, in one of four habits of webmasters.

``modern`` marks up its parts, ``divs`` names them with ids and classes, ``table`` lays everything
out in a table as in the nineties, and ``broken`` forgets most end tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from random import Random
from typing import NamedTuple

from treasure.evaluation.demo_sentences import LINK, Prose, Subject

LAYOUTS = ("modern", "divs", "table")
BROKEN = "broken"
PARAGRAPH_WORDS = (35, 75)
LIST_CHANCE = 0.5


class Anchor(NamedTuple):
    """A link of a page."""

    url: str
    text: str


@dataclass
class DemoPage:
    """What a page of the demo web says and links to."""

    url: str
    title: str
    subject: Subject
    about: str
    words: int
    """Words of its own text, about."""
    topic: str = ""
    """Key of the topic it is a target of; empty when it is none."""
    site: str = ""
    layout: str = "modern"
    encoding: str = "utf-8"
    nav: Sequence[Anchor] = ()
    related: list[Anchor] = field(default_factory=list)
    """Links in its sentences."""
    listed: list[Anchor] = field(default_factory=list)
    """Links in a list of their own."""
    elsewhere: list[Anchor] = field(default_factory=list)
    """Links to other sites, at the end."""

    @property
    def anchor(self) -> Anchor:
        """How others link here."""
        return Anchor(self.url, self.title)


def render(page: DemoPage, random: Random) -> bytes:
    """Return the page as its server sends it."""
    parts = _content(page, random)
    html = _WRITERS[page.layout](page, parts)
    return html.encode(page.encoding, "xmlcharrefreplace")


def _content(page: DemoPage, random: Random) -> list[tuple[str, list[str]]]:
    """Return the parts of the main text: (h2 | p | ul, their HTML)."""
    prose = Prose(page.subject, page.about, random)
    related = list(page.related)
    parts: list[tuple[str, list[str]]] = []
    written = 0
    while written < page.words:
        if written and random.random() < LIST_CHANCE:
            parts.append(("h2", [escape(prose.heading())]))
        sentences = prose.paragraph(
            min(random.randint(*PARAGRAPH_WORDS), max(12, page.words - written))
        )
        written += sum(len(sentence.split()) for sentence in sentences)
        shown = [escape(sentence, quote=False) for sentence in sentences]
        if related:
            place = random.randint(1, len(shown))
            shown.insert(place, prose.related().replace(LINK, _a(related.pop(0))))
        parts.append(("p", [" ".join(shown)]))
    if page.words > 100 and random.random() < LIST_CHANCE:
        parts.append(("h2", [escape(random.choice(prose.language.lists))]))
        parts.append(("ul", [escape(item) for item in prose.items(random.randint(3, 6))]))
    if page.listed:
        parts.append(("h2", [escape(prose.language.index)]))
        parts.append(("ul", [_a(anchor) for anchor in page.listed]))
    if related:
        parts.append(("ul", [_a(anchor) for anchor in related]))
    if page.elsewhere:
        parts.append(("h2", [escape(prose.language.elsewhere)]))
        parts.append(("ul", [_a(anchor) for anchor in page.elsewhere]))
    return parts


def _a(anchor: Anchor) -> str:
    return f'<a href="{escape(anchor.url)}">{escape(anchor.text, quote=False)}</a>'


def _blocks(parts: Sequence[tuple[str, list[str]]]) -> str:
    blocks = []
    for tag, content in parts:
        inner = "".join(f"<li>{item}</li>\n" for item in content) if tag == "ul" else content[0]
        blocks.append(f"<{tag}>{inner}</{tag}>")
    return "\n".join(blocks)


def _description(page: DemoPage) -> str:
    return escape(f"{page.title}. {page.site}.")


def _modern(page: DemoPage, parts: Sequence[tuple[str, list[str]]]) -> str:
    menu = "".join(f"<li>{_a(anchor)}</li>" for anchor in page.nav)
    return f"""<!doctype html>
<html lang="{page.subject.language}">
<head>
<meta charset="{page.encoding}">
<title>{escape(page.title)} - {escape(page.site)}</title>
<meta name="description" content="{_description(page)}">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><p>{escape(page.site)}</p>
<nav><ul>{menu}</ul></nav></header>
<main><article>
<h1>{escape(page.title)}</h1>
{_blocks(parts)}
</article></main>
<footer><p>{escape(page.site)} is set in two columns and printed on no paper at all.</p></footer>
</body>
</html>
"""


def _divs(page: DemoPage, parts: Sequence[tuple[str, list[str]]]) -> str:
    menu = " | ".join(_a(anchor) for anchor in page.nav)
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "">
<html xmlns="http://www.w3.org/1999/xhtml" lang="{page.subject.language}">
<head>
<meta http-equiv="Content-Type" content="text/html; charset={page.encoding}" />
<title>{escape(page.site)}: {escape(page.title)}</title>
<script type="text/javascript">var visits = visits || 0; visits += 1;</script>
</head>
<body>
<div id="navigation">{menu}</div>
<div id="content" class="text">
<h1>{escape(page.title)}</h1>
{_blocks(parts)}
</div>
<div id="footer">Last changed by hand. <a href="/contact.html">{escape(page.site)}</a></div>
</body>
</html>
"""


def _table(page: DemoPage, parts: Sequence[tuple[str, list[str]]]) -> str:
    menu = "<br>\n".join(_a(anchor) for anchor in page.nav)
    return f"""<HTML><HEAD><TITLE>{escape(page.title)}</TITLE>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={page.encoding}"></HEAD>
<BODY BGCOLOR="#ffffe8">
<TABLE WIDTH="100%" BORDER=0 CELLPADDING=8><TR>
<TD VALIGN=top CLASS="menu" WIDTH=160><FONT SIZE=2><B>{escape(page.site)}</B><BR>
{menu}</FONT></TD>
<TD VALIGN=top><H1>{escape(page.title)}</H1>
{_blocks(parts)}
</TD></TR></TABLE>
<CENTER><FONT SIZE=1>Best viewed with both eyes.</FONT></CENTER>
</BODY></HTML>
"""


def _broken(page: DemoPage, parts: Sequence[tuple[str, list[str]]]) -> str:
    """Leave out end tags, nest wrongly, close what was never opened."""
    lines = [f"<title>{escape(page.title)}</title>", "<body bgcolor=white bgcolor=silver>"]
    lines += ["<center>", *(_a(anchor) for anchor in page.nav), "</div>"]
    lines.append(f"<h1><b><i>{escape(page.title)}</b></i></h1>")
    for tag, content in parts:
        if tag == "ul":
            lines += ["<ul>", *(f"<li>{item}" for item in content)]
        else:
            lines.append(f"<{tag}>{content[0]}")
    lines.append('<table><tr><td>&copy <a name="end">the end</td></table></span> &nosuch; <!-- ')
    return "\n".join(lines)


_WRITERS = {"modern": _modern, "divs": _divs, "table": _table, BROKEN: _broken}
