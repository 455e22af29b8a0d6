"""Cuts a text into words and looks up the number of each.

Serves ``word_table``, which says what the table is.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

COMPILED = bool(cython.compiled)
"""Whether the core runs as machine code."""
MOST_BYTES = 24
"""Longer words have no hash: they are no words, or nobody's."""
SHIFT = 44
"""The 20 highest bits of a hash choose the slot."""
_MASK = (1 << 64) - 1
_OFFSET = cython.declare(cython.ulonglong, 14695981039346656037)
_PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
_ODD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)


@cython.cfunc
@cython.exceptval(check=False)
def _product(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """Return the lower 64 bits of the product."""
    return a * b if cython.compiled else (a * b) & _MASK


def hash_of(word: bytes) -> int:
    """Return the hash of a word (FNV-1a, its bits stirred once more); 0 if it has none."""
    if len(word) > MOST_BYTES:
        return 0
    data: cython.const[cython.uchar][:] = word
    i: cython.Py_ssize_t
    found: cython.ulonglong = _OFFSET
    for i in range(len(word)):
        found = _product(found ^ data[i], _PRIME)
    return _stirred(found)


@cython.cfunc
@cython.exceptval(check=False)
def _stirred(word_hash: cython.ulonglong) -> cython.ulonglong:
    return _product(word_hash ^ (word_hash >> 32), _ODD)


def keep(table: cython.ulonglong[:, :], word: bytes, number: cython.longlong) -> bool:
    """Write down the number of a word where there is room; tell whether there was.

    Number before hash: whoever reads meanwhile looks for the hash first.
    """
    hashed: cython.ulonglong = hash_of(word)
    slot: cython.Py_ssize_t = hashed >> SHIFT
    if not hashed or table[slot, 0] == hashed:  # it may stand twice in a text
        return False
    if table[slot, 0]:
        slot += 1
        if table[slot, 0]:
            return False
    table[slot, 1] = number + 1
    table[slot, 0] = hashed
    return True


def cut(
    text: bytes, mark: cython.int, table: cython.ulonglong[:, ::1]
) -> tuple[Any, Any, Any, Any, list[int]]:
    """Return number, begin and end of each word of *text*: its runs of bytes above a space.

    Also, how many words stand before each *mark*, and which words the table does not have. First
    all words are hashed, then all are looked for: so the machine waits for many slots at a time.
    """
    data: cython.const[cython.uchar][::1] = text
    size: cython.Py_ssize_t = len(text)
    found, begins, ends = np.empty((3, size // 2 + 1), np.int32)
    marks = np.empty(text.count(mark), np.int32)
    number_of: cython.int[::1] = found
    begin_of: cython.int[::1] = begins
    end_of: cython.int[::1] = ends
    before: cython.int[::1] = marks
    hash_of_: cython.ulonglong[::1] = np.empty(size // 2 + 1, np.uint64)
    mark_count: cython.Py_ssize_t = 0
    missing: list[int] = []
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    byte: cython.int
    word: cython.ulonglong
    most: cython.Py_ssize_t = MOST_BYTES
    while i < size:
        byte = data[i]
        if byte <= 32:
            if byte == mark:
                before[mark_count] = count
                mark_count += 1
            i += 1
            continue
        begin = i
        word = _OFFSET
        while i < size and data[i] > 32:
            word = _product(word ^ data[i], _PRIME)
            i += 1
        hash_of_[count] = _stirred(word) if i - begin <= most else 0
        begin_of[count] = begin
        end_of[count] = i
        count += 1
    shift: cython.int = SHIFT
    for i in range(count):
        word = hash_of_[i]
        slot = word >> shift
        if table[slot, 0] != word:
            slot += 1
            if table[slot, 0] != word:
                missing.append(i)
                continue
        number_of[i] = cython.cast(cython.int, table[slot, 1]) - 1
    return found[:count], begins[:count], ends[:count], marks, missing
