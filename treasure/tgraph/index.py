"""An inverted index over nodes: all links of a page against all nodes in one step.

A posting is (node, tf / norm), kept by key (term and component). A link's OSM with every node it
shares a word with is the sum of its postings; nodes it shares no word with are never looked at one
by one. Two tricks keep the rest cheap:

- Nodes lie in the order of (level, which components are empty). The divisor of the OSM mean is the
  same all over such a group, so only each group's largest sum has to be divided.
- Links of a page share headings, often all of ISH, SH and MH: that sum is made once and copied.

The two loops in C are SciPy's own (gather rows, add a sparse product to a dense vector). They sit
below the public API, whose checks cost ten times the work here. A compiled loop by numba measured
no better on real pages, at 0.5 s and 116 MB to start; see benchmarks/tgraph.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.tgraph.components import DC, Components

GONE = -1e6
"""Added to nodes that must not match: dead or removed."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class Best(NamedTuple):
    """The best a set of queries found; rows are queries."""

    osm: Floats
    """Best OSM per level: column 0 is level 1."""
    row: NDArray[np.int64]
    """Row of the node with the best OSM of all, -1 where no node shares a word."""

    @classmethod
    def none(cls, queries: int, levels: int) -> Best:
        """Return the answer of an empty index."""
        return cls(np.zeros((queries, levels), np.float64), np.full(queries, -1, np.int64))

    def better(self, other: Best) -> Best:
        """Return the better of two answers, query by query; this one where they are equal."""
        wins = other.osm.max(axis=1, initial=0) > self.osm.max(axis=1, initial=0)
        return Best(np.maximum(self.osm, other.osm), np.where(wins, other.row, self.row))


class Index:
    """Postings of a fixed set of nodes; nodes can only be switched off and on."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        levels: NDArray[np.int8],
        masks: NDArray[np.uint8],
        sizes: NDArray[np.int64],
        keys: Ints,
        counts: NDArray[np.uint16],
    ) -> None:
        """Build from *rows* (the caller's names of nodes) in order of (level, mask).

        *sizes* says how many of *keys* and *counts* belong to each node.
        """
        self.rows = rows
        self.bias = np.zeros(len(rows), np.float64)
        slots = np.repeat(np.arange(len(rows), dtype=np.int32), sizes)
        part = slots * np.int64(4) + (keys & 3)
        squares = np.bincount(part, weights=counts.astype(np.float64) ** 2, minlength=4 * len(rows))
        weights = (counts / np.sqrt(squares)[part]).astype(np.float64)
        order = np.argsort(keys, kind="stable")
        self._nodes: Ints = slots[order]
        self._weights: Floats = weights[order]
        self._keys, starts = np.unique(keys[order], return_index=True)
        self._offsets = np.append(starts, len(keys)).astype(np.int32)
        group = levels.astype(np.int16) * 16 + masks
        changes = np.flatnonzero(np.diff(group, prepend=-1))
        self._starts: NDArray[np.intp] = changes
        self._stops = np.append(changes[1:], len(rows))
        self._level = group[changes] >> 4
        self._mask = group[changes] & 15

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory of the postings."""
        parts = (self.rows, self.bias, self._nodes, self._weights, self._keys, self._offsets)
        return sum(part.nbytes for part in parts)

    def best(self, queries: Sequence[Components], weights: Floats, levels: int) -> Best:
        """Return what matches each query best, with OSM as the *weights*-mean of the components."""
        answer = Best.none(len(queries), levels)
        if not len(self.rows) or not queries:
            return answer
        divisors = _divisors(weights)
        tops = np.empty((len(queries), len(self._starts)), np.float64)
        sums = np.empty(len(self.rows), np.float64)
        heads: dict[bytes, Floats] = {}
        for number, (query, rows, values) in enumerate(self._looked_up(queries, weights)):
            data = (self._keys[rows] & 3) == DC
            head = rows[~data].tobytes() + values[~data].tobytes()
            if head not in heads:
                heads[head] = self.bias.copy()
                self._add(rows[~data], values[~data], heads[head])
            np.copyto(sums, heads[head])
            self._add(rows[data], values[data], sums)
            top = np.maximum.reduceat(sums, self._starts)
            top /= divisors[query.mask | self._mask]
            tops[number] = top
            group = int(top.argmax())
            if top[group] > 0:
                start = self._starts[group]
                slot = start + int(sums[start : self._stops[group]].argmax())
                answer.row[number] = self.rows[slot]
        np.maximum(tops, 0, out=tops)
        for group, level in enumerate(self._level.tolist()):
            column = answer.osm[:, level - 1]
            np.maximum(column, tops[:, group], out=column)
        return answer

    def _looked_up(
        self, queries: Sequence[Components], weights: Floats
    ) -> list[tuple[Components, Ints, Floats]]:
        """Return each query with the rows of its known keys and its own tf / norm."""
        sizes = np.array([len(query.keys) for query in queries])
        keys = np.concatenate([query.keys for query in queries])
        counts = np.concatenate([query.counts for query in queries]).astype(np.float64)
        owner = np.repeat(np.arange(len(queries)), sizes) * 4 + (keys & 3)
        squares = np.bincount(owner, weights=counts**2, minlength=4 * len(queries))
        values = (counts / np.sqrt(squares)[owner] * weights[keys & 3]).astype(np.float64)
        rows = np.searchsorted(self._keys, keys).astype(np.int32)
        known = self._keys[np.minimum(rows, len(self._keys) - 1)] == keys
        rows, values = rows[known], values[known]
        stops = np.cumsum(np.bincount(owner[known] >> 2, minlength=len(queries))).tolist()
        starts = [0, *stops[:-1]]
        return [
            (query, rows[start:stop], values[start:stop])
            for query, start, stop in zip(queries, starts, stops, strict=True)
        ]

    def _add(self, rows: Ints, values: Floats, sums: Floats) -> None:
        """Add to *sums* the postings of *rows*, each times its value."""
        from scipy.sparse import _sparsetools as loops

        if not len(rows):
            return
        ends = np.zeros(len(rows) + 1, np.int32)
        np.cumsum(self._offsets[rows + 1] - self._offsets[rows], out=ends[1:])
        nodes, weights = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float64)
        loops.csr_row_index(
            len(rows), rows, self._offsets, self._nodes, self._weights, nodes, weights
        )
        loops.csc_matvec(len(sums), len(rows), ends, nodes, weights, values, sums)


def _divisors(weights: Floats) -> Floats:
    """Return the divisor of the mean for each set of components with words on either side."""
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    sums = (bits * weights).sum(axis=1).astype(np.float64)
    return np.where(sums > 0, sums, np.float64(1))
