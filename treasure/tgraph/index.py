"""An inverted index over nodes: all links of a page against all nodes in one step.

A posting is (node, tf / norm), kept by key (term and component). A link's OSM with every node it
shares a word with is the sum of its postings; nodes it shares no word with are never looked at one
by one. Two tricks keep the rest cheap:

- Nodes lie in the order of (level, which components are empty). The divisor of the OSM mean is the
  same all over such a group, so only each group's largest sum has to be divided.
- Links of a page share headings, often all of ISH, SH and MH: that sum is made once and copied.

As many links as stay in the processor's cache are compared with one call each of NumPy's.

The two loops in C are SciPy's own (gather rows, add a sparse product to a dense vector). They sit
below the public API, whose checks cost ten times the work here. A compiled loop by numba measured
no better on real pages, at 0.5 s and 116 MB to start; see benchmarks/tgraph.py.
"""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.tgraph.components import DC, Texts

GONE = -1e6
"""Added to nodes that must not match: dead or removed."""

SUMS = 1 << 17
"""Sums made at once, links times nodes: as many as stay in the processor's cache."""
FEW = 1 << 15
"""Sums up to which no care is taken: what the care takes would be more."""
LONG = 1024
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
        # Key and place in one number: sorting numbers takes a fifth of the time of their order.
        codes = np.sort(keys.astype(np.int64) << 32 | np.arange(len(keys)))
        order, ordered = codes & 0xFFFFFFFF, (codes >> 32).astype(np.int32)
        self._nodes: Ints = slots[order]
        self._weights: Floats = weights[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._keys = ordered[starts]
        self._offsets = np.append(starts, len(keys)).astype(np.int32)
        group = levels.astype(np.int16) * 16 + masks
        changes = np.flatnonzero(np.diff(group, prepend=-1))
        self._starts: NDArray[np.intp] = changes
        self._stops = np.append(changes[1:], len(rows))
        self._mask = group[changes] & 15
        self._level_starts = np.flatnonzero(np.diff(group[changes] >> 4, prepend=-1))
        self._levels = (group[changes] >> 4)[self._level_starts]
        self._level_slots = changes[self._level_starts]
        self._masks = masks.astype(np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory of the postings."""
        parts = (self.rows, self.bias, self._nodes, self._weights, self._keys, self._offsets)
        return sum(part.nbytes for part in parts)

    def best(self, asked: Asked) -> Best:
        """Return what matches each query best, with OSM as the weighted mean of the components."""
        if not len(self.rows) or not len(asked):
            return Best.none(len(asked), asked.levels)
        if len(asked) * len(self.rows) <= FEW:
            return self._best_at_once(asked)
        return self._best_in_turn(asked)

    def _best_at_once(self, asked: Asked) -> Best:
        """Return the same by the straight way: every link against every node."""
        osm = np.empty((len(asked), len(self.rows)))
        osm[:] = self.bias
        self._look_up(asked, asked.all, asked.owners).add(0, len(asked), osm)
        osm /= asked.divisors[asked.masks[:, None] | self._masks]
        slot = osm.argmax(axis=1)
        found = osm[np.arange(len(asked)), slot] > 0
        by_level = np.zeros((len(asked), asked.levels))
        tops = np.maximum.reduceat(osm, self._level_slots, axis=1)
        by_level[:, self._levels - 1] = np.maximum(tops, 0)
        return Best(by_level, np.where(found, self.rows[slot], -1))

    def _best_in_turn(self, asked: Asked) -> Best:
        """Return the same for many nodes, as many links together as fit the cache."""
        answer = Best.none(len(asked), asked.levels)
        headings = self._look_up(asked, asked.headings, asked.base[asked.owners[asked.headings]])
        data = self._look_up(asked, asked.data, asked.owners[asked.data])
        divisors = asked.divisors[asked.masks[:, None] | self._mask]
        at_once = min(len(asked), max(1, SUMS // len(self.rows)))
        bases, sums = np.empty((2, at_once, len(self.rows)))
        before, row = -1, 0
        for start in range(0, len(asked), at_once):
            which = asked.base[start : start + at_once]
            first, last = int(which[0]), int(which[-1])
            if first == before:  # still under the same headings
                bases[0] = bases[row]
            new = max(first, before + 1)
            bases[new - first : last - first + 1] = self.bias
            headings.add(new, last + 1, bases[new - first :])
            before, row = last, last - first
            part = np.take(bases, which - first, axis=0, out=sums[: len(which)], mode="clip")
            data.add(start, start + len(which), part)
            tops = np.maximum.reduceat(part, self._starts, axis=1)
            tops /= divisors[start : start + at_once]
            self._note(answer, start, part, tops)
        return answer

    def _note(self, answer: Best, start: int, sums: Floats, tops: Floats) -> None:
        """Write down the best node of each query, and the best OSM by level."""
        groups = tops.argmax(axis=1)
        found = np.flatnonzero(tops[np.arange(len(tops)), groups] > 0)
        for number, group in zip(found.tolist(), groups[found].tolist(), strict=True):
            first = self._starts[group]
            slot = first + int(sums[number, first : self._stops[group]].argmax())
            answer.row[start + number] = self.rows[slot]
        levels = np.maximum.reduceat(tops, self._level_starts, axis=1)
        answer.osm[start : start + len(tops), self._levels - 1] = np.maximum(levels, 0)

    def _look_up(self, asked: Asked, chosen: NDArray[np.intp], owners: NDArray[np.int64]) -> _Found:
        """Return the postings of the *chosen* keys."""
        keys = asked.keys[chosen]
        lists = self._keys.searchsorted(keys)
        lists[lists == len(self._keys)] = 0
        known = np.flatnonzero(self._keys[lists] == keys)
        lists = lists[known]
        return _Found(
            (self._offsets, self._nodes, self._weights),
            lists.astype(np.int32),
            self._offsets[lists + 1] - self._offsets[lists],
            asked.values[chosen[known]],
            owners[known],
        )


class Asked:
    """Queries as one: each key with its weighted tf / norm and the query it belongs to."""

    def __init__(self, texts: Texts, weights: Floats, levels: int) -> None:
        count = len(texts)
        self.levels = levels
        self.keys = texts.keys
        self.owners = np.repeat(np.arange(count), np.diff(texts.bounds))
        component = texts.keys & 3
        part = self.owners * 4 + component
        counts = texts.counts.astype(np.float64)
        squares = np.bincount(part, weights=counts * counts, minlength=4 * count)
        self.values = counts / np.sqrt(squares)[part] * weights[component]
        self.masks = (squares.reshape(-1, 4) > 0) @ (1 << np.arange(4))
        self.divisors = _divisors(tuple(weights.tolist()))
        self._groups, self._component = texts.groups, component

    @cached_property
    def all(self) -> NDArray[np.intp]:
        """All keys."""
        return np.arange(len(self.keys))

    @cached_property
    def data(self) -> NDArray[np.intp]:
        """Keys of the data."""
        return np.flatnonzero(self._component == DC)

    @cached_property
    def headings(self) -> NDArray[np.intp]:
        """Keys of headings, once where several queries have the same."""
        first = np.diff(self.base, prepend=-1) > 0
        return np.flatnonzero((self._component != DC) & first[self.owners])

    @cached_property
    def base(self) -> NDArray[np.int64]:
        """Number of the headings of each query: equal ones come one after the other."""
        return np.cumsum(np.diff(self._groups, prepend=self._groups[0]) != 0)

    def __len__(self) -> int:
        return len(self.masks)


class _Found(NamedTuple):
    """The postings of many texts."""

    postings: _Postings
    lists: Ints
    """Which posting lists."""
    sizes: Ints
    values: Floats
    owners: NDArray[np.int64]
    """Which text each list is for, in order."""

    def add(self, start: int, stop: int, sums: Floats) -> None:
        """Add to the rows of *sums* what texts *start* to *stop* have in common with each node.

        Short lists are copied together and added with one call; a long list is worth its own.
        """
        at, end = self.owners.searchsorted((start, stop)).tolist()
        if at == end:
            return
        short = self.sizes[at:end] < LONG
        owners, values = self.owners[at:end] - start, self.values[at:end]
        self._add_short(np.flatnonzero(short) + at, owners[short], values[short], sums)
        offsets, nodes, weights = self.postings
        for one in np.flatnonzero(~short).tolist():
            here = self.lists[at + one]
            row = sums[owners[one]]
            _add(offsets[here : here + 2], nodes, weights, values[one : one + 1], row)

    def _add_short(
        self, chosen: NDArray[np.intp], owners: NDArray[np.int64], values: Floats, sums: Floats
    ) -> None:
        sizes = self.sizes[chosen]
        offsets = np.zeros(len(sizes) + 1, np.int32)
        np.cumsum(sizes, out=offsets[1:])
        nodes, weights = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])
        _loops().csr_row_index(len(chosen), self.lists[chosen], *self.postings, nodes, weights)
        nodes += np.repeat((owners * sums.shape[1]).astype(np.int32), sizes)
        _add(offsets, nodes, weights, values, sums.reshape(-1))


def _add(offsets: Ints, nodes: Ints, weights: Floats, values: Floats, sums: Floats) -> None:
    """Add posting lists to *sums*, each times its value."""
    _loops().csc_matvec(len(sums), len(values), offsets, nodes, weights, values, sums)


@cache
def _loops() -> Any:
    """Return SciPy's compiled loops; not imported before there is a graph to match."""
    from scipy.sparse import _sparsetools

    return _sparsetools


@lru_cache(maxsize=16)
def _divisors(weights: tuple[float, ...]) -> Floats:
    """Return the divisor of the mean for each set of components with words on either side."""
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    sums = (bits * np.array(weights)).sum(axis=1).astype(np.float64)
    return np.where(sums > 0, sums, np.float64(1))
