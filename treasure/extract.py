"""HTML -> Page: words, headings, blocks and links in one walk over the tree.

The parser is lexbor (selectolax): it reads what browsers read, at half the cost of lxml. The walk
gathers the text of the page with a mark wherever a block or an anchor begins or ends; words are cut
once, at the end, and the marks tell which words are whose. So ``<b>W</b>ord`` is one word, and the
regular expression runs once a page. The walk goes from node to node without recursion: pages
nested 100,000 deep are met in the wild.
"""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from w3lib.encoding import html_to_unicode

from treasure import text, urls
from treasure.errors import UnreadablePageError
from treasure.pages import Block, Heading, Link, Page, Span
from treasure.text import VOCABULARY

MAX_TEXT_CHARS = 2_000_000
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
_PLAIN = frozenset(
    "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr "
    "q rp rt ruby s samp small span strike strong sub sup time tt u var wbr map".split()
)
"""Inline elements that mean nothing to us: the walk goes straight through them."""
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
_MARK = "\x01"
_WORD_OR_MARK = re.compile(rf"[^\W_]+|{_MARK}")
_ASCII_WORDS = bytes(at if chr(at).isalnum() or at == ord(_MARK) else 32 for at in range(128))
_ASCII_WORDS += bytes(128)
_SPACE = re.compile(r"\s+")


def decode(body: bytes, content_type: str = "") -> str:
    """Return *body* as text, in the encoding that headers, BOM or meta tags name."""
    return html_to_unicode(content_type or None, body, default_encoding="utf-8")[1]


def read_page(url: str, html: str | bytes, *, max_links: int = MAX_LINKS) -> Page:
    """Read the page at *url*; raise UnreadablePageError when it is no HTML at all."""
    if isinstance(html, bytes):
        html = decode(html)
    try:
        source = _not_too_deep(html.replace(_MARK, " ") if _MARK in html else html)
        tree = LexborHTMLParser(source.encode("utf-8", "replace"))
    except (SelectolaxError, ValueError) as error:
        raise UnreadablePageError(f"{url} cannot be parsed: {error}") from error
    walk = _Walk(url, max_links)
    walk.read_head(tree)
    if tree.body is not None:
        walk.read_body(tree.body, {node.mem_id for node in tree.css("[role=heading]")})
    else:
        walk.read_frames(tree.css("frame[src]"))
    return walk.page(html)


def _words_and_marks(text: str) -> list[str]:
    """Return the words of a lower-case *text*, and the marks, in their order."""
    if not text.isascii():
        return _WORD_OR_MARK.findall(text)
    # The same, four times as fast.
    parted = text.replace(_MARK, f" {_MARK} ").encode("ascii").translate(_ASCII_WORDS)
    return parted.decode("ascii").split()


@lru_cache(maxsize=4_096)
def _names_navigation(name: str) -> bool:
    """Whether an id or a class says that this is navigation; a site has few, page after page."""
    return _NAVIGATION_NAMES.search(name) is not None


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


class _Walk:
    """What has been read of a page so far. Positions are numbers of marks in the text."""

    def __init__(self, url: str, max_links: int) -> None:
        self.url = url
        self.max_links = max_links
        self.title = self.language = self.canonical = self.description = ""
        self.robots: frozenset[str] = frozenset()
        self.scripts = 0
        self.base = url
        # What was found.
        self.text: list[str] = []
        self.marks = 0
        self.chars = 0
        self.headings: list[tuple[int, int]] = []
        """Level and block of each heading."""
        self.blocks: list[tuple[str, int, int, int, bool, int]] = []
        """Kind, first and last mark, heading, boilerplate, list (-1: none)."""
        self.block_texts: list[str] = []
        self.lists: list[list[int]] = []
        """First and last mark of each list."""
        self.links: list[tuple[str, int, int, str, int, str, bool]] = []
        # Where the walk is.
        self.path: list[str] = []
        self.open_lists: list[int] = []
        self.navigation = 0
        self.cells = 0
        self.level = 0
        self.filled = False
        self.block_mark = self._mark()
        self.block_text = len(self.text)
        self.block_links: list[tuple[str, int, int, str, str, bool]] = []
        self.anchor: dict[str, str | None] | None = None
        self.anchor_mark = self.anchor_text = 0
        self.cut_wanted = False
        self.resolved: dict[str, str] = {}

    def read_head(self, tree: LexborHTMLParser) -> None:
        """Read what the head says of the whole page."""
        base = tree.css_first("base[href]")
        if base is not None:
            self.base = self._absolute(base.attributes.get("href")) or self.url
        root = tree.root
        if root is not None:
            declared = root.attributes.get("lang") or root.attributes.get("xml:lang") or ""
            self.language = re.split("[-_]", declared.strip().lower())[0][:3]
        title = tree.css_first("title")
        if title is not None:
            self.title = _SPACE.sub(" ", title.text()).strip()[:1000]
        for meta in tree.css("meta[name]"):
            attributes = meta.attributes
            name = (attributes.get("name") or "").lower()
            content = attributes.get("content") or ""
            if name == "description":
                self.description = _SPACE.sub(" ", content).strip()[:2000]
            elif name in {"robots", "treasure"}:
                self.robots |= {part.strip().lower() for part in content.split(",")}
        link = tree.css_first("link[rel=canonical][href]")
        if link is not None:
            self.canonical = self._absolute(link.attributes.get("href"))
        self.scripts = len(tree.css("script"))

    def read_frames(self, frames: list[LexborNode]) -> None:
        """Read the links of a frameset, which has no body."""
        for frame in frames:
            self._add_link(frame.attributes.get("src") or "", self.marks - 1, "", False)
        self._end_block()

    def read_body(self, body: LexborNode, role_headings: set[int]) -> None:
        """Walk over the body: down, then to the next sibling, then up."""
        node: LexborNode | None = body
        end = body.mem_id
        text = self.text
        for _ in range(MAX_NODES):
            assert node is not None
            tag = node.tag or "-"
            if tag == "-text":
                content = node.text_content or ""
                if not content.isspace():
                    text.append(content)
                    self.filled = True
                    self.chars += len(content)
                elif self.filled:
                    text.append(" ")
            elif tag in _PLAIN and not role_headings:
                child = node.child
                if child is not None:
                    node = child
                    continue
            elif tag[0] not in "-!" and tag not in _SKIPPED and self.chars < MAX_TEXT_CHARS:
                self._enter(node, tag, role_headings)
                child = node.child
                if child is not None:
                    node = child
                    continue
                self._leave(tag)
            while True:
                if node is None or node.mem_id == end:
                    self._end_block()
                    return
                following = node.next
                if following is not None:
                    node = following
                    break
                node = node.parent
                if node is not None:
                    tag = node.tag or "-"
                    if tag not in _PLAIN or role_headings:
                        self._leave(tag)
        self._end_block()

    def _enter(self, node: LexborNode, tag: str, role_headings: set[int]) -> None:
        if tag == "a" or tag == "area":
            attributes = node.attributes
            self.path.append(tag)
            if attributes.get("href"):
                self.anchor = attributes
                self.anchor_mark = self._mark()
                self.anchor_text = len(self.text)
                if tag == "area":
                    self.text.append(attributes.get("alt") or "")
            return
        if tag == "img":
            if self.anchor is not None and (alt := node.attributes.get("alt")):
                self.text.append(f" {alt} ")
                self.filled = True
            self.path.append(tag)
            return
        if tag == "br" or tag in _PLAIN:
            self.text.append(" ")
            self.path.append(tag)
        else:
            self._cut()
            self.path.append(self._step(node, tag))
            if tag in _LISTS:
                self.open_lists.append(len(self.lists))
                self.lists.append([self._mark(), 0])
            elif tag in _CELLS:
                self.cells += 1
            elif tag in _HEADINGS:
                self.level = _HEADINGS[tag]
        if role_headings and node.mem_id in role_headings and tag not in _HEADINGS:
            self._cut()
            level = node.attributes.get("aria-level") or "2"
            self.level = int(level) if level in {"1", "2", "3", "4", "5", "6"} else 2

    def _step(self, node: LexborNode, tag: str) -> str:
        """Return the element's step in tag paths; ``!`` marks where navigation begins."""
        if tag in _NAVIGATION:
            self.navigation += 1
            return "!" + tag
        if tag not in _CONTAINERS:
            return tag
        attributes = node.attributes
        if not attributes:
            return tag
        name = attributes.get("id") or ""
        classes = attributes.get("class") or ""
        step = f"{tag}#{name}" if name else f"{tag}.{classes.split(' ', 1)[0]}" if classes else tag
        if (
            (name and _names_navigation(name))
            or (classes and _names_navigation(classes))
            or attributes.get("role") in _NAVIGATION_ROLES
        ):
            self.navigation += 1
            return "!" + step
        return step

    def _leave(self, tag: str) -> None:
        if tag == "a" or tag == "area":
            if self.anchor is not None:
                self._end_anchor(self.anchor)
        elif tag not in _PLAIN and tag not in {"br", "img"}:
            self._cut()
            if tag in _LISTS and self.open_lists:
                self.lists[self.open_lists.pop()][1] = self._mark()
            elif tag in _CELLS:
                self.cells -= 1
        if self.path and self.path.pop()[0] == "!":
            self.navigation -= 1

    def _end_anchor(self, attributes: dict[str, str | None]) -> None:
        self.anchor = None
        shown = _SPACE.sub(" ", "".join(self.text[self.anchor_text :])).strip()
        if not shown:
            shown = (attributes.get("title") or attributes.get("aria-label") or "").strip()
        rel = attributes.get("rel")
        nofollow = bool(rel) and not {"nofollow", "ugc", "sponsored"}.isdisjoint(
            str(rel).lower().split()
        )
        shown = shown[:MAX_ANCHOR_CHARS].replace(_MARK, "")
        self._add_link(attributes["href"] or "", self.anchor_mark, shown, nofollow)
        if self.cut_wanted:
            self._end_block()

    def _add_link(self, href: str, first_mark: int, shown: str, nofollow: bool) -> None:
        if len(self.links) + len(self.block_links) >= self.max_links:
            return
        url = self.resolved.get(href)
        if url is None:
            url = self.resolved[href] = self._absolute(href)
        if url and url != self.url:
            path = ">".join(self.path[-MAX_PATH_TAGS:])
            self.block_links.append((url, first_mark, self._mark(), shown, path, nofollow))

    def _absolute(self, href: str | None) -> str:
        href = (href or "").strip()
        if not href or href[0] == "#" or _MEANINGLESS_SCHEME.match(href):
            return ""
        return urls.canonical(urls.join(self.base, href))

    def _mark(self) -> int:
        """Put a mark into the text; return its number."""
        self.text.append(_MARK)
        self.marks += 1
        return self.marks - 1

    def _cut(self) -> None:
        """End a block where block-level elements begin or end; an open anchor goes first."""
        if self.anchor is not None:  # <a><h3>...</h3></a>
            self.text.append(" ")
            self.cut_wanted = True
        elif self.filled or self.block_links:
            self._end_block()

    def _end_block(self) -> None:
        self.cut_wanted = False
        if not self.filled and not self.block_links:
            return
        block = len(self.blocks)
        kind, inside = "paragraph", -1
        if self.level:
            kind = "heading"
            self.headings.append((self.level, block))
            self.level = 0
        elif self.open_lists:
            kind, inside = "item", self.open_lists[-1]
        elif self.cells:
            kind = "cell"
        self.block_texts.append("".join(self.text[self.block_text :]).replace(_MARK, ""))
        last = self._mark()
        self.blocks.append(
            (kind, self.block_mark, last, len(self.headings) - 1, self.navigation > 0, inside)
        )
        seen: set[str] = set()
        for url, first, stop, shown, path, nofollow in self.block_links:
            if url not in seen:
                seen.add(url)
                self.links.append((url, first, stop, shown, block, path, nofollow))
        self.block_links.clear()
        self.block_mark = last
        self.block_text = len(self.text)
        self.filled = False

    def page(self, html: str) -> Page:
        """Cut the text into words and return what was read."""
        title = text.words(self.title)[:200]
        found = _words_and_marks("".join(self.text).lower())
        marked = [place for place, word in enumerate(found) if word == _MARK]
        # Mark number n has n marks before it, and the title comes first.
        at = [place - number + len(title) for number, place in enumerate(marked)]
        words = title + [word for word in found if word != _MARK]
        blocks = self._blocks(at, len(words) - len(title))
        headings = [
            Heading(level, blocks[block].span, " ".join(words[slice(*blocks[block].span)]))
            for level, block in self.headings
        ]
        nofollow = bool(self.robots & {"nofollow", "none"})
        links = [
            Link(url, Span(at[first], at[last]), shown, block, path, own or nofollow)
            for url, first, last, shown, block, path, own in self.links
        ]
        return Page(
            url=self.url,
            title=self.title or (headings[0].text if headings else ""),
            title_span=Span(0, len(title)),
            words=words,
            terms=VOCABULARY.ids(words),
            headings=headings,
            blocks=blocks,
            links=links,
            block_texts=self.block_texts,
            language=self.language,
            canonical=self.canonical,
            description=self.description,
            robots=self.robots,
            html=html,
            scripted_shell=bool(self.scripts) and len(words) < 30 and len(links) < 3,
        )

    def _blocks(self, at: list[int], count: int) -> list[Block]:
        """Return the blocks; boilerplate that is nearly the whole page is none."""
        navigation = sum(at[block[2]] - at[block[1]] for block in self.blocks if block[4])
        trusted = navigation <= 0.9 * count
        blocks = []
        for kind, first, last, heading, boilerplate, inside in self.blocks:
            span = whole = Span(at[first], at[last])
            if inside >= 0:
                begin, end = self.lists[inside]
                whole = Span(at[begin], at[end] if end else at[-1])
            blocks.append(Block(kind, span, heading, boilerplate and trusted, whole))
        return blocks
