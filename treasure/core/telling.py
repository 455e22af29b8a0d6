"""Which blocks of a page tell what it is about.

Serves ``ddc.judge``. Blocks are the rows of a page's ``block_table``, links tuples as in ``pages``.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np


def own_words(blocks: cython.const[cython.int][:, :]) -> int:
    """Return how many words stand outside of navigation."""
    words: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    for at in range(blocks.shape[0]):
        if not blocks[at, 3]:
            words += blocks[at, 1] - blocks[at, 0]
    return words


def told(
    blocks: cython.const[cython.int][:, :],
    links: Any,
    mere: cython.double,
    least: cython.Py_ssize_t,
) -> list[tuple[int, int]]:
    """Return the spans of what the page itself tells; lists of links speak of other pages.

    Links alone are blocks with a share of *mere* of their words in links. If fewer words than
    *least* are left without them, they are told as well; navigation never is.
    """
    count: cython.Py_ssize_t = blocks.shape[0]
    words_of: cython.int[::1] = np.zeros(count, np.int32)
    size: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    at: cython.Py_ssize_t
    words: cython.Py_ssize_t = 0
    for each in links:
        link = cython.cast(tuple, each)
        at = link[3]
        if 0 <= at < count:
            anchor = cython.cast(tuple, link[1])
            start, stop = anchor[0], anchor[1]
            words_of[at] += stop - start
    main = []
    kept = []
    for at in range(count):
        if not blocks[at, 3]:
            start, stop = blocks[at, 0], blocks[at, 1]
            size = stop - start
            span = (start, stop)
            main.append(span)
            if words_of[at] < mere * size:
                kept.append(span)
                words += size
    return kept if words >= least else main
