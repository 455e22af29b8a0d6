"""HTML -> Page: words, headings, blocks and links.

The parser is lexbor (selectolax): it reads what browsers read, at half the cost of lxml. A walk
over what it made of the page (``core.walk``) gathers the text in segments, and blocks and links
between them. All segments are cut into words together at the end; places in the page are numbers
of segments until then.
"""

from __future__ import annotations

import re
from dataclasses import replace

from selectolax.lexbor import (
    LexborDocumentOptions,
    LexborHTMLParser,
    LexborNode,
    SelectolaxError,
)
from w3lib.encoding import DEFAULT_ENCODING_TRANSLATION, html_to_unicode

from treasure import urls
from treasure.core.tables import counted_blocks, counted_links
from treasure.core.tags import holds_facts, unescaped
from treasure.core.walk import Walk
from treasure.core.written import shown
from treasure.errors import UnreadablePageError
from treasure.pages import Blocks, BlockTexts, Heading, Link, Page, Span
from treasure.parsable import parsable
from treasure.text import MARK, VOCABULARY, plain, words

MAX_TEXT_CHARS = 2_000_000
MAX_LINKS = 5_000
MAX_NODES = 300_000
SHELL_WORDS, SHELL_LINKS = 30, 3
"""Pages with scripts and less than this may need a browser."""
MOST_BOILERPLATE = 0.9
"""Navigation that is more than this share of a page is none."""

_NAVIGATION_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "menu", "menubar", "search", "complementary"}
)
_NAVIGATION_NAMES = re.compile(
    r"(?:^|\s)(?:site-?|page-?|global-?|main-?|top-?|left-?|right-?)?(?:nav|menu|sidebar|side-bar|"
    r"footer|breadcrumb|cookie|banner|masthead|pager|pagination|social|share|sharing|skip|"
    r"headerlink|related-?bar|login|catlinks|advert|sponsor)",
    re.IGNORECASE,
)
_MEANINGLESS_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WITHOUT_EVENTS = LexborDocumentOptions.WO_EVENTS.value
_FACTS = "base[href], title, meta[content], link[rel=canonical][href]"
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
_TITLE_WORDS = 200
_REMEMBERED_STEPS = 4_096
_STEP_BYTES = 2_000
"""What is read of an id, a class or a role: every link below one keeps it."""
_MARK = MARK.encode()
_NO_CHARSETS = (
    "base64_codec bz2_codec hex_codec idna punycode quopri_codec raw_unicode_escape rot_13 "
    "undefined unicode_escape uu_codec zlib_codec base64 bz2 hex quopri uu zlib rot13"
)
# Names that mean something to Python alone. Most are no text, and punycode takes hours for a page;
# whoever declares them gets UTF-8, here and wherever Scrapy decodes a response.
DEFAULT_ENCODING_TRANSLATION.update(dict.fromkeys(_NO_CHARSETS.split(), "utf_8"))


def decode(body: bytes, content_type: str = "") -> str:
    """Return *body* as text, in the encoding that header, BOM or meta tag name, or else found out.

    The text is the one that Scrapy would give.
    """
    return html_to_unicode(
        content_type or None, body, auto_detect_fun=_undeclared, default_encoding="utf-8"
    )[1]


def _undeclared(body: bytes) -> str:
    """Return the encoding of a body that names none: UTF-8, or the likeliest."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        match = from_bytes(body).best()
        return match.encoding if match else "utf-8"
    return "utf-8"


def read_page(url: str, html: str | bytes, *, max_links: int = MAX_LINKS) -> Page:
    """Read the page at *url*; raise UnreadablePageError when it is no HTML at all."""
    if isinstance(html, bytes):
        html = decode(html)
    try:
        # Without events: they only show the chosen option of a select, which we do not read.
        tree = LexborHTMLParser(parsable(html).encode("utf-8", "replace"), options=_WITHOUT_EVENTS)
    except (SelectolaxError, ValueError) as error:
        raise UnreadablePageError(f"{url} cannot be parsed: {error}") from error
    body = tree.body
    written = ((body.html or "") if body is not None else "").encode("utf-8", "replace")
    reading = _Reading(url, max_links)
    reading.read_head(tree, written)
    page = reading.read_body(tree, written, html)
    if page.terms.size < SHELL_WORDS and len(page.links) < SHELL_LINKS:
        return replace(page, scripted_shell=tree.css_first("script") is not None)
    return page


class _Steps(dict[tuple[str, bytes, bytes, bytes], str]):
    """The steps of containers in tag paths, by tag, id, class and role as they are written.

    ``!`` marks where navigation begins. A site has few different ones, page after page.
    """

    def __missing__(self, written: tuple[str, bytes, bytes, bytes]) -> str:
        tag, *names = written
        name, classes, role = (unescaped(value[:_STEP_BYTES]) for value in names)
        step = f"{tag}#{name}" if name else f"{tag}.{classes.split(' ', 1)[0]}" if classes else tag
        if (
            _NAVIGATION_NAMES.search(name)
            or _NAVIGATION_NAMES.search(classes)
            or role in _NAVIGATION_ROLES
        ):
            step = f"!{step}"
        if len(self) >= _REMEMBERED_STEPS:
            self.clear()
        if max(map(len, names)) <= _STEP_BYTES:
            self[written] = step
        return step


_STEPS = _Steps()


class _Reading:
    """What has been read of a page so far."""

    def __init__(self, url: str, max_links: int) -> None:
        self.url = url
        self.max_links = max_links
        self.title = self.language = self.canonical = self.description = self.refresh = ""
        self.robots: frozenset[str] = frozenset()
        self.base = url

    def read_head(self, tree: LexborHTMLParser, written: bytes) -> None:
        """Read what is said of the whole page, wherever it stands; seldom that is in the body."""
        root = tree.root
        if root is not None:
            attributes = root.attributes
            declared = attributes.get("lang") or attributes.get("xml:lang") or ""
            self.language = re.split("[-_]", declared.strip().lower())[0][:3]
        facts: dict[str | None, LexborNode] = {}
        head = tree.head
        inside = tree if head is None or not written or holds_facts(written) else head
        for node in inside.css(_FACTS):
            tag = node.tag
            if tag == "meta":
                self._read_meta(node.attributes)
            else:
                facts.setdefault(tag, node)
        if "base" in facts:
            self.base = self._absolute(facts["base"].attributes["href"]) or self.url
        if "link" in facts:
            self.canonical = self._absolute(facts["link"].attributes["href"])
        if "title" in facts:
            self.title = " ".join(facts["title"].text().split())[:1000]

    def _read_meta(self, attributes: dict[str, str | None]) -> None:
        name = (attributes.get("name") or "").lower()
        content = attributes.get("content") or ""
        if name == "description":
            self.description = " ".join(content.split())[:2000]
        elif name in {"robots", "treasure"}:
            self.robots |= {part.strip().lower() for part in content.split(",")}
        elif (attributes.get("http-equiv") or "").lower() == "refresh":
            found = _REFRESH.match(content)
            self.refresh = found[1] if found else ""

    def read_body(self, tree: LexborHTMLParser, written: bytes, html: str) -> Page:
        """Read text, blocks and links, and return the page."""
        resolve = urls.resolver(self.base, self._absolute)
        walk = Walk(written, self.url, _STEPS, resolve, self.max_links, MAX_NODES)
        if written:
            walk.read(MAX_TEXT_CHARS)
        else:  # a frameset has none
            for frame in tree.css("frame[src]"):
                walk.link(frame.attributes.get("src") or "", "")
            walk.end_block()
        if self.refresh:  # where the page sends its readers by itself, below all other links
            walk.link(self.refresh, "meta")
            walk.end_block()
        return self._page(walk, html)

    def _absolute(self, href: str | None) -> str:
        if href and href.startswith(("https://", "http://")):
            return urls.canonical(href)
        href = (href or "").strip()
        if not href or href[0] == "#":
            return ""
        if href[0] != "/" and href[:4] != "http" and _MEANINGLESS_SCHEME.match(href):
            return ""
        return urls.canonical(urls.join(self.base, href))

    def _page(self, walk: Walk, html: str) -> Page:
        """Cut the text into words and return what was read."""
        title = " ".join(words(self.title)[:_TITLE_WORDS])
        text = bytes(walk.text[: walk.size])
        data = plain(f"{title}{MARK}".encode() + text)
        terms, starts, stops, at = VOCABULARY.read(data)
        data = data.replace(_MARK, b" ")
        walked = walk.blocks
        table = counted_blocks(walked, walk.lists, at, MOST_BOILERPLATE)
        headings = []
        for level, block in walk.headings.tolist():
            start, stop = table[block, :2].tolist()
            said = shown(data, starts[start], stops[stop - 1]) if stop > start else ""
            headings.append(Heading(level, Span(start, stop), said))
        nofollow = not self.robots.isdisjoint({"nofollow", "none"})
        return Page(
            url=self.url,
            title=self.title or (headings[0].text[:1000] if headings else ""),
            title_span=Span(0, int(at[0])),
            plain=data.decode(),
            terms=terms,
            headings=headings,
            blocks=Blocks(walked, table),
            links=counted_links(walk.links, at, Link, Span, nofollow, urls.url_key),
            block_texts=BlockTexts(text, walk.begins, walked),
            language=self.language,
            canonical=self.canonical,
            description=self.description,
            robots=self.robots,
            html=html,
            places=(starts, stops),
        )
