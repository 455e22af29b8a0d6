"""HTML -> Page: words, headings, blocks and links in one walk over the tree.

The parser is lexbor (selectolax): it reads what browsers read, three times faster than lxml
here. Text is cut into words only where a block or an anchor begins or ends, so ``<b>W</b>ord`` is
one word. The walk keeps its own stack: pages nested 100,000 deep are met in the wild.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from w3lib.encoding import html_to_unicode

from treasure import text, urls
from treasure.errors import UnreadablePageError
from treasure.pages import EMPTY, Block, Heading, Link, Page, Span
from treasure.text import VOCABULARY

MAX_WORDS = 200_000
MAX_LINKS = 5_000
MAX_ANCHOR_CHARS = 500
MAX_PATH_TAGS = 8
MAX_NODES = 300_000
MAX_NESTING = 2_000
"""Parsers take time quadratic in the depth of a page; what lies deeper is not read."""
MANY_TAGS = 10_000
"""Pages with fewer tags cannot be deep enough to hurt, and are not checked."""

_SKIPPED = frozenset(
    "script style noscript template svg math iframe object canvas select option textarea head "
    "audio video".split()
)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark "
    "q rp rt ruby s samp small span strike strong sub sup time tt u var wbr area map".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "dl", "menu", "dir"})
_CELLS = frozenset({"td", "th", "caption"})
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
_NESTING_TAG = re.compile(
    r"<(/?)(?!(?:p|li|dt|dd|td|th|tr|option|br|hr|img|input|meta|link|area|base|col|wbr|source|"
    r"param|embed|track)\b)[a-z]",
    re.IGNORECASE,
)
_MEANINGLESS_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def decode(body: bytes, content_type: str = "") -> str:
    """Return *body* as text, in the encoding that headers, BOM or meta tags name."""
    return html_to_unicode(content_type or None, body, default_encoding="utf-8")[1]


def read_page(url: str, html: str | bytes, *, max_links: int = MAX_LINKS) -> Page:
    """Read the page at *url*; raise UnreadablePageError when it is no HTML at all."""
    if isinstance(html, bytes):
        html = decode(html)
    try:
        tree = LexborHTMLParser(_not_too_deep(html).encode("utf-8", "replace"))
    except (SelectolaxError, ValueError) as error:
        raise UnreadablePageError(f"{url} cannot be parsed: {error}") from error
    walk = _Walk(url, max_links)
    walk.read_head(tree)
    if tree.body is not None:
        walk.read_body(tree.body, {node.mem_id for node in tree.css("[role=heading]")})
    else:
        walk.read_frames(tree.css("frame[src]"))
    return walk.page(html)


def _not_too_deep(html: str) -> str:
    """Return *html* up to where its elements nest deeper than MAX_NESTING."""
    if html.count("<") < MANY_TAGS:
        return html
    depth = 0
    for tag in _NESTING_TAG.finditer(html):
        depth += -1 if tag[1] else 1
        if depth > MAX_NESTING:
            return html[: tag.start()]
    return html


@dataclass
class _Walk:
    """What has been read of a page so far."""

    url: str
    max_links: int
    base: str = ""
    words: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    block_texts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    title: str = ""
    title_span: Span = EMPTY
    language: str = ""
    canonical: str = ""
    description: str = ""
    robots: frozenset[str] = frozenset()
    nofollow: bool = False
    scripts: int = 0

    # Where the walk is.
    block_start: int = 0
    heading_level: int = 0
    lists: list[int] = field(default_factory=list)
    list_spans: list[list[int]] = field(default_factory=list)
    cells: int = 0
    navigation: int = 0
    anchor: dict[str, str | None] | None = None
    cut_wanted: bool = False
    anchor_start: int = 0
    anchor_text: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    block_links: list[tuple[str, Span, str, str, bool]] = field(default_factory=list)
    block_lists: list[int] = field(default_factory=list)
    resolved: dict[str, str] = field(default_factory=dict)

    def read_head(self, tree: LexborHTMLParser) -> None:
        """Read what the head says of the whole page."""
        self.base = self.url
        base = tree.css_first("base[href]")
        if base is not None:
            href = (base.attributes.get("href") or "").strip()
            self.base = urls.canonical(urls.join(self.url, href)) or self.url
        root = tree.root
        if root is not None:
            declared = root.attributes.get("lang") or root.attributes.get("xml:lang") or ""
            self.language = declared.strip().lower().split("-")[0].split("_")[0][:3]
        title = tree.css_first("title")
        if title is not None:
            self.title = _SPACE.sub(" ", title.text()).strip()[:1000]
        self.words = text.words(self.title)[:200]
        self.title_span = Span(0, len(self.words))
        self.block_start = len(self.words)
        for meta in tree.css("meta[name]"):
            name = (meta.attributes.get("name") or "").lower()
            content = meta.attributes.get("content") or ""
            if name == "description":
                self.description = _SPACE.sub(" ", content).strip()[:2000]
            elif name in {"robots", "treasure"}:
                directives = {part.strip().lower() for part in content.split(",")}
                self.robots = self.robots | directives
        self.nofollow = bool(self.robots & {"nofollow", "none"})
        link = tree.css_first("link[rel=canonical][href]")
        if link is not None:
            self.canonical = urls.canonical(urls.join(self.base, link.attributes.get("href") or ""))
        self.scripts = len(tree.css("script"))

    def read_frames(self, frames: list[LexborNode]) -> None:
        """Read the links of a frameset, which has no body."""
        for frame in frames:
            self._add_link(frame.attributes.get("src") or "", EMPTY, "", False)
        self._end_block()

    def read_body(self, body: LexborNode, role_headings: set[int]) -> None:
        """Walk over the body: down, then to the next sibling, then up."""
        node: LexborNode | None = body
        for _ in range(MAX_NODES):
            if node is None:
                break
            tag = node.tag
            child = None
            if tag == "-text":
                content = node.text_content
                if content and (self.pending or not content.isspace()):
                    self.pending.append(content)
                    if self.anchor is not None:
                        self.anchor_text.append(content)
            elif tag is not None and tag[0] not in "-!" and tag not in _SKIPPED:
                self._enter(node, tag, role_headings)
                child = node.child
                if child is None:
                    self._leave(node, tag)
            if child is not None and len(self.words) < MAX_WORDS:
                node = child
                continue
            if child is not None:
                self._leave(node, tag or "")
            while node is not None and node.mem_id != body.mem_id:
                following = node.next
                if following is not None:
                    node = following
                    break
                node = node.parent
                if node is not None:
                    self._leave(node, node.tag or "")
            else:
                break
        self._end_block()

    def _enter(self, node: LexborNode, tag: str, role_headings: set[int]) -> None:
        step = tag
        if tag in _CONTAINERS:
            attributes = node.attributes
            if attributes:
                name = attributes.get("id") or ""
                classes = attributes.get("class") or ""
                if name or classes:
                    step = f"{tag}#{name}" if name else f"{tag}.{classes.split(' ', 1)[0]}"
                if (
                    _NAVIGATION_NAMES.search(name)
                    or _NAVIGATION_NAMES.search(classes)
                    or (attributes.get("role") or "") in _NAVIGATION_ROLES
                ):
                    self._cut()
                    self.navigation += 1
                    step = "!" + step
        elif tag in _NAVIGATION:
            step = "!" + step
            self._cut()
            self.navigation += 1
        self.path.append(step)
        if tag == "a" or tag == "area":
            attributes = node.attributes
            if attributes.get("href"):
                self._flush()
                self.anchor = attributes
                self.anchor_start = len(self.words)
                self.anchor_text = [attributes.get("alt") or ""] if tag == "area" else []
        elif tag == "img":
            if self.anchor is not None and (alt := node.attributes.get("alt")):
                self.pending.append(f" {alt} ")
                self.anchor_text.append(alt)
        elif tag == "br":
            self.pending.append(" ")
        elif tag not in _INLINE:
            self._cut()
            if tag in _LISTS:
                self.lists.append(len(self.list_spans))
                self.list_spans.append([len(self.words), len(self.words)])
            elif tag in _CELLS:
                self.cells += 1
            elif tag in _HEADINGS:
                self.heading_level = _HEADINGS[tag]
        if node.mem_id in role_headings and tag not in _HEADINGS:
            self._cut()
            level = node.attributes.get("aria-level") or "2"
            self.heading_level = int(level) if level in "123456" else 2

    def _leave(self, node: LexborNode, tag: str) -> None:
        if tag == "a" or tag == "area":
            if self.anchor is not None:
                self._end_anchor(self.anchor)
        elif tag not in _INLINE:
            self._cut()
            if tag in _LISTS and self.lists:
                self.list_spans[self.lists.pop()][1] = len(self.words)
            elif tag in _CELLS:
                self.cells -= 1
        if self.path and self.path.pop().startswith("!"):
            self._cut()
            self.navigation -= 1

    def _end_anchor(self, attributes: dict[str, str | None]) -> None:
        self._flush()
        self.anchor = None
        shown = _SPACE.sub(" ", "".join(self.anchor_text)).strip()
        if not shown:
            shown = (attributes.get("title") or attributes.get("aria-label") or "").strip()
        rel = attributes.get("rel")
        nofollow = bool(rel) and not {"nofollow", "ugc", "sponsored"}.isdisjoint(
            str(rel).lower().split()
        )
        span = Span(self.anchor_start, len(self.words))
        self._add_link(attributes["href"] or "", span, shown[:MAX_ANCHOR_CHARS], nofollow)
        if self.cut_wanted:
            self._end_block()

    def _add_link(self, href: str, span: Span, shown: str, nofollow: bool) -> None:
        if len(self.links) + len(self.block_links) >= self.max_links:
            return
        url = self.resolved.get(href)
        if url is None:
            stripped = href.strip()
            useless = not stripped or stripped[0] == "#" or _MEANINGLESS_SCHEME.match(stripped)
            url = "" if useless else urls.canonical(urls.join(self.base, stripped))
            self.resolved[href] = url
        if url and url != self.url:
            path = ">".join(self.path[-MAX_PATH_TAGS:])
            self.block_links.append((url, span, shown, path, nofollow or self.nofollow))

    def _flush(self) -> None:
        """Cut the pending text into words."""
        if self.pending:
            raw = "".join(self.pending)
            self.pending.clear()
            self.words += text.words(raw)
            self.raw.append(raw)

    def _cut(self) -> None:
        """End a block where block-level elements begin or end; an open anchor goes first."""
        if self.anchor is None:
            self._end_block()
        else:  # <a><h3>...</h3></a>
            self.pending.append(" ")
            self.cut_wanted = True

    def _end_block(self) -> None:
        self.cut_wanted = False
        self._flush()
        span = Span(self.block_start, len(self.words))
        if not span and not self.block_links:
            self.raw.clear()
            return
        self.block_texts.append("".join(self.raw))
        self.raw.clear()
        level, self.heading_level = self.heading_level, 0
        kind = "paragraph"
        if level:
            kind = "heading"
        elif self.lists:
            kind = "item"
        elif self.cells:
            kind = "cell"
        if level and span:
            self.headings.append(Heading(level, span, " ".join(self.words[span.start : span.stop])))
        index = len(self.blocks)
        self.blocks.append(Block(kind, span, len(self.headings) - 1, self.navigation > 0, span))
        self.block_lists.append(self.lists[-1] if kind == "item" else -1)
        urls_here: set[str] = set()
        for url, anchor, shown, path, nofollow in self.block_links:
            if url not in urls_here:
                urls_here.add(url)
                self.links.append(Link(url, anchor, shown, index, path, nofollow))
        self.block_links.clear()
        self.block_start = len(self.words)

    def _finished_blocks(self) -> list[Block]:
        """Give list items the span of their list; forget boilerplate that is the whole page."""
        navigation = sum(b.span.stop - b.span.start for b in self.blocks if b.boilerplate)
        everything = len(self.words) - self.title_span.stop
        trusted = navigation <= 0.9 * everything
        finished = []
        for block, number in zip(self.blocks, self.block_lists, strict=True):
            whole = Span(*self.list_spans[number]) if number >= 0 else block.span
            finished.append(
                Block(block.kind, block.span, block.heading, block.boilerplate and trusted, whole)
            )
        return finished

    def page(self, html: str) -> Page:
        """Return what was read."""
        body_words = len(self.words) - self.title_span.stop
        return Page(
            url=self.url,
            title=self.title or (self.headings[0].text if self.headings else ""),
            title_span=self.title_span,
            words=self.words,
            terms=VOCABULARY.ids(self.words),
            headings=self.headings,
            blocks=self._finished_blocks(),
            links=self.links,
            block_texts=self.block_texts,
            language=self.language,
            canonical=self.canonical,
            description=self.description,
            robots=self.robots,
            html=html,
            scripted_shell=bool(self.scripts) and body_words < 30 and len(self.links) < 3,
        )
