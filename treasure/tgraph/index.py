"""An inverted index over nodes: all links of a page against all nodes in one step.

A posting is (node, tf / norm), kept by key (term and component). A link's OSM with every node it
shares a word with is the sum of its postings, divided by the weights of the components that have
words on either side; nodes it shares no word with are never looked at. ``core.osm`` does it.

Nodes lie in the order of (level, which components are empty, age). Where several are equally good,
the first of them is the best. Equal means to the last bit: nodes with the same words are equal,
others may miss it by the rounding of their sums.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.core import osm
from treasure.tgraph.components import Texts

Floats = NDArray[np.float64]


class Best(NamedTuple):
    """The best that some texts found so far; rows are texts."""

    osm: Floats
    """Best OSM per level: column 0 is level 1."""
    row: NDArray[np.int64]
    """Row of the node with the best OSM of all, 0 where no node shares a word."""

    @classmethod
    def none(cls, texts: int, levels: int) -> Best:
        """Return what is known before any index was asked."""
        return cls(np.zeros((texts, levels)), np.zeros(texts, np.int64))


class Index:
    """Postings of a fixed set of nodes; nodes can only be switched off and on."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        levels: NDArray[np.int8],
        masks: NDArray[np.uint8],
        sizes: NDArray[np.int64],
        keys: NDArray[np.int32],
        counts: NDArray[np.uint16],
    ) -> None:
        """Build from *rows* (the caller's names of nodes) in order of (level, mask).

        *sizes* says how many of *keys* and *counts* belong to each node.
        """
        self.rows = rows
        self.alive = np.ones(len(rows), np.uint8)
        """0 for nodes that must not match: dead or removed."""
        self._postings = osm.Postings(rows, levels, masks, self.alive, sizes, keys, counts)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory of the postings."""
        return self.rows.nbytes + 3 * self.alive.nbytes + int(self._postings.nbytes)

    def improve(self, best: Best, texts: Texts, weights: Floats) -> None:
        """Write into *best* what matches each text better than what was found elsewhere."""
        if len(self.rows):
            divisors = _divisors(weights.tobytes())
            self._postings.best(
                texts.keys, texts.counts, texts.bounds, weights, divisors, best.osm, best.row
            )


@lru_cache(maxsize=16)
def _divisors(weights: bytes) -> Floats:
    """Return the divisor of the mean for each set of components with words on either side."""
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    sums: Floats = (bits * np.frombuffer(weights)).sum(axis=1)
    return np.where(sums > 0, sums, 1.0)
