"""HTML -> Page: words, headings, blocks and links in one walk over the tree.

The parser is lexbor (selectolax): it reads what browsers read, at half the cost of lxml. The walk
gathers the text of the page in segments: one ends wherever a block, a list or an anchor begins or
ends, and nowhere else, so that ``<b>W</b>ord`` is one word. All segments are cut into words
together at the end; places in the page are numbers of segments until then. The walk goes from node
to node without recursion: pages nested 100,000 deep are met in the wild.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from w3lib.encoding import DEFAULT_ENCODING_TRANSLATION, html_to_unicode

from treasure import urls
from treasure.errors import UnreadablePageError
from treasure.pages import Block, Heading, Link, Page, Span
from treasure.parsable import parsable
from treasure.text import MARK, VOCABULARY, plain, spaced, words

MAX_TEXT_CHARS = 2_000_000
MAX_LINKS = 5_000
MAX_ANCHOR_CHARS = 500
MAX_PATH_TAGS = 8
MAX_NODES = 300_000
SHELL_WORDS, SHELL_LINKS = 30, 3
"""Pages with scripts and less than this may need a browser."""

_TEXT, _SKIPPED, _PLAIN, _BREAK, _IMAGE, _ANCHOR, _BLOCK, _HEADING, _CELL, _LIST = range(10)
"""What an element is to the walk; from _BLOCK on all are blocks."""
_TAGS = {
    _TEXT: "-text",
    _SKIPPED: "script style noscript template svg math iframe object canvas select option textarea "
    "head audio video -comment -document -doctype",
    # Inline elements that mean nothing to us: the walk goes straight through them.
    _PLAIN: "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr "
    "q rp rt ruby s samp small span strike strong sub sup time tt u var wbr map",
    _BREAK: "br",
    _IMAGE: "img",
    _ANCHOR: "a area",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _CELL: "td th caption",
    _LIST: "ul ol dl menu dir",
}
_KINDS: dict[str | None, int] = {tag: kind for kind, tags in _TAGS.items() for tag in tags.split()}
_KINDS[None] = _SKIPPED
_NOFOLLOW = frozenset({"nofollow", "ugc", "sponsored"})
_LEVELS = frozenset("123456")
_NAVIGATION = frozenset({"nav", "footer", "aside"})
_CONTAINERS = frozenset(
    {"div", "section", "table", "ul", "ol", "header", "td", "form", "p", "span"}
)
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
_FACTS = "base[href], title, meta[content], link[rel=canonical][href], [role=heading]"
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
_HEAD_TAGS = frozenset({"base", "title", "meta", "link"})
_TITLE_WORDS = 200
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
        tree = LexborHTMLParser(parsable(html).encode("utf-8", "replace"))
    except (SelectolaxError, ValueError) as error:
        raise UnreadablePageError(f"{url} cannot be parsed: {error}") from error
    walk = _Walk(url, max_links)
    walk.read_head(tree)
    if tree.body is not None:
        walk.read_body(tree.body)
    else:
        walk.read_frames(tree.css("frame[src]"))
    walk.read_refresh()
    page = walk.page(html)
    if page.terms.size < SHELL_WORDS and len(page.links) < SHELL_LINKS:
        return replace(page, scripted_shell=tree.css_first("script") is not None)
    return page


@lru_cache(maxsize=4_096)
def _step(tag: str, name: str | None, classes: str | None, role: str | None) -> str:
    """Return an element's step in tag paths; ``!`` marks where navigation begins.

    A site has few different ones, page after page.
    """
    step = f"{tag}#{name}" if name else f"{tag}.{classes.split(' ', 1)[0]}" if classes else tag
    navigation = (
        tag in _NAVIGATION
        or (name and _NAVIGATION_NAMES.search(name))
        or (classes and _NAVIGATION_NAMES.search(classes))
        or role in _NAVIGATION_ROLES
    )
    return "!" + step if navigation else step


class _Walk:
    """What has been read of a page so far. Places are numbers of segments before them."""

    def __init__(self, url: str, max_links: int) -> None:
        self.url = url
        self.max_links = max_links
        self.title = self.language = self.canonical = self.description = self.refresh = ""
        self.robots: frozenset[str] = frozenset()
        self.base = url
        self.role_headings: set[int] = set()
        # What was found.
        self.segments: list[str] = []
        self.chars = 0
        self.headings: list[tuple[int, int]] = []
        """Level and block of each heading."""
        self.blocks: list[tuple[str, int, int, int, bool, int]] = []
        """Kind, first and last place, heading, boilerplate, list (-1: none)."""
        self.block_texts: list[str] = []
        self.lists: list[tuple[int, int]] = []
        """First and last place of each list."""
        self.links: list[tuple[str, int, int, str, int, str, bool]] = []
        """URL, first and last place, text, block, tag path, nofollow."""
        # Where the walk is.
        self.pieces: list[str] = []
        """Text of the segment that is not yet ended."""
        self.path: list[str] = []
        self.open_lists: list[int] = []
        self.navigation = 0
        self.cells = 0
        self.level = 0
        self.block_first = 0
        self.linked = False
        """Whether an anchor began in the block."""
        self.block_urls: set[str] = set()
        self.anchor: dict[str, str | None] | None = None
        self.anchor_first = 0
        self.area = False
        self.cut_wanted = False
        self.resolved: dict[str, str] = {}

    def read_head(self, tree: LexborHTMLParser) -> None:
        """Read what is said of the whole page, wherever it stands, and note role=heading."""
        root = tree.root
        if root is not None:
            attributes = root.attributes
            declared = attributes.get("lang") or attributes.get("xml:lang") or ""
            self.language = re.split("[-_]", declared.strip().lower())[0][:3]
        facts: dict[str | None, LexborNode] = {}
        for node in tree.css(_FACTS):
            tag = node.tag
            if tag == "meta":
                self._read_meta(node.attributes)
            if tag in _HEAD_TAGS:
                facts.setdefault(tag, node)
            else:
                self.role_headings.add(node.mem_id)
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

    def read_frames(self, frames: list[LexborNode]) -> None:
        """Read the links of a frameset, which has no body."""
        for frame in frames:
            self._add_link(frame.attributes.get("src") or "", 0, "", "", False)
        self._end_block()

    def read_refresh(self) -> None:
        """Read where the page sends its readers by itself: one more link, below all others."""
        if self.refresh:
            self._add_link(self.refresh, len(self.segments), "", "meta", False)
            self._end_block()

    def read_body(self, body: LexborNode) -> None:
        """Walk over the body: down, then to the next sibling, then up."""
        node = body
        above: list[tuple[LexborNode, int]] = []
        pieces, role_headings = self.pieces, self.role_headings
        for _ in range(MAX_NODES):
            tag = node.tag
            kind = _KINDS.get(tag, _BLOCK)
            if kind == _TEXT:
                written = node.text_content or ""
                if pieces or self.linked or not written.isspace():
                    pieces.append(written)
            elif kind != _SKIPPED and self.chars < MAX_TEXT_CHARS:
                if role_headings and kind != _ANCHOR and node.mem_id in role_headings:
                    kind = _HEADING
                if kind >= _BLOCK:
                    self._enter_block(node, tag or "", kind)
                elif kind != _PLAIN:
                    self._enter_inline(node, kind)
                child = node.child
                if child is not None:
                    if child.next is not None or child.tag != "-text":
                        above.append((node, kind))
                        node = child
                        continue
                    pieces.append(child.text_content or "")  # nothing but text: no need to go down
                if kind >= _ANCHOR:
                    self._leave(kind)
            following = node.next
            while following is None and above:
                node, kind = above.pop()
                if kind >= _ANCHOR:
                    self._leave(kind)
                following = node.next
            if not above or following is None:
                break
            node = following
        self._end_block()

    def _enter_inline(self, node: LexborNode, kind: int) -> None:
        if kind == _BREAK:
            if self.pieces or self.linked:
                self.pieces.append(" ")
        elif kind == _IMAGE:
            if self.anchor is not None and (alt := node.attributes.get("alt")):
                self.pieces.append(f" {alt} ")
        else:
            attributes = node.attributes
            if attributes.get("href"):
                self.anchor = attributes
                self.anchor_first = self._place()
                self.linked = True
                self.area = node.tag == "area"
                if self.area:
                    self.pieces.append(attributes.get("alt") or "")

    def _enter_block(self, node: LexborNode, tag: str, kind: int) -> None:
        if self.pieces or self.linked:
            self._cut()
        step = tag
        if tag in _CONTAINERS:
            attributes = node.attributes
            if attributes:
                get = attributes.get
                step = _step(tag, get("id"), get("class"), get("role"))
        elif tag in _NAVIGATION:
            step = "!" + tag
        if step[0] == "!":
            self.navigation += 1
        self.path.append(step)
        if kind == _LIST:
            self.open_lists.append(len(self.lists))
            self.lists.append((self._place(), -1))
        elif kind == _CELL:
            self.cells += 1
        elif kind == _HEADING:
            own = _KINDS.get(tag) == _HEADING
            level = tag[1:] if own else node.attributes.get("aria-level")
            self.level = int(level) if level in _LEVELS else 2

    def _leave(self, kind: int) -> None:
        if kind == _ANCHOR:
            if self.anchor is not None:
                self._end_anchor(self.anchor)
            return
        if self.pieces or self.linked:
            self._cut()
        if kind == _LIST:
            number = self.open_lists.pop()
            self.lists[number] = self.lists[number][0], self._place()
        elif kind == _CELL:
            self.cells -= 1
        if self.path.pop()[0] == "!":
            self.navigation -= 1

    def _end_anchor(self, attributes: dict[str, str | None]) -> None:
        self.anchor = None
        last = self._place()
        shown = spaced("".join(self.segments[self.anchor_first : last]))
        if not shown:
            shown = (attributes.get("title") or attributes.get("aria-label") or "").strip()
        rel = attributes.get("rel")
        nofollow = rel is not None and not _NOFOLLOW.isdisjoint(rel.lower().split())
        path = f"{'>'.join(self.path[1 - MAX_PATH_TAGS :])}>{'area' if self.area else 'a'}"
        self._add_link(
            attributes["href"] or "", self.anchor_first, shown[:MAX_ANCHOR_CHARS], path, nofollow
        )
        if self.cut_wanted:
            self._end_block()

    def _add_link(self, href: str, first: int, shown: str, path: str, nofollow: bool) -> None:
        """Add a link to the block that is open; the first to a URL counts."""
        if len(self.links) >= self.max_links:
            return
        url = self.resolved.get(href)
        if url is None:
            url = self.resolved[href] = self._absolute(href)
        if url and url != self.url and url not in self.block_urls:
            self.block_urls.add(url)
            last = len(self.segments)
            self.links.append((url, first, last, shown, len(self.blocks), path, nofollow))

    def _absolute(self, href: str | None) -> str:
        href = (href or "").strip()
        if not href or href[0] == "#":
            return ""
        if href[0] != "/" and href[:4] != "http" and _MEANINGLESS_SCHEME.match(href):
            return ""
        return urls.canonical(urls.join(self.base, href))

    def _place(self) -> int:
        """End the segment here, if there is any text; return how many there are."""
        pieces = self.pieces
        if pieces:
            self.segments.append("".join(pieces) if len(pieces) > 1 else pieces[0])
            pieces.clear()
        return len(self.segments)

    def _cut(self) -> None:
        """End a block where block-level elements begin or end; an open anchor goes first."""
        if self.anchor is not None:  # <a><h3>...</h3></a>
            self.pieces.append(" ")
            self.cut_wanted = True
        else:
            self._end_block()

    def _end_block(self) -> None:
        first, last = self.block_first, self._place()
        written = "".join(self.segments[first:last])
        self.block_first = last
        self.cut_wanted = self.linked = False
        if not self.block_urls and (not written or written.isspace()):
            return
        self.block_urls.clear()
        self.chars += len(written)
        kind, inside = "paragraph", -1
        if self.level:
            kind = "heading"
            self.headings.append((self.level, len(self.blocks)))
            self.level = 0
        elif self.open_lists:
            kind, inside = "item", self.open_lists[-1]
        elif self.cells:
            kind = "cell"
        self.block_texts.append(written)
        self.blocks.append((kind, first, last, len(self.headings) - 1, self.navigation > 0, inside))

    def page(self, html: str) -> Page:
        """Cut the text into words and return what was read."""
        texts = [" ".join(words(self.title)[:_TITLE_WORDS]), *self.segments]
        joined = MARK.join(texts)
        if joined.count(MARK) >= len(texts):
            joined = MARK.join([text.replace(MARK, " ") for text in texts])
        text = plain(joined)
        terms, starts, stops, marks = VOCABULARY.read(text)
        at = [*marks, terms.size]
        blocks = self._blocks(at)
        headings = [
            Heading(level, blocks[block].span, self._words_of(block))
            for level, block in self.headings
        ]
        new = tuple.__new__  # half the time of calling the class, and a page has hundreds
        nofollow = not self.robots.isdisjoint({"nofollow", "none"})
        links = [
            new(Link, (url, new(Span, (at[first], at[last])), shown, block, path, own or nofollow))
            for url, first, last, shown, block, path, own in self.links
        ]
        return Page(
            url=self.url,
            title=self.title or (headings[0].text[:1000] if headings else ""),
            title_span=Span(0, at[0]),
            plain=text.replace(MARK.encode(), b" ").decode(),
            terms=terms,
            headings=headings,
            blocks=blocks,
            links=links,
            block_texts=self.block_texts,
            language=self.language,
            canonical=self.canonical,
            description=self.description,
            robots=self.robots,
            html=html,
            places=(starts, stops),
        )

    def _words_of(self, block: int) -> str:
        _, first, last, *_ = self.blocks[block]
        return " ".join(words(" ".join(self.segments[first:last])))

    def _blocks(self, at: list[int]) -> list[Block]:
        """Return the blocks; boilerplate that is nearly the whole page is none."""
        navigation = sum(at[block[2]] - at[block[1]] for block in self.blocks if block[4])
        trusted = navigation <= 0.9 * (at[-1] - at[0])
        wholes = [Span(at[first], at[last]) for first, last in self.lists]
        new = tuple.__new__
        blocks = []
        for kind, first, last, heading, boilerplate, inside in self.blocks:
            span = new(Span, (at[first], at[last]))
            whole = wholes[inside] if inside >= 0 else span
            blocks.append(new(Block, (kind, span, heading, boilerplate and trusted, whole)))
        return blocks
