"""The blocks and links of a page as arrays, for whoever goes through all of them.

Serves ``pages``, whose named tuples come in here.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def link_table(links: Sequence[tuple[Any, ...]]) -> Any:
    """Return a row a link: begin and end of its anchor, and its block."""
    table = np.empty((len(links), 3), np.int32)
    rows: cython.int[:, :] = table
    at: cython.Py_ssize_t
    link: tuple
    for at, each in enumerate(links):
        link = cython.cast(tuple, each)
        _write_span(rows, at, 0, link[1])
        rows[at, 2] = link[3]
    return table


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
