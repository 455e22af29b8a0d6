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
    at: cython.Py_ssize_t = 0
    block: tuple
    for each in blocks:
        block = cython.cast(tuple, each)
        _write_span(rows, at, 0, block[1])
        rows[at, 2] = block[2]
        rows[at, 3] = block[3]
        _write_span(rows, at, 4, block[4])
        at += 1
    return table


def link_table(links: Sequence[tuple[Any, ...]]) -> Any:
    """Return a row a link: begin and end of its anchor, and its block."""
    table = np.empty((len(links), 3), np.int32)
    rows: cython.int[:, :] = table
    at: cython.Py_ssize_t = 0
    link: tuple
    for each in links:
        link = cython.cast(tuple, each)
        _write_span(rows, at, 0, link[1])
        rows[at, 2] = link[3]
        at += 1
    return table


@cython.cfunc
def _write_span(
    rows: cython.int[:, :], at: cython.Py_ssize_t, column: cython.Py_ssize_t, span: object
) -> object:
    ends: tuple = cython.cast(tuple, span)
    rows[at, column] = ends[0]
    rows[at, column + 1] = ends[1]
