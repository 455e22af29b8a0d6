"""Evidence: what is known of every queued URL, from all pages that link to it.

A link found on five pages is one URL with five witnesses. Rows of numpy arrays hold references
(pages, lists, words), not results: when the judge learns or a sibling turns out well, the features
are gathered anew from them. The number of rows is bounded; the least promising go first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WITNESSES = 8
"""Linking pages kept for a URL; later ones take the place of the oldest."""
ANCHOR_TERMS = 12
URL_TERMS = 8

COLUMNS: dict[str, tuple[Any, int]] = {
    "key": (np.int64, 0),
    "host": (np.int32, 0),
    "folder": (np.int32, 0),
    "section": (np.int32, 0),
    "shape": (np.int32, 0),
    "in_links": (np.float32, 0),
    "pages": (np.int32, WITNESSES),
    "lists": (np.int32, WITNESSES),
    "paths": (np.int32, WITNESSES),
    "anchor_terms": (np.int32, ANCHOR_TERMS),
    "url_terms": (np.int32, URL_TERMS),
    "context": (np.float32, 0),
    "context_sum": (np.float32, 0),
    "heading": (np.float32, 0),
    "main_heading": (np.float32, 0),
    "block": (np.float32, 0),
    "boilerplate": (np.float32, 0),
    "graph": (np.float32, 0),
    "graph_success": (np.float32, 0),
    "distance": (np.float32, 0),
    "score": (np.float64, 0),
    "sent": (np.float64, 0),
    "alive": (np.bool_, 0),
}


@dataclass
class Evidence:
    """Columns of numpy arrays, one row a URL."""

    limit: int = 200_000

    def __post_init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.size = 0
        self._free: list[int] = []
        self._columns: dict[str, NDArray[Any]] = {}
        self._reserve(1024)

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(name) from None

    def new(self, key: int) -> int:
        """Return a fresh row for *key*."""
        if not self._free:
            if self.size == self.limit:
                self._drop_worst()
            else:
                if self.size == len(self._columns["key"]):
                    self._reserve(min(2 * self.size, self.limit))
                self._free.append(self.size)
                self.size += 1
        row = self._free.pop()
        for name, (kind, width) in COLUMNS.items():
            self._columns[name][row] = -1 if width or name == "graph" else kind(0)
        self._columns["key"][row] = key
        self._columns["alive"][row] = True
        self.rows[key] = row
        return row

    def drop(self, key: int) -> None:
        """Forget a URL."""
        row = self.rows.pop(key, None)
        if row is not None:
            self._columns["alive"][row] = False
            self._free.append(row)

    def _drop_worst(self) -> None:
        count = max(1, self.limit // 100)
        worst = np.argpartition(self._columns["score"][: self.size], count)[:count]
        for key in self._columns["key"][worst].tolist():
            self.drop(key)

    def _reserve(self, room: int) -> None:
        for name, (kind, width) in COLUMNS.items():
            old = self._columns.get(name)
            new = np.zeros((room, width) if width else room, kind)
            if old is not None:
                new[: len(old)] = old
            self._columns[name] = new
