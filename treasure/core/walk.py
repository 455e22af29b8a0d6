"""Walks over a page and gathers its text, blocks and links.

Serves ``extract``, which says what becomes of them. The page comes as HTML that lexbor wrote after
it had parsed what the web had: to visit its tree node by node from Python takes longer than to
parse it. Such HTML is simple: every element is ended but the void ones, values stand in double
quotes, signs that mean something are escaped. A page that means harm can still have it badly
nested (``&lt;/style&gt;`` within SVG), so nothing here relies on its nesting.

Text is gathered in segments: one ends wherever a block, a list or an anchor begins or ends, and
nowhere else, so that ``<b>W</b>ord`` is one word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cython
import numpy as np

MARK = b"\x01"
"""Ends each segment of text."""
PATH_STEPS = 7
"""Elements above a link that its tag path names."""
MAX_ANCHOR_CHARS = 500
_NOFOLLOW = frozenset({"nofollow", "ugc", "sponsored"})

# What an element is to the walk; from _BLOCK on all are blocks.
_SKIPPED = cython.declare(cython.int, 0)
_RAW = cython.declare(cython.int, 1)  # holds text, and nothing that looks like an element is one
_PLAIN = cython.declare(cython.int, 2)  # means nothing to us: the walk goes straight through
_BREAK = cython.declare(cython.int, 3)
_IMAGE = cython.declare(cython.int, 4)
_ANCHOR = cython.declare(cython.int, 5)
_BLOCK = cython.declare(cython.int, 6)
_HEADING = cython.declare(cython.int, 7)
_CELL = cython.declare(cython.int, 8)
_LIST = cython.declare(cython.int, 9)
_KIND = cython.declare(cython.int, 15)
# What may be added to that.
_VOID = cython.declare(cython.int, 16)  # has no end
_NAMED = cython.declare(cython.int, 32)  # its id, class and role matter
_NAVIGATION = cython.declare(cython.int, 64)
_TOLD = cython.declare(cython.int, 128)  # raw text that counts

_TAGS = (
    ("noscript template svg math object canvas select option textarea head audio video", _SKIPPED),
    ("script style iframe noembed noframes", _RAW),
    ("xmp plaintext", _RAW | _TOLD),
    ("abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark", _PLAIN),
    ("nobr q rp rt ruby s samp small strike strong sub sup time tt u var map", _PLAIN),
    ("span", _PLAIN | _NAMED),
    ("wbr", _PLAIN | _VOID),
    ("br", _BREAK | _VOID),
    ("img", _IMAGE | _VOID),
    ("a", _ANCHOR),
    ("area", _ANCHOR | _VOID),
    ("base basefont bgsound col embed frame hr input keygen link meta param source track",
     _BLOCK | _VOID),
    ("div section table header form p", _BLOCK | _NAMED),
    ("nav footer aside", _BLOCK | _NAVIGATION),
    ("h1 h2 h3 h4 h5 h6", _HEADING),
    ("th caption", _CELL),
    ("td", _CELL | _NAMED),
    ("ul ol", _LIST | _NAMED),
    ("dl menu dir", _LIST),
)  # fmt: skip
_KINDS = {tag.encode(): kind for tags, kind in _TAGS for tag in tags.split()}

_NAMES = (b"href", b"rel", b"title", b"aria-label", b"alt", b"id", b"class", b"role", b"aria-level")
_ATTRIBUTES = {name: number for number, name in enumerate(_NAMES)}
_HREF = cython.declare(cython.int, 0)
_REL = cython.declare(cython.int, 1)
_TITLE = cython.declare(cython.int, 2)
_LABEL = cython.declare(cython.int, 3)
_ALT = cython.declare(cython.int, 4)
_ID = cython.declare(cython.int, 5)
_CLASS = cython.declare(cython.int, 6)
_ROLE = cython.declare(cython.int, 7)
_LEVEL = cython.declare(cython.int, 8)


@cython.ccall
def unescaped(written: bytes) -> str:
    """Return a value as it was before lexbor wrote it."""
    if not written:
        return ""
    if b"&" in written:
        written = written.replace(b"&nbsp;", b"\xc2\xa0").replace(b"&lt;", b"<")
        written = written.replace(b"&gt;", b">").replace(b"&quot;", b'"').replace(b"&amp;", b"&")
    return written.decode("utf-8", "replace")


@cython.ccall
def shown(text: object, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> str:
    """Return a part of a text as it is shown: no marks, one space between words."""
    part: bytearray = bytearray(text[begin:end])
    signs: cython.uchar[:] = part
    size: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    spaces: cython.bint = False
    for at in range(len(part)):
        if _is_space(signs[at]):
            spaces = size > 0
        elif signs[at] != 1:
            if spaces:
                signs[size] = 32
                size += 1
                spaces = False
            signs[size] = signs[at]
            size += 1
    found: str = part[:size].decode("utf-8", "replace")
    return found if size == len(found) else " ".join(found.split())  # other kinds of space


@cython.cclass
class Walk:
    """What has been read of a page so far. A place is the number of segments before it.

    *own* is the page's address. *steps* says by its tag, id, class and role how a container is
    called in tag paths, with "!" first where navigation begins; *resolve* makes an address of what
    a link says, or nothing.
    """

    text = cython.declare(bytearray, visibility="readonly")
    size = cython.declare(cython.Py_ssize_t, visibility="readonly")
    begins = cython.declare(list, visibility="readonly")
    blocks = cython.declare(list, visibility="readonly")
    headings = cython.declare(list, visibility="readonly")
    lists = cython.declare(list, visibility="readonly")
    links = cython.declare(list, visibility="readonly")
    _html: bytes
    _data: cython.const[cython.uchar][:]
    _out: cython.uchar[:]
    _values: cython.Py_ssize_t[:, :]
    _steps: object
    _resolve: object
    _resolved: dict
    _own: str
    _max_links: cython.Py_ssize_t
    _block_urls: set
    _chars: cython.Py_ssize_t
    _segment: cython.Py_ssize_t
    _path: list
    _open_lists: list
    _navigation: cython.int
    _cells: cython.int
    _level: cython.int
    _block_first: cython.Py_ssize_t
    _linked: cython.bint
    _inked: cython.bint
    _foreign: cython.bint
    _anchor: object
    _anchor_first: cython.Py_ssize_t
    _cut_wanted: cython.bint

    def __init__(
        self,
        html: bytes,
        own: str,
        steps: Mapping[tuple[str, bytes, bytes, bytes], str],
        resolve: Callable[[str], str],
        max_links: cython.Py_ssize_t,
    ) -> None:
        self._html, self._data = html, html
        self._own, self._steps, self._resolve = own, steps, resolve
        self._max_links = max_links
        # Whatever the walk adds to the text takes the place of a longer tag.
        self.text = bytearray(len(html) + 8)
        self._out = self.text
        self.size = 0
        """Bytes of the text so far."""
        self.begins = [0]
        """Where each segment begins in the text; the last has not ended."""
        self.blocks = []
        """Kind, first and last place, heading, navigation and list (-1: none) of each."""
        self.headings = []
        """Level and block of each."""
        self.lists = []
        """First and last place of each."""
        self.links = []
        """URL, first and last place, text, block, tag path and nofollow of each."""
        self._resolved, self._block_urls = {}, set()
        self._values = np.empty((len(_NAMES), 2), np.intp)
        self._path, self._open_lists = [], []
        self._chars = self._segment = self._block_first = self._anchor_first = 0
        self._navigation = self._cells = self._level = 0
        self._linked = self._inked = self._foreign = self._cut_wanted = False
        self._anchor = None

    def read(self, max_chars: cython.Py_ssize_t, max_nodes: cython.Py_ssize_t) -> None:
        """Read the page, up to so many characters and nodes."""
        data: cython.const[cython.uchar][:] = self._data
        size: cython.Py_ssize_t = len(self._html)
        stack: list = []
        skipped: cython.Py_ssize_t = 0
        nodes: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        flags: cython.int
        kind: cython.int
        name: bytes
        while at + 1 < size and nodes < max_nodes:
            nodes += 1
            if data[at] != 60:  # no "<": text
                end = at + 1
                while end < size and data[end] != 60:
                    end += 1
                if not skipped:
                    self._write(at, end)
                at = end
                continue
            if data[at + 1] == 47:  # "</"
                if stack:
                    kind = stack.pop()
                    if skipped:
                        skipped -= 1
                    elif kind >= _ANCHOR:
                        self._leave(kind)
                while at < size and data[at] != 62:  # ">"
                    at += 1
                at += 1
                continue
            if data[at + 1] == 33 or data[at + 1] == 63:  # "<!" or "<?"
                at = self._after(at, b"-->" if self._html.startswith(b"<!--", at) else b">")
                continue
            end = at + 1
            while end < size and data[end] != 32 and data[end] != 62:  # up to a space or ">"
                end += 1
            name = self._html[at + 1 : end]
            flags = _KINDS.get(name, 6)
            kind = flags & _KIND
            at = self._read_attributes(end) + 1
            if kind == _RAW:
                end = self._html.find(b"</" + name + b">", at)
                if end < 0:
                    end = size
                if flags & _TOLD and not skipped:
                    self._enter_block(name, _BLOCK, 0)
                    self._copy(at, end, False)
                    self._leave(_BLOCK)
                at = self._after(end, b">")
                continue
            if skipped or kind == _SKIPPED or self._chars >= max_chars:
                if not flags & _VOID:
                    stack.append(_SKIPPED)
                    skipped += 1
                continue
            if self._values[_ROLE, 1] and kind != _ANCHOR and self._value(_ROLE) == b"heading":
                kind = _HEADING
            if kind >= _BLOCK:
                self._enter_block(name, kind, flags)
            elif kind == _ANCHOR:
                self._enter_anchor(flags & _VOID)
            elif kind == _IMAGE:
                self._enter_image()
            elif kind == _BREAK and (self.size > self._segment or self._linked):
                self._add(32)
            if not flags & _VOID:
                stack.append(kind)
            elif kind >= _ANCHOR:
                self._leave(kind)
        self.end_block()

    def link(self, href: str, tag: str) -> None:
        """Take in a link without an anchor."""
        here: cython.Py_ssize_t = self._place()
        self._add_link(href, here, here, "", tag, False)

    @cython.ccall
    def end_block(self) -> object:
        """End the block that is open; it counts if it has text or a link."""
        first: cython.Py_ssize_t = self._block_first
        last: cython.Py_ssize_t = self._place()
        blank: cython.bint = not self._inked
        if blank and self._foreign:
            written = self.text[self.begins[first] : self.size]
            blank = written.replace(MARK, b"").decode("utf-8", "replace").isspace()
        self._block_first = last
        self._cut_wanted = self._linked = self._inked = self._foreign = False
        if blank and not self._block_urls:
            return
        self._block_urls.clear()
        kind, inside = "paragraph", -1
        if self._level:
            kind = "heading"
            self.headings.append((self._level, len(self.blocks)))
            self._level = 0
        elif self._open_lists:
            kind, inside = "item", self._open_lists[len(self._open_lists) - 1]
        elif self._cells > 0:
            kind = "cell"
        navigation = self._navigation > 0
        self.blocks.append((kind, first, last, len(self.headings) - 1, navigation, inside))

    @cython.cfunc
    def _after(self, at: cython.Py_ssize_t, ending: bytes) -> cython.Py_ssize_t:
        """Return where what follows the next *ending* begins."""
        found: cython.Py_ssize_t = self._html.find(ending, at)
        return found + len(ending) if found >= 0 else len(self._html)

    # -- elements

    @cython.cfunc
    def _enter_block(self, name: bytes, kind: cython.int, flags: cython.int) -> object:
        if self.size > self._segment or self._linked:
            self._cut()
        step: str = name.decode("utf-8", "replace")
        if flags & _NAVIGATION:
            step = "!" + step
        elif flags & _NAMED:
            step = self._named_step(step)
        if step[0] == "!":
            self._navigation += 1
        self._path.append(step)
        if kind == _LIST:
            self._open_lists.append(len(self.lists))
            self.lists.append((self._place(), -1))
        elif kind == _CELL:
            self._cells += 1
        elif kind == _HEADING:
            level: bytes = name[1:] if flags & _KIND == _HEADING else self._value(_LEVEL)
            self._level = level[0] - 48 if len(level) == 1 and level in b"123456" else 2

    @cython.cfunc
    def _named_step(self, tag: str) -> str:
        """Return the step of a container."""
        own, classes, role = self._value(_ID), self._value(_CLASS), self._value(_ROLE)
        if not own and not classes and not role:
            return tag
        step: str = self._steps[tag, own, classes, role]
        return step

    @cython.cfunc
    def _enter_anchor(self, area: cython.bint) -> object:
        href: bytes = self._value(_HREF)
        if not href:
            return
        self._anchor = (
            unescaped(href),
            unescaped(self._value(_REL)),
            unescaped(self._value(_TITLE) or self._value(_LABEL)),
            "area" if area else "a",
        )
        self._anchor_first = self._place()
        self._linked = True
        if area:
            self._copy_value(_ALT)

    @cython.cfunc
    def _enter_image(self) -> object:
        if self._anchor is not None and self._value(_ALT):
            self._add(32)
            self._copy_value(_ALT)
            self._add(32)

    @cython.cfunc
    def _leave(self, kind: cython.int) -> object:
        if kind == _ANCHOR:
            if self._anchor is not None:
                self._end_anchor()
            return
        if self.size > self._segment or self._linked:
            self._cut()
        if kind == _LIST:
            number = self._open_lists.pop()
            self.lists[number] = self.lists[number][0], self._place()
        elif kind == _CELL:
            self._cells -= 1
        if self._path.pop()[0] == "!":
            self._navigation -= 1

    @cython.cfunc
    def _end_anchor(self) -> object:
        href, rel, named, tag = self._anchor
        self._anchor = None
        first: cython.Py_ssize_t = self._anchor_first
        last: cython.Py_ssize_t = self._place()
        anchor: str = shown(self.text, self.begins[first], self.size) or named.strip()
        path = ">".join([*self._path[-PATH_STEPS:], tag])
        nofollow = rel != "" and not _NOFOLLOW.isdisjoint(rel.lower().split())
        self._add_link(href, first, last, anchor[:MAX_ANCHOR_CHARS], path, nofollow)
        if self._cut_wanted:
            self.end_block()

    @cython.cfunc
    def _add_link(
        self,
        href: str,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        shown: str,
        path: str,
        nofollow: cython.bint,
    ) -> object:
        """Add a link to the block that is open; the first to a URL counts."""
        if len(self.links) >= self._max_links:
            return
        url = self._resolved.get(href)
        if url is None:
            url = self._resolved[href] = self._resolve(href)
        if url and url != self._own and url not in self._block_urls:
            self._block_urls.add(url)
            self.links.append((url, first, last, shown, len(self.blocks), path, bool(nofollow)))

    @cython.cfunc
    def _cut(self) -> object:
        """End a block where block-level elements begin or end; an open anchor goes first."""
        if self._anchor is not None:  # <a><h3>...</h3></a>
            self._add(32)
            self._cut_wanted = True
        else:
            self.end_block()

    # -- attributes

    @cython.cfunc
    def _read_attributes(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Note where the values that matter stand; return where the tag ends."""
        data: cython.const[cython.uchar][:] = self._data
        values: cython.Py_ssize_t[:, :] = self._values
        size: cython.Py_ssize_t = len(self._html)
        i: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        for i in range(9):
            values[i, 0] = values[i, 1] = 0
        while at + 1 < size and data[at] == 32:
            begin = at + 1
            at = begin + 1  # a name may begin with "="
            while at < size and data[at] != 61:  # "="
                at += 1
            i = self._attribute(begin, at)
            begin = at + 2  # '="'
            at = begin
            while at < size and data[at] != 34:  # '"'
                at += 1
            if i >= 0:
                values[i, 0], values[i, 1] = begin, at
            at += 1
        while at < size and data[at] != 62:  # ">"
            at += 1
        return at

    @cython.cfunc
    def _attribute(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return which of the attributes that matter is called so, -1 for another."""
        first: cython.int = self._data[begin]
        # Most are called otherwise: no need to make a name of them. Initials of a c h i r t.
        if (
            first != 97
            and first != 99
            and not 104 <= first <= 105
            and first != 114
            and first != 116
        ):
            return -1
        which: cython.Py_ssize_t = _ATTRIBUTES.get(self._html[begin:end], -1)
        return which

    @cython.cfunc
    def _value(self, which: cython.int) -> bytes:
        return self._html[self._values[which, 0] : self._values[which, 1]]

    # -- text

    @cython.cfunc
    def _place(self) -> cython.Py_ssize_t:
        """End the segment here, if there is any text; return how many there are."""
        if self.size > self._segment:
            self._add(1)
            self.begins.append(self.size)
            self._segment = self.size
        return len(self.begins) - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _write(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Add a text; not the space before a block's first word."""
        at: cython.Py_ssize_t
        if self.size == self._segment and not self._linked:
            at = begin
            while at < end and _is_space(self._data[at]):
                at += 1
            if at == end:
                return
        self._copy(begin, end, True)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _copy_value(self, which: cython.int) -> cython.void:
        self._copy(self._values[which, 0], self._values[which, 1], True)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _copy(
        self, at: cython.Py_ssize_t, end: cython.Py_ssize_t, escaped: cython.bint
    ) -> cython.void:
        """Add a part of the page to the text."""
        data: cython.const[cython.uchar][:] = self._data
        out: cython.uchar[:] = self._out
        size: cython.Py_ssize_t = self.size
        chars: cython.Py_ssize_t = 0
        inked: cython.bint = False
        byte: cython.int
        while at < end:
            byte = data[at]
            at += 1
            if byte >= 0x80:
                self._foreign = True
                chars += byte >= 0xC0
            else:
                chars += 1
                if byte == 38 and escaped:  # "&"
                    if at + 2 < end and data[at] == 108:  # "lt;"
                        byte, at = 60, at + 3
                    elif at + 2 < end and data[at] == 103:  # "gt;"
                        byte, at = 62, at + 3
                    elif at + 3 < end and data[at] == 97:  # "amp;"
                        at += 4
                    elif at + 4 < end and data[at] == 113:  # "quot;"
                        byte, at = 34, at + 5
                    elif at + 4 < end and data[at] == 110:  # "nbsp;"
                        self._foreign = True
                        out[size] = 0xC2
                        size += 1
                        byte, at = 0xA0, at + 5
                elif byte == 1:  # our mark
                    byte = 32
                if not _is_space(byte) and byte < 0x80:
                    inked = True
            out[size] = byte
            size += 1
        self.size = size
        self._chars += chars
        self._inked |= inked

    @cython.cfunc
    @cython.exceptval(check=False)
    def _add(self, byte: cython.int) -> cython.void:
        """Add a space, or a mark."""
        self._out[self.size] = byte
        self.size += 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_space(byte: cython.int) -> cython.bint:
    """Return whether a byte of ASCII is space, as Python sees it."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31
