"""Counts what became of links, by their kinds.

Serves ``strategies.link_features``, whose kinds these are, and ``strategies.rates``, whose counts.
"""

from __future__ import annotations

from typing import Any

import cython

from treasure.core.features import PLACES, WITNESSES


def count(
    row: cython.Py_ssize_t,
    kinds: cython.int[:, ::1],
    tallies: tuple[Any, ...],
    relevance: cython.float,
    alive: cython.bint,
):
    """Count what became of the link at *row* for each of its kinds, once each."""
    counts: cython.float[:, ::1] = tallies[0]
    starts: cython.longlong[::1] = tallies[1]
    exits: cython.float[:, ::1] = tallies[2]
    total: cython.float[:, ::1] = tallies[4]
    pages: cython.Py_ssize_t = PLACES + WITNESSES
    lists: cython.Py_ssize_t = pages + WITNESSES
    leaving: cython.bint = kinds[row, 1] >= 0
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    kind: cython.Py_ssize_t
    _count(total, 0, relevance, alive)
    if leaving:
        _count(total, 1, relevance, alive)
    for j in range(kinds.shape[1]):
        kind = kinds[row, j]
        for k in range(j):
            if kinds[row, k] == kind and starts[k] == starts[j]:
                kind = -1  # another witness has told the same
                break
        if kind >= 0:
            _count(counts, starts[j] + kind, relevance, alive)
            if leaving and pages <= j < lists:
                _count(exits, kind, relevance, alive)


def count_known(outcomes: list[tuple[int, float]], counts: cython.float[:, ::1]):
    """Count pages that are known to be alive: kind and relevance of each."""
    kind: cython.Py_ssize_t
    relevance: cython.float
    for kind, relevance in outcomes:
        _count(counts, kind, relevance, True)


@cython.cfunc
@cython.exceptval(check=False)
def _count(
    counts: cython.float[:, ::1],
    kind: cython.Py_ssize_t,
    relevance: cython.float,
    alive: cython.bint,
) -> cython.void:
    """Count a fetch, a page and its relevance (``strategies.rates``)."""
    counts[kind, 0] += 1.0
    if alive:
        counts[kind, 1] += 1.0
        counts[kind, 2] += relevance
