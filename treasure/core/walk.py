"""Walks over a page and gathers its text, blocks and links.

Serves ``extract``, which says what becomes of them. The page comes as HTML that lexbor wrote after
it had parsed what the web had, and ``tags`` has read: to visit its tree node by node from Python
takes longer than to parse it.

Text is gathered in segments: one ends wherever a block, a list or an anchor begins or ends, and
nowhere else, so that ``<b>W</b>ord`` is one word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cython
import numpy as np

from treasure.core import tags
from treasure.core.tags import unescaped
from treasure.core.written import shown

MARK = b"\x01"
"""Ends each segment of text."""
PATH_STEPS = 7
"""Elements above a link that its tag path names."""
MAX_ANCHOR_CHARS = 500
BLOCK_KINDS = ("paragraph", "item", "cell", "heading")
"""What a block's number of its kind stands for."""
_NOFOLLOW = frozenset({"nofollow", "ugc", "sponsored"})

_REMEMBERED = cython.declare(cython.Py_ssize_t, 64)
"""Steps of containers with names that a walk remembers."""

# What rows, elements and attributes are (``tags``), for compiled code.
_TEXT = cython.declare(cython.int, tags.TEXT)
_END = cython.declare(cython.int, tags.END)
_RAW_TEXT = cython.declare(cython.int, tags.RAW_TEXT)
_SKIPPED = cython.declare(cython.int, tags.SKIPPED)
_BREAK = cython.declare(cython.int, tags.BREAK)
_IMAGE = cython.declare(cython.int, tags.IMAGE)
_ANCHOR = cython.declare(cython.int, tags.ANCHOR)
_BLOCK = cython.declare(cython.int, tags.BLOCK)
_HEADING = cython.declare(cython.int, tags.HEADING)
_CELL = cython.declare(cython.int, tags.CELL)
_LIST = cython.declare(cython.int, tags.LIST)
_KIND = cython.declare(cython.int, tags.KIND)
_VOID = cython.declare(cython.int, tags.VOID)
_NAMED = cython.declare(cython.int, tags.NAMED)
_HREF = cython.declare(cython.int, tags.HREF)
_REL = cython.declare(cython.int, tags.REL)
_TITLE = cython.declare(cython.int, tags.TITLE)
_LABEL = cython.declare(cython.int, tags.LABEL)
_ALT = cython.declare(cython.int, tags.ALT)
_ID = cython.declare(cython.int, tags.ID)
_CLASS = cython.declare(cython.int, tags.CLASS)
_ROLE = cython.declare(cython.int, tags.ROLE)


@cython.final
@cython.cclass
class Walk:
    """What has been read of a page so far. A place is the number of segments before it.

    *own* is the page's address. *steps* says by its tag, id, class and role how a container is
    called in tag paths, with "!" first where navigation begins; *resolve* makes an address of what
    a link says, or nothing.
    """

    text = cython.declare(bytearray, visibility="readonly")
    size = cython.declare(cython.Py_ssize_t, visibility="readonly")
    links = cython.declare(list, visibility="readonly")
    _html: bytes
    _data: cython.const[cython.uchar][::1]
    _out: cython.uchar[::1]
    _rows: cython.int[:, ::1]
    _read_values: cython.int[:, ::1]
    _taken: cython.Py_ssize_t
    _taken_stop: cython.Py_ssize_t
    _values: cython.Py_ssize_t[:, ::1]
    _begins: cython.int[::1]
    _blocks: cython.int[:, ::1]
    _headings: cython.int[:, ::1]
    _lists: cython.int[:, ::1]
    _open_lists: cython.int[::1]
    _segments: cython.Py_ssize_t
    _block_count: cython.Py_ssize_t
    _heading_count: cython.Py_ssize_t
    _list_count: cython.Py_ssize_t
    _open_count: cython.Py_ssize_t
    _known: list
    _steps: object
    _met: cython.Py_ssize_t[:, ::1]
    _met_steps: list
    _resolve: object
    _resolved: dict
    _own: str
    _max_links: cython.Py_ssize_t
    _block_urls: set
    _chars: cython.Py_ssize_t
    _segment: cython.Py_ssize_t
    _path: list
    _depth: cython.Py_ssize_t
    _joined: str
    _joined_depth: cython.Py_ssize_t
    _navigation: cython.int
    _cells: cython.int
    _level: cython.int
    _block_first: cython.Py_ssize_t
    _linked: cython.bint
    _inked: cython.bint
    _foreign: cython.bint
    _anchored: cython.bint
    _area: cython.bint
    _anchor: cython.Py_ssize_t[:, ::1]
    _anchor_first: cython.Py_ssize_t
    _cut_wanted: cython.bint

    def __init__(
        self,
        html: bytes,
        own: str,
        steps: Mapping[tuple[str, bytes, bytes, bytes], str],
        resolve: Callable[[str], str],
        max_links: cython.Py_ssize_t,
        max_nodes: cython.Py_ssize_t,
    ) -> None:
        self._html, self._data = html, html
        self._own, self._steps, self._resolve = own, steps, resolve
        self._max_links = max_links
        self._rows, self._read_values = tags.read(html, max_nodes)
        self._known = tags.STEPS
        self._taken = self._taken_stop = 0
        # Whatever the walk adds to the text takes the place of a longer tag.
        self.text = bytearray(len(html) + 8)
        self._out = self.text
        self.size = 0
        """Bytes of the text so far."""
        self.links = []
        """URL, first and last place, text, block, tag path and nofollow of each."""
        rows: cython.Py_ssize_t = self._rows.shape[0]
        # A row ends two segments or two blocks at most: before what it opens, and behind it.
        most: cython.Py_ssize_t = 2 * rows + 8
        self._begins = np.empty(most, np.int32)
        self._begins[0] = 0
        self._blocks = np.empty((most, 6), np.int32)
        self._headings = np.empty((most, 2), np.int32)
        self._lists = np.empty((rows, 2), np.int32)
        self._open_lists = np.empty(rows, np.int32)
        self._segments = self._block_count = self._heading_count = 0
        self._list_count = self._open_count = 0
        self._values = np.zeros((tags.LEVEL + 1, 2), np.intp)
        self._anchor = np.zeros((3, 2), np.intp)
        self._met, self._met_steps = np.zeros((_REMEMBERED, 7), np.intp), [""] * _REMEMBERED
        self._resolved, self._block_urls = {}, set()
        self._path = []
        self._depth = 0
        self._joined, self._joined_depth = "", -1
        self._chars = self._segment = self._block_first = self._anchor_first = 0
        self._navigation = self._cells = self._level = 0
        self._linked = self._inked = self._foreign = self._cut_wanted = False
        self._anchored = self._area = False

    @property
    def begins(self) -> Any:
        """Where each segment begins in the text; the last has not ended."""
        return np.asarray(self._begins)[: self._segments + 1]

    @property
    def blocks(self) -> Any:
        """Kind, first and last place, heading, navigation and list (-1: none) of each."""
        return np.asarray(self._blocks)[: self._block_count]

    @property
    def headings(self) -> Any:
        """Level and block of each."""
        return np.asarray(self._headings)[: self._heading_count]

    @property
    def lists(self) -> Any:
        """First and last place of each; -1 for one that has not ended."""
        return np.asarray(self._lists)[: self._list_count]

    def read(self, max_chars: cython.Py_ssize_t) -> None:
        """Read the page, up to so many characters."""
        rows: cython.int[:, ::1] = self._rows
        stack: cython.uchar[::1] = np.empty(rows.shape[0], np.uint8)
        depth: cython.Py_ssize_t = 0
        skipped: cython.Py_ssize_t = 0
        values: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t
        flags: cython.int
        kind: cython.int
        for at in range(rows.shape[0]):
            flags = rows[at, 0]
            if flags == _TEXT:
                if not skipped:
                    self._write(rows[at, 2], rows[at, 3])
                continue
            if flags == _END:
                if depth:
                    depth -= 1
                    kind = stack[depth]
                    if skipped:
                        skipped -= 1
                    elif kind >= _ANCHOR:
                        self._leave(kind)
                continue
            if flags == _RAW_TEXT:
                if not skipped:
                    self._copy(rows[at, 2], rows[at, 3], False)
                continue
            kind = flags & _KIND
            if skipped or kind == _SKIPPED or self._chars >= max_chars:
                if not flags & _VOID:
                    stack[depth] = _SKIPPED
                    depth += 1
                    skipped += 1
                values = rows[at, 5]
                continue
            values = self._take_values(values, rows[at, 5])
            if kind >= _BLOCK:
                self._enter_block(at, kind, flags)
            elif kind == _ANCHOR:
                self._enter_anchor(flags & _VOID)
            elif kind == _IMAGE:
                self._enter_image()
            elif kind == _BREAK and (self.size > self._segment or self._linked):
                self._add(32)
            if not flags & _VOID:
                stack[depth] = kind
                depth += 1
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
            written = self.text[self._begins[first] : self.size]
            blank = written.replace(MARK, b"").decode("utf-8", "replace").isspace()
        self._block_first = last
        self._cut_wanted = self._linked = self._inked = self._foreign = False
        if blank and not self._block_urls:
            return
        if self._block_urls:
            self._block_urls.clear()
        row: cython.int[::1] = self._blocks[self._block_count]
        row[0], row[1], row[2], row[5] = 0, first, last, -1
        if self._level:
            row[0] = 3
            self._headings[self._heading_count, 0] = self._level
            self._headings[self._heading_count, 1] = self._block_count
            self._heading_count += 1
            self._level = 0
        elif self._open_count:
            row[0], row[5] = 1, self._open_lists[self._open_count - 1]
        elif self._cells > 0:
            row[0] = 2
        row[3], row[4] = self._heading_count - 1, self._navigation > 0
        self._block_count += 1

    # -- elements

    @cython.cfunc
    @cython.exceptval(check=False)
    def _take_values(self, first: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Have the values of a tag at hand, by attribute; return where those of the next begin."""
        at: cython.Py_ssize_t
        which: cython.int
        values: cython.Py_ssize_t[:, ::1] = self._values
        read: cython.int[:, ::1] = self._read_values
        for at in range(self._taken, self._taken_stop):  # those of the tag before
            which = read[at, 0]
            values[which, 0] = values[which, 1] = 0
        for at in range(first, stop):
            which = read[at, 0]
            values[which, 0], values[which, 1] = read[at, 1], read[at, 2]
        self._taken, self._taken_stop = first, stop
        return stop

    @cython.cfunc
    def _enter_block(self, row: cython.Py_ssize_t, kind: cython.int, flags: cython.int) -> object:
        """Enter the block of a row."""
        slot: cython.Py_ssize_t = self._rows[row, 1]
        if self.size > self._segment or self._linked:
            self._cut()
        step: str
        if slot < 0:
            step = self._html[self._rows[row, 2] : self._rows[row, 3]].decode("utf-8", "replace")
            step = step or "?"  # lexbor would not write "<>"
        elif flags & _NAMED:
            step = self._named_step(slot)
        else:
            step = self._known[slot]
        self._enter_step(step)
        if kind == _LIST:
            self._open_lists[self._open_count] = self._list_count
            self._open_count += 1
            self._lists[self._list_count, 0] = self._place()
            self._lists[self._list_count, 1] = -1
            self._list_count += 1
        elif kind == _CELL:
            self._cells += 1
        elif kind == _HEADING:
            self._level = self._rows[row, 4]

    @cython.cfunc
    def _enter_step(self, step: str) -> object:
        """Go one step down.

        What was there on the last way down stays, since most elements are followed by others of
        their kind: as long as no step differs, the path of the last link is that of the next.
        """
        if self._depth == len(self._path):
            self._path.append(step)
        elif self._path[self._depth] != step:
            self._path[self._depth] = step
            if self._depth < self._joined_depth:
                self._joined_depth = -1
        self._depth += 1
        if step[0] == "!":
            self._navigation += 1

    @cython.cfunc
    def _tag_path(self) -> str:
        """Return the last steps down to here, joined."""
        if self._joined_depth != self._depth:
            first: cython.Py_ssize_t = max(0, self._depth - PATH_STEPS)
            self._joined = "".join([f"{step}>" for step in self._path[first : self._depth]])
            self._joined_depth = self._depth
        return self._joined

    @cython.cfunc
    def _named_step(self, slot: cython.Py_ssize_t) -> str:
        """Return the step of a container; most are like one that was met before."""
        values: cython.Py_ssize_t[:, ::1] = self._values
        own: cython.Py_ssize_t = values[_ID, 1] - values[_ID, 0]
        classes: cython.Py_ssize_t = values[_CLASS, 1] - values[_CLASS, 0]
        role: cython.Py_ssize_t = values[_ROLE, 1] - values[_ROLE, 0]
        tag: str = self._known[slot]
        if not own and not classes and not role:
            return tag
        place: cython.Py_ssize_t = (slot + 3 * own + 5 * classes + 7 * role) % _REMEMBERED
        met: cython.Py_ssize_t[::1] = self._met[place]
        if (
            met[0] == slot
            and self._alike(met[1], met[2], values[_ID, 0], own)
            and self._alike(met[3], met[4], values[_CLASS, 0], classes)
            and self._alike(met[5], met[6], values[_ROLE, 0], role)
        ):
            return self._met_steps[place]
        step: str = self._steps[tag, self._value(_ID), self._value(_CLASS), self._value(_ROLE)]
        met[0] = slot
        met[1], met[2] = values[_ID, 0], own
        met[3], met[4] = values[_CLASS, 0], classes
        met[5], met[6] = values[_ROLE, 0], role
        self._met_steps[place] = step
        return step

    @cython.cfunc
    @cython.exceptval(check=False)
    def _alike(
        self,
        begin: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        other_size: cython.Py_ssize_t,
    ) -> cython.bint:
        """Tell whether the same is written in two places of the page."""
        at: cython.Py_ssize_t = 0
        while at < size == other_size and self._data[begin + at] == self._data[other + at]:
            at += 1
        return size == other_size and at == size

    @cython.cfunc
    def _enter_anchor(self, area: cython.bint) -> object:
        values: cython.Py_ssize_t[:, ::1] = self._values
        anchor: cython.Py_ssize_t[:, ::1] = self._anchor
        named: cython.int = _TITLE if values[_TITLE, 1] > values[_TITLE, 0] else _LABEL
        if values[_HREF, 1] <= values[_HREF, 0]:
            return
        anchor[0, 0], anchor[0, 1] = values[_HREF, 0], values[_HREF, 1]
        anchor[1, 0], anchor[1, 1] = values[_REL, 0], values[_REL, 1]
        anchor[2, 0], anchor[2, 1] = values[named, 0], values[named, 1]
        self._anchored, self._area = True, area
        self._anchor_first = self._place()
        self._linked = True
        if area:
            self._copy_value(_ALT)

    @cython.cfunc
    def _enter_image(self) -> object:
        if self._anchored and self._values[_ALT, 1] > self._values[_ALT, 0]:
            self._add(32)
            self._copy_value(_ALT)
            self._add(32)

    @cython.cfunc
    def _leave(self, kind: cython.int) -> object:
        if kind == _ANCHOR:
            if self._anchored:
                self._end_anchor()
            return
        if self.size > self._segment or self._linked:
            self._cut()
        if kind == _LIST:
            self._open_count -= 1
            self._lists[self._open_lists[self._open_count], 1] = self._place()
        elif kind == _CELL:
            self._cells -= 1
        self._depth -= 1
        step: str = self._path[self._depth]
        if step[0] == "!":
            self._navigation -= 1

    @cython.cfunc
    def _end_anchor(self) -> object:
        anchor: cython.Py_ssize_t[:, ::1] = self._anchor
        self._anchored = False
        first: cython.Py_ssize_t = self._anchor_first
        last: cython.Py_ssize_t = self._place()
        text: str = self._shown(self._begins[first], self.size)
        if not text:
            text = unescaped(self._html[anchor[2, 0] : anchor[2, 1]]).strip()
        nofollow: cython.bint = False
        if anchor[1, 1] > anchor[1, 0]:
            rel: str = unescaped(self._html[anchor[1, 0] : anchor[1, 1]])
            nofollow = not _NOFOLLOW.isdisjoint(rel.lower().split())
        href: str = unescaped(self._html[anchor[0, 0] : anchor[0, 1]])
        path = self._tag_path() + ("area" if self._area else "a")
        self._add_link(href, first, last, text[:MAX_ANCHOR_CHARS], path, nofollow)
        if self._cut_wanted:
            self.end_block()

    @cython.cfunc
    def _shown(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> str:
        """Return a part of the text as it is shown; most are written so, but for the mark."""
        at: cython.Py_ssize_t
        byte: cython.int
        spaces: cython.bint = True
        while end > begin and self._out[end - 1] == 1:
            end -= 1
        for at in range(begin, end):
            byte = self._out[at]
            if byte < 32 or (byte == 32 and spaces) or 0xC2 <= byte <= 0xE3:  # these may be space
                return shown(self.text, begin, end)
            spaces = byte == 32
        if spaces:  # at the end
            return shown(self.text, begin, end)
        return self.text[begin:end].decode("utf-8", "replace")

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
            self.links.append((url, first, last, shown, self._block_count, path, bool(nofollow)))

    @cython.cfunc
    def _cut(self) -> object:
        """End a block where block-level elements begin or end; an open anchor goes first."""
        if self._anchored:  # <a><h3>...</h3></a>
            self._add(32)
            self._cut_wanted = True
        else:
            self.end_block()

    @cython.cfunc
    def _value(self, which: cython.int) -> bytes:
        return self._html[self._values[which, 0] : self._values[which, 1]]

    # -- text

    @cython.cfunc
    @cython.exceptval(check=False)
    def _place(self) -> cython.Py_ssize_t:
        """End the segment here, if there is any text; return how many there are."""
        if self.size > self._segment:
            self._add(1)
            self._segments += 1
            self._begins[self._segments] = self.size
            self._segment = self.size
        return self._segments

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
        data: cython.const[cython.uchar][::1] = self._data
        out: cython.uchar[::1] = self._out
        size: cython.Py_ssize_t = self.size
        chars: cython.Py_ssize_t = 0
        inked: cython.bint = False
        byte: cython.int
        i: cython.Py_ssize_t
        sign: cython.uchar
        odd: cython.uchar = 0
        ink: cython.uchar = 0
        # Most texts are plain ASCII and copied as they are, which takes no more than a look at all.
        for i in range(end - at):
            sign = data[at + i]
            out[size + i] = sign
            odd |= (sign >= 0x80) | (sign == 38) | (sign < 9) | ((sign > 13) & (sign < 28))
            ink |= sign > 32
        if at < end and not odd:
            self.size = size + end - at
            self._chars += end - at
            self._inked |= ink != 0
            return
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
