"""Reads HTML as lexbor writes it, tag by tag.

Serves ``walk``, which gathers what a page says. Such HTML is simple: every element is ended but the
void ones, values stand in double quotes, signs that mean something are escaped. A page that means
harm can still have it badly nested (``&lt;/style&gt;`` within SVG), so nothing relies on its
nesting.

Names of elements and attributes are compared as numbers, and places in the page are kept instead of
what is written there until it is known to count: most of the time went into making objects.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.string import memchr

TEXT, END, RAW_TEXT = -1, -2, -3
"""What a row is that is no tag: a text, the end of an element, a text in which nothing is
escaped."""

# What an element is to the walk; from BLOCK on all are blocks.
SKIPPED = 0
RAW = 1
"""Holds text, and nothing that looks like an element is one."""
PLAIN = 2
"""Means nothing to us: the walk goes straight through."""
BREAK, IMAGE, ANCHOR, BLOCK, HEADING, CELL, LIST = range(3, 10)
KIND = 15
# What may be added to that.
VOID = 16
"""Has no end."""
NAMED = 32
"""Its id, class and role matter."""
NAVIGATION = 64
TOLD = 128
"""Raw text that counts."""

_TAGS = (
    ("noscript template svg math object canvas select option textarea head audio video", SKIPPED),
    ("script style iframe noembed noframes", RAW),
    ("xmp plaintext", RAW | TOLD),
    ("abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark", PLAIN),
    ("nobr q rp rt ruby s samp small strike strong sub sup time tt u var map", PLAIN),
    ("span", PLAIN | NAMED),
    ("wbr", PLAIN | VOID),
    ("br", BREAK | VOID),
    ("img", IMAGE | VOID),
    ("a", ANCHOR),
    ("area", ANCHOR | VOID),
    ("base basefont bgsound col embed frame hr input keygen link meta param source track",
     BLOCK | VOID),
    ("div section table header form p", BLOCK | NAMED),
    ("nav footer aside", BLOCK | NAVIGATION),
    ("h1 h2 h3 h4 h5 h6", HEADING),
    ("th caption", CELL),
    ("td", CELL | NAMED),
    ("ul ol", LIST | NAMED),
    ("dl menu dir", LIST),
    # Like all others; these are so common that their names shall be at hand.
    ("article body center dd dt fieldset figure li main pre tbody thead tr", BLOCK),
)  # fmt: skip
_KINDS = {tag.encode(): kind for tags, kind in _TAGS for tag in tags.split()}
_SLOTS = 512
_FACTS = frozenset({b"base", b"link", b"meta", b"titl"})

HREF, REL, TITLE, LABEL, ALT, ID, CLASS, ROLE, LEVEL = range(9)
"""The attributes that matter."""

# The same for compiled code, which would have to ask Python for those above.
_TEXT = cython.declare(cython.int, TEXT)
_END = cython.declare(cython.int, END)
_RAW_TEXT = cython.declare(cython.int, RAW_TEXT)
_KIND = cython.declare(cython.int, KIND)
_TOLD = cython.declare(cython.int, TOLD)
_SKIPPED = cython.declare(cython.int, SKIPPED)
_RAW = cython.declare(cython.int, RAW)
_ANCHOR = cython.declare(cython.int, ANCHOR)
_BLOCK = cython.declare(cython.int, BLOCK)
_HEADING = cython.declare(cython.int, HEADING)
_HREF = cython.declare(cython.int, HREF)
_REL = cython.declare(cython.int, REL)
_TITLE = cython.declare(cython.int, TITLE)
_LABEL = cython.declare(cython.int, LABEL)
_ALT = cython.declare(cython.int, ALT)
_ID = cython.declare(cython.int, ID)
_CLASS = cython.declare(cython.int, CLASS)
_ROLE = cython.declare(cython.int, ROLE)
_LEVEL = cython.declare(cython.int, LEVEL)


STEPS: list[str] = [""] * _SLOTS
"""How the elements in the table are called in tag paths; with "!" first where navigation begins."""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _slot(name: cython.ulonglong) -> cython.Py_ssize_t:
    """Return where to look for a name first."""
    return (name ^ (name >> 5) ^ (name >> 13) ^ (name >> 26)) & 511


def _table() -> tuple[Any, Any]:
    """Return names of up to 8 bytes as numbers, and their kinds.

    What finds its slot taken is in the next that is free.
    """
    names, kinds = np.zeros(_SLOTS, np.uint64), np.zeros(_SLOTS, np.int32)
    for tag, kind in _KINDS.items():
        if len(tag) <= 8:
            name = int.from_bytes(tag, "big")
            slot = _slot(name)
            while STEPS[slot]:
                slot = (slot + 1) % _SLOTS
            names[slot], kinds[slot] = name, kind
            STEPS[slot] = ("!" if kind & NAVIGATION else "") + tag.decode()
    return names, kinds


_TABLE = _table()

_NAME_HREF = cython.declare(cython.ulonglong, 0x68726566)
_NAME_REL = cython.declare(cython.ulonglong, 0x72656C)
_NAME_TITLE = cython.declare(cython.ulonglong, 0x7469746C65)
_NAME_ALT = cython.declare(cython.ulonglong, 0x616C74)
_NAME_ID = cython.declare(cython.ulonglong, 0x6964)
_NAME_CLASS = cython.declare(cython.ulonglong, 0x636C617373)
_NAME_ROLE = cython.declare(cython.ulonglong, 0x726F6C65)


@cython.ccall
def unescaped(written: bytes) -> str:
    """Return a value as it was before lexbor wrote it."""
    if not written:
        return ""
    if b"&" in written:
        written = written.replace(b"&nbsp;", b"\xc2\xa0").replace(b"&lt;", b"<")
        written = written.replace(b"&gt;", b">").replace(b"&quot;", b'"').replace(b"&amp;", b"&")
    return written.decode("utf-8", "replace")


def holds_facts(html: bytes) -> bool:
    """Tell whether there may be an element called base, link, meta, title or the like."""
    data: cython.const[cython.uchar][::1] = html
    size: cython.Py_ssize_t = len(html)
    at: cython.Py_ssize_t = _next_tag(html, 0, size)
    first: cython.int
    last: cython.int
    initial: cython.bint
    while at + 4 < size:
        first, last = data[at + 1], data[at + 4]
        initial = first == 98 or first == 108 or first == 109 or first == 116
        # Few elements with such an initial have such a fourth letter.
        if initial and 97 <= last <= 108 and html[at + 1 : at + 5] in _FACTS:
            return True
        at = _next_tag(html, at + 1, size)
    return False


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _next_tag(html: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return where the next "<" is; *size*, that of the page, if there is none."""
    place: cython.Py_ssize_t
    if cython.compiled:
        start: cython.p_uchar = cython.cast(cython.p_uchar, cython.cast(cython.p_char, html))
        found: cython.p_uchar = cython.cast(cython.p_uchar, memchr(start + at, 60, size - at))
        place = found - start if found else size
    else:
        place = html.find(b"<", at)
        place = place if place >= 0 else size
    return place


def read(html: bytes, most: cython.Py_ssize_t) -> tuple[Any, Any]:
    """Return a row for each tag, end of an element and text, and one for each value that matters.

    A row says what it is; the slot of its name in ``STEPS``, -1: it is not there; begin and end of
    its name or text; the level of a heading; and where its values end, and those of the next begin.
    That of a value is its attribute, begin and end. At *most* so many nodes are read.
    """
    # A text before each tag and one behind the last; of raw text there are three rows.
    rows = np.empty((2 * _count(html, 60) + 4, 6), np.int32)
    values = np.empty((len(html) // 5 + 1, 3), np.int32)  # ' a=""' are five bytes
    reader = _Reader(html, rows, values)
    reader.read(most)
    return rows[: reader.rows], values[: reader.values]


@cython.final
@cython.cclass
class _Reader:
    """Writes down what it reads."""

    rows = cython.declare(cython.Py_ssize_t, visibility="readonly")
    values = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _html: bytes
    _data: cython.const[cython.uchar][::1]
    _names: cython.ulonglong[::1]
    _kinds: cython.int[::1]
    _rows: cython.int[:, ::1]
    _values: cython.int[:, ::1]

    def __init__(self, html: bytes, rows: Any, values: Any) -> None:
        self._html, self._data = html, html
        self._names, self._kinds = _TABLE
        self._rows, self._values = rows, values
        self.rows = self.values = 0

    @cython.ccall
    def read(self, most: cython.Py_ssize_t) -> object:
        """Read up to so many nodes."""
        data: cython.const[cython.uchar][::1] = self._data
        size: cython.Py_ssize_t = len(self._html)
        at: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        nodes: cython.Py_ssize_t = 0
        while at + 1 < size and nodes < most:
            nodes += 1
            if data[at] != 60:  # no "<": text
                end = _next_tag(self._html, at + 1, size)
                self._put(_TEXT, -1, at, end, 0)
                at = end
            elif data[at + 1] == 47:  # "</"
                self._put(_END, -1, at, at, 0)
                while at < size and data[at] != 62:  # ">"
                    at += 1
                at += 1
            elif data[at + 1] == 33 or data[at + 1] == 63:  # "<!" or "<?"
                at = self._after(at, b"-->" if self._html.startswith(b"<!--", at) else b">")
            else:
                at = self._read_tag(at + 1)

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_tag(self, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read a tag whose name begins here; return where what follows it begins."""
        data: cython.const[cython.uchar][::1] = self._data
        size: cython.Py_ssize_t = len(self._html)
        end: cython.Py_ssize_t = begin
        first: cython.Py_ssize_t = self.values
        at: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        flags: cython.int
        kind: cython.int
        level: cython.int = 0
        while end < size and data[end] != 32 and data[end] != 62:  # up to a space or ">"
            end += 1
        slot = self._find(begin, end)
        flags = self._kinds[slot] if slot >= 0 else self._kind_of_long(begin, end)
        kind = flags & _KIND
        at = self._read_attributes(end) + 1
        if kind == _RAW:
            self.values = first
            return self._read_raw(begin, end, slot, at, flags & _TOLD)
        if kind == _HEADING:
            level = data[begin + 1] - 48
        elif kind != _SKIPPED and kind != _ANCHOR and self._value(first, _ROLE) == b"heading":
            flags = (flags - kind) | _HEADING
            said: bytes = self._value(first, _LEVEL)
            level = said[0] - 48 if len(said) == 1 and b"1" <= said <= b"6" else 2
        self._put(flags, slot, begin, end, level)
        return at

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_raw(
        self,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        slot: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
        told: cython.bint,
    ) -> cython.Py_ssize_t:
        """Read a raw element whose text begins at *at*; return where what follows it begins."""
        stop: cython.Py_ssize_t = self._html.find(b"</" + self._html[begin:end] + b">", at)
        if stop < 0:
            stop = len(self._html)
        if told:
            self._put(_BLOCK, slot, begin, end, 0)
            self._put(_RAW_TEXT, -1, at, stop, 0)
            self._put(_END, -1, stop, stop, 0)
        return self._after(stop, b">")

    @cython.cfunc
    @cython.exceptval(check=False)
    def _put(
        self,
        what: cython.int,
        slot: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        level: cython.int,
    ) -> cython.void:
        """Write a row, behind the values that are its own."""
        row: cython.Py_ssize_t = self.rows
        self._rows[row, 0], self._rows[row, 1] = what, slot
        self._rows[row, 2], self._rows[row, 3] = begin, end
        self._rows[row, 4], self._rows[row, 5] = level, self.values
        self.rows += 1

    @cython.cfunc
    def _after(self, at: cython.Py_ssize_t, ending: bytes) -> cython.Py_ssize_t:
        """Return where what follows the next *ending* begins."""
        found: cython.Py_ssize_t = self._html.find(ending, at)
        return found + len(ending) if found >= 0 else len(self._html)

    # -- names

    @cython.cfunc
    @cython.exceptval(check=False)
    def _find(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the slot of an element's name; -1: it is unknown, or too long for a number."""
        name: cython.ulonglong = self._number(begin, end)
        slot: cython.Py_ssize_t = _slot(name)
        if not name:
            return -1
        while self._names[slot] != name:
            if not self._names[slot]:
                return -1
            slot = (slot + 1) & 511
        return slot

    @cython.cfunc
    @cython.exceptval(check=False)
    def _number(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
        """Return a name as a number; 0 if it has more than 8 bytes."""
        name: cython.ulonglong = 0
        at: cython.Py_ssize_t
        if end - begin <= 8:
            for at in range(begin, end):
                name = (name << 8) | self._data[at]
        return name

    @cython.cfunc
    def _kind_of_long(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Return the kind of an element that is not in the table."""
        kind: cython.int = _BLOCK
        if end - begin > 8:
            kind = _KINDS.get(self._html[begin:end], BLOCK)
        return kind

    # -- attributes

    @cython.cfunc
    @cython.exceptval(-1)
    def _read_attributes(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Note where the values that matter stand; return where the tag ends."""
        data: cython.const[cython.uchar][::1] = self._data
        values: cython.int[:, ::1] = self._values
        size: cython.Py_ssize_t = len(self._html)
        which: cython.int
        begin: cython.Py_ssize_t
        while at + 1 < size and data[at] == 32:
            begin = at + 1
            at = begin + 1  # a name may begin with "="
            while at < size and data[at] != 61:  # "="
                at += 1
            which = self._attribute(begin, at)
            begin = at + 2  # '="'
            at = begin
            while at < size and data[at] != 34:  # '"'
                at += 1
            if which >= 0:
                values[self.values, 0] = which
                values[self.values, 1], values[self.values, 2] = begin, at
                self.values += 1
            at += 1
        while at < size and data[at] != 62:  # ">"
            at += 1
        return at

    @cython.cfunc
    @cython.exceptval(-2)
    def _attribute(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Return which of the attributes that matter is called so, -1 for another."""
        name: cython.ulonglong
        if end - begin == 10:
            written: bytes = self._html[begin:end]
            return (
                _LABEL if written == b"aria-label" else _LEVEL if written == b"aria-level" else -1
            )
        name = self._number(begin, end)
        if name == _NAME_CLASS:
            return _CLASS
        if name == _NAME_HREF:
            return _HREF
        if name == _NAME_ID:
            return _ID
        if name == _NAME_TITLE:
            return _TITLE
        if name == _NAME_REL:
            return _REL
        if name == _NAME_ALT:
            return _ALT
        return _ROLE if name == _NAME_ROLE else -1

    @cython.cfunc
    def _value(self, first: cython.Py_ssize_t, which: cython.int) -> bytes:
        """Return the value of an attribute among those from *first* on; empty if there is none."""
        at: cython.Py_ssize_t
        for at in range(first, self.values):
            if self._values[at, 0] == which:
                return self._html[self._values[at, 1] : self._values[at, 2]]
        return b""


@cython.cfunc
@cython.exceptval(check=False)
def _count(data: cython.const[cython.uchar][::1], sought: cython.int) -> cython.Py_ssize_t:
    """Return how often a byte occurs."""
    count: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    for at in range(len(data)):
        count += data[at] == sought
    return count
