"""Which links of a page stand together, and which words stand around them.

Serves ``tgraph.components``, which says what a key is (``term * 4 + component``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cython
import numpy as np

_MOST = 65_535


def heading_table(headings: Sequence[tuple[Any, ...]], main: Any) -> Any:
    """Return a row a heading: where it begins and ends, and the heading around it, -1 for none.

    Headings are tuples as in ``pages``. The last row is the *main* heading.
    """
    count: cython.Py_ssize_t = len(headings)
    table = np.empty((count + 1, 3), np.int32)
    rows: cython.int[:, ::1] = table
    levels: cython.int[::1] = np.empty(count, np.int32)
    at: cython.Py_ssize_t
    around: cython.int
    for at, each in enumerate(headings):
        heading = cython.cast(tuple, each)
        span = cython.cast(tuple, heading[1])
        levels[at] = heading[0]
        rows[at, 0], rows[at, 1] = span[0], span[1]
        around = at - 1
        while around >= 0 and levels[around] >= levels[at]:
            around = rows[around, 2]
        rows[at, 2] = around
    span = cython.cast(tuple, main)
    rows[count, 0], rows[count, 1], rows[count, 2] = span[0], span[1], -1
    return table


def grouped(
    blocks: cython.const[cython.int][:, :],
    links: Sequence[tuple[Any, ...]],
    headings: cython.const[cython.int][:, ::1],
) -> tuple[Any, list[list[int]], Any]:
    """Return which *links* are in the same paragraph or whole list, and under one heading.

    That is begin, end and heading of each place, the links in it, and the place of each link.
    *blocks* are a page's table, links are tuples as in ``pages``. A list whose items have headings
    is no whole: it would count once for each of them.
    """
    size: cython.Py_ssize_t = len(links)
    table = np.empty((size, 3), np.int32)
    rows: cython.int[:, ::1] = table
    of_link = np.empty(size, np.intp)
    place_of: cython.Py_ssize_t[::1] = of_link
    of_block: cython.int[::1] = np.full(blocks.shape[0], -1, np.int32)
    known: dict[tuple[int, int, int], int] = {}
    inside: list[list[int]] = []
    at: cython.Py_ssize_t
    block: cython.Py_ssize_t
    whole: cython.Py_ssize_t
    heading: cython.Py_ssize_t
    place: cython.Py_ssize_t
    for at, each in enumerate(links):
        link = cython.cast(tuple, each)
        block = link[3]
        if not 0 <= block < blocks.shape[0]:
            raise IndexError(block)
        if of_block[block] < 0:
            whole = 4 if blocks[block, 5] > blocks[block, 4] else 0
            heading = blocks[block, 2]
            if (
                0 <= heading < headings.shape[0] - 1
                and headings[heading, 0] >= blocks[block, whole]
            ):
                whole = 0
            name = (int(blocks[block, whole]), int(blocks[block, whole + 1]), int(heading))
            place = known.setdefault(name, len(inside))
            if place == len(inside):
                inside.append([])
                rows[place, 0], rows[place, 1], rows[place, 2] = name
            of_block[block] = place
        place = of_block[block]
        place_of[at] = place
        cython.cast(list, inside[place]).append(at)
    return table[: len(inside)], inside, of_link


def counted(
    terms: cython.const[cython.int][::1],
    data: cython.const[cython.int][:, :],
    under: cython.const[cython.int][:],
    headings: cython.const[cython.int][:, ::1],
) -> tuple[Any, Any, Any]:
    """Return keys, counts and bounds of texts: the keys of each in order, one text after another.

    Texts are parts of *terms*: begin and end of the *data* of each, and of the headings that it is
    *under*, which are rows of ``heading_table``. Stop words (-1) do not count.
    """
    texts: cython.Py_ssize_t = data.shape[0]
    count: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    owner: cython.longlong
    codes: cython.longlong[::1] = np.empty(0, np.int64)
    for owner in range(texts):
        count = _put(terms, data, under[owner], headings, owner, codes, count)
    made = np.empty(count, np.int64)
    codes = made
    count = 0
    for owner in range(texts):
        count = _put(terms, data, under[owner], headings, owner, codes, count)
    made.sort()
    distinct: cython.Py_ssize_t = 0
    code: cython.longlong = -1
    for at in range(count):
        distinct += codes[at] != code
        code = codes[at]
    all_keys = np.empty(distinct, np.int32)
    all_counts = np.empty(distinct, np.uint16)
    all_bounds = np.zeros(texts + 1, np.int32)
    keys: cython.int[::1] = all_keys
    counts: cython.ushort[::1] = all_counts
    bounds: cython.int[::1] = all_bounds
    most: cython.int = _MOST
    distinct = -1
    code = -1
    for at in range(count):
        if codes[at] != code:
            code = codes[at]
            distinct += 1
            keys[distinct] = code & 0x7FFFFFFF
            counts[distinct] = 1
            bounds[(code >> 32) + 1] += 1
        elif counts[distinct] < most:
            counts[distinct] += 1
    for at in range(texts):
        bounds[at + 1] += bounds[at]
    return all_keys, all_counts, all_bounds


@cython.cfunc
@cython.exceptval(check=False)
def _put(
    terms: cython.const[cython.int][::1],
    data: cython.const[cython.int][:, :],
    heading: cython.int,
    headings: cython.const[cython.int][:, ::1],
    owner: cython.longlong,
    codes: cython.longlong[::1],
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write the words of a text behind *count* others, if there is room; return how many are there.

    What is in the main heading too is left out of the other headings.
    """
    last: cython.Py_ssize_t = headings.shape[0] - 1
    component: cython.longlong = 0
    first: cython.longlong = owner << 32
    count = _put_span(terms, data[owner, 0], data[owner, 1], first + 3, codes, count)
    count = _put_span(terms, headings[last, 0], headings[last, 1], first + 2, codes, count)
    while 0 <= heading < last:
        if headings[heading, 0] != headings[last, 0] or headings[heading, 1] != headings[last, 1]:
            count = _put_span(
                terms, headings[heading, 0], headings[heading, 1], first + component, codes, count
            )
        component = 1
        heading = headings[heading, 2]
    return count


@cython.cfunc
@cython.exceptval(check=False)
def _put_span(
    terms: cython.const[cython.int][::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    code: cython.longlong,
    codes: cython.longlong[::1],
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    at: cython.Py_ssize_t
    room: cython.Py_ssize_t = codes.shape[0]
    for at in range(max(0, start), min(stop, terms.shape[0])):
        if terms[at] >= 0:
            if count < room:
                codes[count] = code + (cython.cast(cython.longlong, terms[at]) << 2)
            count += 1
    return count
