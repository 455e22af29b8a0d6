"""Texts of a page as they are shown: one space between words, and no marks of segments.

Serves ``extract`` and ``pages``. What is space in UTF-8 is seen in its bytes, so that one pass over
them gives what ``" ".join(text.split())`` would, and no string is made but the one asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cython

_NEWLINE = cython.declare(cython.int, 10)


@cython.ccall
def shown(text: object, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> str:
    """Return a part of *text*, bytes in UTF-8, as it is shown."""
    room: bytearray = bytearray(max(0, end - begin))
    size: cython.Py_ssize_t = _write(text, begin, end, room, 0)
    return room[:size].decode("utf-8", "replace")


def block_texts(
    text: bytes, begins: cython.const[cython.int][::1], blocks: cython.const[cython.int][:, ::1]
) -> list[str]:
    """Return the text of each block that ``walk`` found."""
    count: cython.Py_ssize_t = blocks.shape[0]
    return [shown(text, begins[blocks[at, 1]], begins[blocks[at, 2]]) for at in range(count)]


def main_text(
    text: bytes,
    begins: cython.const[cython.int][::1],
    blocks: cython.const[cython.int][:, ::1],
    table: cython.const[cython.int][:, ::1],
) -> str:
    """Return the text of all blocks but boilerplate and those without words, a line each."""
    source: cython.const[cython.uchar][::1] = text
    room: bytearray = bytearray(len(text) + blocks.shape[0])
    target: cython.uchar[::1] = room
    size: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    for at in range(blocks.shape[0]):
        if not table[at, 3] and table[at, 1] > table[at, 0]:
            if size:
                target[size] = _NEWLINE
                size += 1
            size = _write(source, begins[blocks[at, 1]], begins[blocks[at, 2]], target, size)
    return room[:size].decode("utf-8", "replace")


def contexts(
    plain: bytes,
    starts: cython.const[cython.int][:],
    stops: cython.const[cython.int][:],
    blocks: cython.const[cython.int][:, :],
    links: Sequence[tuple[Any, ...]],
    width: cython.Py_ssize_t,
) -> list[str]:
    """Return the words around each link: *width* on each side of its anchor, within its block.

    Words begin at *starts* and end at *stops*; a row of *blocks* begins with a block's first word
    and the one behind its last.
    """
    count: cython.Py_ssize_t = starts.shape[0]
    if not count:
        return [""] * len(links)
    first: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    block: cython.Py_ssize_t
    link: tuple
    anchor: tuple
    found: list[str] = []
    for each in links:
        link = cython.cast(tuple, each)
        anchor = cython.cast(tuple, link[1])
        block = link[3]
        first = anchor[0]
        stop = anchor[1]
        if not 0 <= block < blocks.shape[0]:
            raise IndexError(f"There is no block {block}.")
        first = max(cython.cast(cython.Py_ssize_t, blocks[block, 0]), first - width)
        stop = min(min(cython.cast(cython.Py_ssize_t, blocks[block, 1]), stop + width), count)
        found.append(shown(plain, starts[first], stops[stop - 1]) if first < stop else "")
    return found


@cython.cfunc
@cython.exceptval(-1)
def _write(
    source: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    target: cython.uchar[::1],
    size: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write a part of *source* to *target*, behind *size* bytes; return how many there are now."""
    begin: cython.Py_ssize_t = size
    spaces: cython.bint = False
    wide: cython.int
    byte: cython.int
    while at < end:
        byte = source[at]
        wide = 0
        if byte >= 0xC2 and byte <= 0xE3:
            wide = _wide_space(source, at, end)
        if byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31 or wide:
            spaces = size > begin
            at += wide if wide else 1
            continue
        at += 1
        if byte != 1:
            if spaces:
                target[size] = 32
                size += 1
                spaces = False
            target[size] = byte
            size += 1
    return size


@cython.cfunc
@cython.exceptval(check=False)
def _wide_space(
    source: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.int:
    """Return how many bytes a space beyond ASCII has that stands here; 0: there is none."""
    first: cython.int = source[at]
    second: cython.int = source[at + 1] if at + 1 < end else 0
    third: cython.int = source[at + 2] if at + 2 < end else 0
    if first == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0  # U+1680
    if first == 0xE2 and second == 0x80:  # U+2000 to U+200A, U+2028, U+2029, U+202F
        return 3 if 0x80 <= third <= 0x8A or 0xA8 <= third <= 0xA9 or third == 0xAF else 0
    if first == 0xE2:
        return 3 if second == 0x81 and third == 0x9F else 0  # U+205F
    return 3 if first == 0xE3 and second == 0x80 and third == 0x80 else 0  # U+3000
