"""Which blocks of a page tell what it is about.

Serves ``ddc.judge``. Blocks and links are tuples as in ``pages``.
"""

from __future__ import annotations

from typing import Any

import cython


def own_words(blocks: Any) -> int:
    """Return how many words stand outside of navigation."""
    words: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    for block in blocks:
        if not block[3]:
            start = block[1][0]
            stop = block[1][1]
            words += stop - start
    return words


def told(blocks: Any, links: Any, mere: cython.double, least: cython.Py_ssize_t) -> list[Any]:
    """Return the spans of what the page itself tells; lists of links speak of other pages.

    Links alone are blocks with a share of *mere* of their words in links. If fewer words than
    *least* are left without them, they are told as well; navigation never is.
    """
    linked = [0] * len(blocks)
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    count: cython.Py_ssize_t
    words: cython.Py_ssize_t = 0
    for link in links:
        start = link[1][0]
        stop = link[1][1]
        linked[link[3]] += stop - start
    main = []
    kept = []
    for block, count in zip(blocks, linked):  # noqa: B905 - as many as blocks
        if block[3]:
            continue
        span = block[1]
        start = span[0]
        stop = span[1]
        main.append(span)
        if count < mere * (stop - start):
            kept.append(span)
            words += stop - start
    return kept if words >= least else main
