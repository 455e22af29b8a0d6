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
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.tgraph.components import DC, Components

GONE = -1e6
"""Added to nodes that must not match: dead or removed."""

LONG = 512
"""Posting lists of this length and more are read where they are, shorter ones copied together."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
_Postings = tuple[Ints, Ints, Floats]
"""Where each list begins, nodes, weights."""


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
        asked = _Asked.of(queries, weights)
        headings, data = self._look_up(asked, headings=True), self._look_up(asked, headings=False)
        divisors = _divisors(weights)[asked.masks[:, None] | self._mask]
        tops = np.empty((len(queries), len(self._starts)))
        base, sums = self.bias, np.empty(len(self.rows))
        for number, top in enumerate(tops):
            # Links come in reading order, so equal headings come one after the other.
            if not number or asked.headings[number] != asked.headings[number - 1]:
                base = self.bias.copy()
                headings.add(number, base)
            np.copyto(sums, base)
            data.add(number, sums)
            np.maximum.reduceat(sums, self._starts, out=top)
            top /= divisors[number]
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

    def _look_up(self, asked: _Asked, *, headings: bool) -> _Found:
        """Return the postings of the queries' keys, of the headings or of the data."""
        chosen = np.flatnonzero(((asked.keys & 3) != DC) == headings)
        keys = asked.keys[chosen]
        rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = self._keys[rows] == keys
        rows, chosen = rows[known].astype(np.int32), chosen[known]
        sizes = self._offsets[rows + 1] - self._offsets[rows]
        short = sizes < LONG
        return _Found(
            self._gathered(rows[short], sizes[short]),
            asked.values[chosen[short]],
            asked.bounds(chosen[short]),
            (self._offsets, self._nodes, self._weights),
            rows[~short].tolist(),
            asked.values[chosen[~short]],
            asked.bounds(chosen[~short]),
        )

    def _gathered(self, rows: Ints, sizes: Ints) -> _Postings:
        """Return the postings of *rows*, one after the other."""
        offsets = np.append(np.int32(0), np.cumsum(sizes, dtype=np.int32))
        nodes, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])
        _loops().csr_row_index(
            len(rows), rows, self._offsets, self._nodes, self._weights, nodes, weights
        )
        return offsets, nodes, weights


class _Asked(NamedTuple):
    """Queries as one: each key with its weighted tf / norm and the query it belongs to."""

    keys: Ints
    values: Floats
    owners: NDArray[np.int64]
    masks: NDArray[np.int64]
    headings: list[bytes]
    """Equal for queries with equal headings."""

    @classmethod
    def of(cls, queries: Sequence[Components], weights: Floats) -> _Asked:
        keys = np.concatenate([query.keys for query in queries])
        counts = np.concatenate([query.counts for query in queries]).astype(np.float64)
        owners = np.repeat(np.arange(len(queries)), [len(query.keys) for query in queries])
        part = owners * 4 + (keys & 3)
        squares = np.bincount(part, weights=counts * counts, minlength=4 * len(queries))
        values = counts / np.sqrt(squares)[part] * weights[keys & 3]
        masks = (squares.reshape(-1, 4) > 0) @ (1 << np.arange(4))
        return cls(keys, values, owners, masks, [_headings(query) for query in queries])

    def bounds(self, chosen: NDArray[np.intp]) -> list[int]:
        """Return where the keys of each query begin among the *chosen* ones, and where all end."""
        bounds: list[int] = np.searchsorted(
            self.owners[chosen], np.arange(len(self.masks) + 1)
        ).tolist()
        return bounds


def _headings(query: Components) -> bytes:
    chosen = (query.keys & 3) != DC
    return bytes(query.keys[chosen].tobytes() + query.counts[chosen].tobytes())


class _Found(NamedTuple):
    """The postings of many queries: short lists are copied side by side, long ones left in place.

    One call adds all short lists of a query; a long list is worth a call of its own.
    """

    short: _Postings
    short_values: Floats
    short_bounds: list[int]
    long: _Postings
    long_rows: list[int]
    long_values: Floats
    long_bounds: list[int]

    def add(self, number: int, sums: Floats) -> None:
        """Add to *sums* what query *number* has in common with each node."""
        start, stop = self.short_bounds[number], self.short_bounds[number + 1]
        if start < stop:
            offsets, nodes, weights = self.short
            values = self.short_values[start:stop]
            _add(offsets[start : stop + 1], nodes, weights, values, sums)
        offsets, nodes, weights = self.long
        for at in range(self.long_bounds[number], self.long_bounds[number + 1]):
            row = self.long_rows[at]
            _add(offsets[row : row + 2], nodes, weights, self.long_values[at : at + 1], sums)


def _add(offsets: Ints, nodes: Ints, weights: Floats, values: Floats, sums: Floats) -> None:
    """Add posting lists to *sums*, each times its value."""
    _loops().csc_matvec(len(sums), len(values), offsets, nodes, weights, values, sums)


@cache
def _loops() -> Any:
    """Return SciPy's compiled loops; not imported before there is a graph to match."""
    from scipy.sparse import _sparsetools

    return _sparsetools


def _divisors(weights: Floats) -> Floats:
    """Return the divisor of the mean for each set of components with words on either side."""
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    sums = (bits * weights).sum(axis=1).astype(np.float64)
    return np.where(sums > 0, sums, np.float64(1))
