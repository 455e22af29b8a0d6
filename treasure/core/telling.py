"""Which blocks of a page tell what it is about.

Serves ``ddc.judge``. Blocks and links are tuples as in ``pages``.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np


@cython.cfunc
@cython.exceptval(check=False)
def _size(span: tuple) -> cython.Py_ssize_t:
    """Return how many words a span has."""
    start: cython.Py_ssize_t = span[0]
    stop: cython.Py_ssize_t = span[1]
    return stop - start


def own_words(blocks: Any) -> int:
    """Return how many words stand outside of navigation."""
    words: cython.Py_ssize_t = 0
    for each in blocks:
        block = cython.cast(tuple, each)
        if not block[3]:
            words += _size(cython.cast(tuple, block[1]))
    return words


def told(blocks: Any, links: Any, mere: cython.double, least: cython.Py_ssize_t) -> list[Any]:
    """Return the spans of what the page itself tells; lists of links speak of other pages.

    Links alone are blocks with a share of *mere* of their words in links. If fewer words than
    *least* are left without them, they are told as well; navigation never is.
    """
    count: cython.Py_ssize_t = len(blocks)
    linked = np.zeros(count, np.int32)
    words_of: cython.int[:] = linked
    size: cython.Py_ssize_t
    at: cython.Py_ssize_t
    words: cython.Py_ssize_t = 0
    for each in links:
        link = cython.cast(tuple, each)
        at = link[3]
        if 0 <= at < count:
            words_of[at] += _size(cython.cast(tuple, link[1]))
    main = []
    kept = []
    for at, each in enumerate(blocks):
        block = cython.cast(tuple, each)
        if not block[3]:
            span = cython.cast(tuple, block[1])
            size = _size(span)
            main.append(span)
            if words_of[at] < mere * size:
                kept.append(span)
                words += size
    return kept if words >= least else main
