"""The blocks and links of a page as arrays, for whoever goes through all of them.

Serves ``extract``, which has what ``walk`` found, and ``pages``, whose named tuples come in here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cython
import numpy as np


def block_table(blocks: Sequence[tuple[Any, ...]]) -> Any:
    """Return a row a block: begin, end, heading, boilerplate, and begin and end of the whole."""
    table = np.empty((len(blocks), 6), np.int32)
    rows: cython.int[:, :] = table
    at: cython.Py_ssize_t
    block: tuple
    for at, each in enumerate(blocks):
        block = cython.cast(tuple, each)
        _write_span(rows, at, 0, block[1])
        rows[at, 2] = block[2]
        rows[at, 3] = block[3]
        _write_span(rows, at, 4, block[4])
    return table


def counted_blocks(
    blocks: cython.const[cython.int][:, ::1],
    lists: cython.const[cython.int][:, ::1],
    words: cython.const[cython.int][::1],
    most: cython.double,
) -> Any:
    """Return the same of the blocks and lists that ``walk`` found.

    *words* stand before each of its places. Boilerplate that is more than the share *most* of the
    page is none.
    """
    count: cython.Py_ssize_t = blocks.shape[0]
    table = np.empty((count, 6), np.int32)
    rows: cython.int[:, ::1] = table
    at: cython.Py_ssize_t
    last: cython.Py_ssize_t
    navigation: cython.Py_ssize_t = 0
    for at in range(count):
        rows[at, 0] = words[blocks[at, 1]]
        rows[at, 1] = words[blocks[at, 2]]
        rows[at, 2] = blocks[at, 3]
        if blocks[at, 4]:
            navigation += rows[at, 1] - rows[at, 0]
    trusted: cython.bint = navigation <= most * (words[words.shape[0] - 1] - words[0])
    for at in range(count):
        rows[at, 3] = trusted and blocks[at, 4]
        if blocks[at, 5] >= 0:
            last = lists[blocks[at, 5], 1]
            rows[at, 4] = words[lists[blocks[at, 5], 0]]
            rows[at, 5] = words[last if last >= 0 else words.shape[0] - 1]
        else:
            rows[at, 4], rows[at, 5] = rows[at, 0], rows[at, 1]
    return table


def counted_links(
    links: list,
    words: cython.const[cython.int][::1],
    link: type,
    span: type,
    nofollow: cython.bint,
    key_of: Callable[[str], int],
) -> list[Any]:
    """Return the links that ``walk`` found as named tuples of the types *link* and *span*.

    *words* stand before each of its places; *key_of* tells the key of an address.
    """
    new = tuple.__new__  # half the time of calling the class, and a page has hundreds
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    found = []
    for url, first, last, shown, block, path, own in links:
        anchor = new(span, (words[first], words[last]))
        follow_not = own or bool(nofollow)
        found.append(new(link, (url, anchor, shown, block, path, follow_not, key_of(url))))
    return found


def main_terms(
    terms: cython.const[cython.int][:],
    title: cython.Py_ssize_t,
    blocks: cython.const[cython.int][:, :],
) -> Any:
    """Return the terms of the title, which come first, and of all blocks but boilerplate.

    Terms below 0 are left out.
    """
    size: cython.Py_ssize_t = terms.shape[0]
    count: cython.Py_ssize_t = 0
    block: cython.Py_ssize_t
    at: cython.Py_ssize_t
    most: cython.Py_ssize_t = title
    for block in range(blocks.shape[0]):
        if not blocks[block, 3]:
            most += blocks[block, 1] - blocks[block, 0]
    found = np.empty(most, np.int32)
    kept: cython.int[:] = found
    for at in range(min(title, size)):
        if terms[at] >= 0:
            kept[count] = terms[at]
            count += 1
    for block in range(blocks.shape[0]):
        if not blocks[block, 3]:
            for at in range(blocks[block, 0], min(blocks[block, 1], size)):
                if terms[at] >= 0:
                    kept[count] = terms[at]
                    count += 1
    return found[:count]


@cython.cfunc
def _write_span(
    rows: cython.int[:, :], at: cython.Py_ssize_t, column: cython.Py_ssize_t, span: object
) -> object:
    ends: tuple = cython.cast(tuple, span)
    rows[at, column] = ends[0]
    rows[at, column + 1] = ends[1]
