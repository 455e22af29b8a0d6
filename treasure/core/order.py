"""Which waiting links are the best, and which have another score than the frontier knows.

Serves ``strategies.queue_order``, which says why that matters.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np


def best(
    rows: cython.const[cython.longlong][:],
    score: cython.const[cython.double][:],
    sent: cython.const[cython.double][:],
    count: cython.Py_ssize_t,
) -> tuple[Any, Any]:
    """Return the *count* best of the links at *rows*, in no order, and how good each is.

    A link is as good as its score, or what was sent where that is better. One look at each: the
    best so far are a heap, the worst of them on top.
    """
    found = np.empty(count, np.int64)
    values = np.empty(count, np.float64)
    row_of: cython.longlong[::1] = found
    heap: cython.double[::1] = values
    kept: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    value: cython.double
    for i in range(rows.shape[0]):
        row = rows[i]
        value = max(score[row], sent[row])
        if kept < count:
            _rise(heap, row_of, kept, value, row)
            kept += 1
        elif value > heap[0]:
            _sink(heap, row_of, kept, value, row)
    return found[:kept], values[:kept]


@cython.cfunc
@cython.exceptval(check=False)
def _rise(
    heap: cython.double[::1],
    rows: cython.longlong[::1],
    at: cython.Py_ssize_t,
    value: cython.double,
    row: cython.longlong,
) -> cython.void:
    """Put a value where it belongs, beginning at the free place *at* and going up."""
    parent: cython.Py_ssize_t
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] <= value:
            break
        heap[at], rows[at] = heap[parent], rows[parent]
        at = parent
    heap[at], rows[at] = value, row


@cython.cfunc
@cython.exceptval(check=False)
def _sink(
    heap: cython.double[::1],
    rows: cython.longlong[::1],
    size: cython.Py_ssize_t,
    value: cython.double,
    row: cython.longlong,
) -> cython.void:
    """Put a value where it belongs, beginning at the top, whose value goes."""
    at: cython.Py_ssize_t = 0
    child: cython.Py_ssize_t = 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at], rows[at] = heap[child], rows[child]
        at, child = child, 2 * child + 1
    heap[at], rows[at] = value, row


def settle(
    rows: cython.longlong[:], score: cython.double[:], sent: cython.double[:], share: cython.double
) -> list[int]:
    """Return the rows whose score is another than was sent by more than a *share*: sent it is."""
    told: list = []
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        row = rows[i]
        if abs(score[row] - sent[row]) > share * max(score[row], sent[row]):
            sent[row] = score[row]
            told.append(row)
    return told
