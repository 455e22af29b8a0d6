"""Which waiting links are the best, and which have another score than the frontier knows.

Serves ``strategies.queue_order``, which says why that matters.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np


def best(
    score: cython.const[cython.double][::1],
    sent: cython.const[cython.double][::1],
    count: cython.Py_ssize_t,
    above: cython.double,
) -> tuple[Any, Any]:
    """Return the rows of the *count* best links, in no order, and how good each is.

    A link is as good as its score, or what was sent where that is better; those that are no better
    than *above* are left out. One look at each row: the best so far are a heap, the worst on top.
    """
    rows = np.empty(count, np.int64)
    values = np.empty(count, np.float64)
    row_of: cython.longlong[::1] = rows
    heap: cython.double[::1] = values
    kept: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    value: cython.double
    for at in range(score.shape[0]):
        value = max(score[at], sent[at])
        if value <= above:
            continue
        if kept < count:
            kept += 1
            _rise(heap, row_of, kept - 1, value, at)
        else:
            _sink(heap, row_of, kept, value, at)
        if kept == count:
            above = heap[0]
    return rows[:kept], values[:kept]


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
