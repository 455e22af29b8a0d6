"""Cuts a text into words and looks up the number of each, in one pass over its bytes.

Serves ``word_table``, which says what the table is.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

MOST_BYTES = 24
"""Longer words have no hash: they are no words, or nobody's."""
SHIFT = 44
"""The 20 highest bits of a hash choose the slot."""
_MASK = (1 << 64) - 1


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
    found: cython.ulonglong = 14695981039346656037
    for i in range(len(word)):
        found = _product(found ^ data[i], 0x100000001B3)
    return _stirred(found)


@cython.cfunc
@cython.exceptval(check=False)
def _stirred(word_hash: cython.ulonglong) -> cython.ulonglong:
    return _product(word_hash ^ (word_hash >> 32), 0x9E3779B97F4A7C15)


def cut(
    text: bytes,
    mark: cython.int,
    hashes: cython.ulonglong[:],
    numbers: cython.int[:],
) -> tuple[Any, Any, Any, list[int], list[int]]:
    """Return number, begin and end of each word of *text*: its runs of bytes above a space.

    Also, before which word each *mark* stands, and which words the table does not have.
    """
    data: cython.const[cython.uchar][:] = text
    size: cython.Py_ssize_t = len(text)
    found, begins, ends = np.empty((3, size // 2 + 1), np.int32)
    number_of: cython.int[:] = found
    begin_of: cython.int[:] = begins
    end_of: cython.int[:] = ends
    marks: list[int] = []
    missing: list[int] = []
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    byte: cython.int
    word: cython.ulonglong
    most: cython.Py_ssize_t = MOST_BYTES
    shift: cython.int = SHIFT
    while i < size:
        byte = data[i]
        if byte <= 32:
            if byte == mark:
                marks.append(count)
            i += 1
            continue
        begin = i
        word = 14695981039346656037
        while i < size and data[i] > 32:
            word = _product(word ^ data[i], 0x100000001B3)
            i += 1
        word = _stirred(word) if i - begin <= most else 0
        slot = word >> shift
        if word and hashes[slot] == word:
            number_of[count] = numbers[slot]
        elif word and hashes[slot + 1] == word:
            number_of[count] = numbers[slot + 1]
        else:
            missing.append(count)
        begin_of[count] = begin
        end_of[count] = i
        count += 1
    return found[:count], begins[:count], ends[:count], marks, missing
