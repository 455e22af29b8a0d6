"""Nodes in columns: some 300 bytes each, where objects would take ten times as much.

A node has a number for life. Its row changes when forgotten nodes are swept out. Row 0 is nobody:
what a text matches that shares no word with any node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.errors import GraphError
from treasure.tgraph.columns import Column
from treasure.tgraph.components import Components
from treasure.tgraph.index import Index

MAX_DESTINATIONS = 8
NOWHERE, OLD, NEW = range(3)
"""Which index a node is in."""


_RECORD = np.dtype(
    [
        ("number", np.int64),
        ("start", np.int64),
        ("size", np.int32),
        ("slot", np.int32),
        ("fetches", np.int32),
        ("used", np.int32),
        ("hits", np.float64),
        ("distance", np.int8),
        ("mask", np.uint8),
        ("home", np.int8),
        ("dead", np.bool_),
        ("gone", np.bool_),
    ],
    align=True,
)
_FIELDS = _RECORD.names or ()


@dataclass(frozen=True, slots=True)
class Node:
    """A paragraph or list with links, as seen from outside. Its distance is its level."""

    source: str
    """The page that holds it."""
    distance: int
    """Documents to download, by following one of its links, to hold a target."""
    components: Components
    destinations: tuple[str, ...] = ()
    """Pages one step nearer to a target that its links lead to, at most MAX_DESTINATIONS."""
    fetches: int = 0
    """How many links that matched this node were followed."""
    hits: float = 0.0
    """The sum of the relevance of what they led to."""
    used: int = 0
    """When such a link was last followed, in pages of the crawl."""
    dead: bool = False
    number: int = -1

    @property
    def title(self) -> str:
        """A few words to call it by: the most frequent stems of its most telling component."""
        ish, _, mh, dc = self.components.stems()
        for part in (ish, dc, mh):
            if part:
                return " ".join(sorted(part, key=lambda stem: -part[stem])[:4])
        return ""


class NodeTable:
    """All nodes of a graph by row."""

    def __init__(self, nowhere: int) -> None:
        """Make a table without nodes; nobody is at the distance *nowhere*."""
        self._records = Column(_RECORD)
        self._records.append((-1, 0, 0, -1, 0, 0, 0.0, nowhere, 0, NOWHERE, False, True))
        self._keys = Column(np.int32)
        self._counts = Column(np.uint16)
        self._sources: list[str] = [""]
        self._destinations: list[tuple[str, ...]] = [()]
        self._shared: dict[str, str] = {}
        self._rows: dict[int, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, number: int) -> bool:
        return number in self._rows

    def column(self, name: str) -> NDArray[Any]:
        """Return a column, forgotten rows included; writing to it counts."""
        values: NDArray[Any] = self._records.values[name]
        return values

    def records(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return all columns of *rows*, as they are now."""
        return self._records.values[rows]

    def row(self, number: int) -> int:
        """Return where the node is now."""
        try:
            return self._rows[number]
        except KeyError:
            raise GraphError(f"The T-Graph has no node {number}.") from None

    def live_rows(self) -> NDArray[np.int64]:
        """Return the rows that hold nodes, oldest first."""
        return np.flatnonzero(~self.column("gone"))

    @property
    def swept_share(self) -> float:
        """Share of rows that hold nothing any more."""
        rows = len(self._sources) - 1
        return (rows - len(self._rows)) / rows if rows else 0.0

    @property
    def nbytes(self) -> int:
        """Memory of the columns and the row numbers; URLs not counted."""
        columns = (self._records, self._keys, self._counts)
        return sum(column.nbytes for column in columns) + 100 * len(self._rows)

    def add(self, node: Node) -> int:
        """Add *node* and return its number: its own if it has one, else the next."""
        if not len(node.components.keys):
            raise GraphError(f"A node needs words. Got none from {node.source}.")
        number = self._next if node.number < 0 else node.number
        if number in self._rows:
            raise GraphError(f"The T-Graph has a node {number} already.")
        self._next = max(self._next, number + 1)
        words = node.components
        where = (number, len(self._keys), len(words.keys), -1)
        known = (node.fetches, node.used, node.hits, node.distance, words.mask)
        self._records.append((*where, *known, NOWHERE, node.dead, False))
        self._keys.extend(words.keys)
        self._counts.extend(words.counts)
        self._rows[number] = len(self._sources)
        self._sources.append(self._share(node.source))
        self._destinations.append(self._few(node.destinations))
        return number

    def remove(self, number: int) -> None:
        """Forget a node; its row stays empty until the next sweep."""
        row = self.row(number)
        del self._rows[number]
        self.column("gone")[row] = True

    def node(self, number: int) -> Node:
        """Return the node called *number*."""
        row = self.row(number)
        known = dict(zip(_FIELDS, self._records.values[row].item(), strict=True))
        return Node(
            source=self._sources[row],
            distance=known["distance"],
            components=self.components(row),
            destinations=self._destinations[row],
            fetches=known["fetches"],
            hits=known["hits"],
            used=known["used"],
            dead=known["dead"],
            number=number,
        )

    def source(self, row: int) -> str:
        """Return the page that the node in *row* comes from."""
        return self._sources[row]

    def destinations(self, row: int) -> tuple[str, ...]:
        """Return where the node in *row* leads."""
        return self._destinations[row]

    def components(self, row: int) -> Components:
        """Return the words of the node in *row*."""
        record = self._records.values[row]
        start = int(record["start"])
        stop = start + int(record["size"])
        return Components(
            self._keys.values[start:stop].copy(), self._counts.values[start:stop].copy()
        )

    def words(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Return how many keys each node has, and all keys and counts, oldest node first."""
        rows = self.live_rows()
        entries = self._entries(rows)
        sizes = self.column("size")[rows].astype(np.int64)
        return sizes, self._keys.values[entries], self._counts.values[entries]

    def set_destinations(self, number: int, destinations: Iterable[str]) -> None:
        """Say where the node leads."""
        self._destinations[self.row(number)] = self._few(destinations)

    def sweep(self) -> None:
        """Let go of forgotten rows; every row moves."""
        rows = np.append(0, self.live_rows())
        entries = self._entries(rows)
        sizes = self.column("size")[rows]
        self._records.keep(rows)
        self._keys.keep(entries)
        self._counts.keep(entries)
        self.column("start")[:] = np.cumsum(sizes) - sizes
        self._sources = [self._sources[row] for row in rows.tolist()]
        self._destinations = [self._destinations[row] for row in rows.tolist()]
        numbers = self.column("number").tolist()
        self._rows = {number: row for row, number in enumerate(numbers) if row}
        used = set(self._sources).union(*self._destinations)
        self._shared = {url: url for url in used}

    def index(self, rows: NDArray[np.int64], home: int) -> Index:
        """Return an inverted index over *rows*, which will be known as *home*."""
        levels, masks = self.column("distance")[rows], self.column("mask")[rows]
        order = np.lexsort((masks, levels))
        rows = rows[order]
        entries = self._entries(rows)
        index = Index(
            rows,
            levels[order],
            masks[order],
            self.column("size")[rows].astype(np.int64),
            self._keys.values[entries],
            self._counts.values[entries],
        )
        index.alive[:] = ~self.column("dead")[rows]
        self.column("home")[rows] = home
        self.column("slot")[rows] = np.arange(len(rows))
        return index

    def _entries(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of all keys of *rows*, row after row."""
        sizes = self.column("size")[rows].astype(np.int64)
        firsts = self.column("start")[rows] - (np.cumsum(sizes) - sizes)
        return np.repeat(firsts, sizes) + np.arange(sizes.sum())

    def _few(self, urls: Iterable[str]) -> tuple[str, ...]:
        kept = list(dict.fromkeys(urls))[:MAX_DESTINATIONS]
        return tuple(self._share(url) for url in kept)

    def _share(self, url: str) -> str:
        return self._shared.setdefault(url, url)
