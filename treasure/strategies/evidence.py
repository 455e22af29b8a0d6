"""Evidence: what is known of every queued URL, from all pages that link to it.

A link found on five pages is one URL with five witnesses. Rows hold references (pages, lists,
words), not results: when the judge learns, or a sibling turns out well, the features of a link are
gathered anew from them. The number of rows is bounded; the least promising links go first, which
then keep the score they had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.text import VOCABULARY

WITNESSES = 8
"""Linking pages kept for a URL; later ones take the place of the oldest."""
ANCHOR_TERMS = 12
URL_TERMS = 8
SAVED_ROWS = 20_000
"""The best rows are kept for a continued crawl; the others start anew when they are seen again."""

NOTHING = -1.5
"""Evidence of a text that was never there: as low as evidence gets."""

_COLUMNS: dict[str, tuple[Any, int, float]] = {
    # name: type, width (0: one value), value at the start
    "key": (np.int64, 0, 0),
    "alive": (np.bool_, 0, 0),
    "score": (np.float64, 0, 0),
    "sent": (np.float64, 0, 0),
    "host": (np.int32, 0, -1),
    "section": (np.int32, 0, -1),
    "folder": (np.int32, 0, -1),
    "shape": (np.int32, 0, -1),
    "way": (np.int32, 0, -1),
    "media": (np.bool_, 0, 0),
    "worth": (np.float32, 0, 1),
    "in_links": (np.float32, 0, 0),
    "pages": (np.int32, WITNESSES, -1),
    "lists": (np.int32, WITNESSES, -1),
    "paths": (np.int32, WITNESSES, -1),
    "anchor_terms": (np.int32, ANCHOR_TERMS, -1),
    "url_terms": (np.int32, URL_TERMS, -1),
    "context": (np.float32, 0, NOTHING),
    "context_sum": (np.float32, 0, 0),
    "heading": (np.float32, 0, NOTHING),
    "main_heading": (np.float32, 0, NOTHING),
    "block": (np.float32, 0, NOTHING),
    "boilerplate": (np.float32, 0, 0),
    "graph": (np.float32, 0, 0),
    "graph_success": (np.float32, 0, 0),
    "distance": (np.float32, 0, 99),
}
TEXTS = ("anchor_terms", "url_terms")


class Evidence:
    """Columns of numpy arrays, one row a URL; ``column["in_links"][rows]`` reads."""

    def __init__(self, limit: int = 200_000) -> None:
        self.limit = limit
        self.size = 0
        """Rows that were ever in use: all live ones lie below."""
        self.column: dict[str, NDArray[Any]] = {}
        self._rows: dict[int, int] = {}
        self._free: list[int] = []
        self._reserve(min(1024, limit))

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, key: int) -> int | None:
        """Return the row of the URL called *key*."""
        return self._rows.get(key)

    def new(self, key: int) -> int:
        """Return a fresh row for *key*."""
        if not self._free and self.size == self.limit:
            self._drop_worst()
        if self._free:
            row = self._free.pop()
            for name, (_, _, start) in _COLUMNS.items():
                self.column[name][row] = start
        else:
            if self.size == len(self.column["key"]):
                self._reserve(min(2 * self.size, self.limit))
            row = self.size
            self.size += 1
        self.column["key"][row] = key
        self.column["alive"][row] = True
        self._rows[key] = row
        return row

    def drop(self, key: int) -> None:
        """Forget a URL."""
        row = self._rows.pop(key, None)
        if row is not None:
            self.column["alive"][row] = False
            self._free.append(row)

    def live(self, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """Return the live rows from *start* to *stop*."""
        end = self.size if stop is None else min(stop, self.size)
        return np.flatnonzero(self.column["alive"][start:end]) + start

    def add_terms(self, name: str, row: int, terms: Sequence[int]) -> None:
        """Add the *terms* that a text of the row does not hold yet, while there is room."""
        slots = self.column[name][row]
        have = slots.tolist()
        used = have.index(-1) if have[-1] == -1 else len(have)
        for term in terms:
            if used == len(have):
                return
            if term >= 0 and term not in have:
                have[used] = slots[used] = term
                used += 1

    def raise_to(self, name: str, row: int, value: float) -> None:
        """Keep the highest value seen."""
        column = self.column[name]
        if value > column[row]:
            column[row] = value

    def state(self) -> dict[str, Any]:
        """Return the best rows, ready for msgpack; words as stems."""
        rows = self.live()
        size, free = self.size, self._free
        if rows.size > SAVED_ROWS:
            order = np.argsort(-self.column["score"][rows], kind="stable")[:SAVED_ROWS]
            rows = np.sort(rows[order])
            size, free = rows.size, []
        places = np.arange(rows.size) if not free and size == rows.size else rows
        terms = np.concatenate([self.column[name][rows].ravel() for name in TEXTS])
        known, numbers = np.unique(terms, return_inverse=True)
        plain = [name for name in _COLUMNS if name not in TEXTS]
        return {
            "size": int(size),
            "free": list(free),
            "places": places.tolist(),
            "columns": {name: self.column[name][rows].tobytes() for name in plain},
            "stems": [VOCABULARY.stem(term) if term >= 0 else "" for term in known.tolist()],
            "terms": numbers.astype(np.int32).tobytes(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        rows = np.array(state["places"], np.int64)
        self._reserve(max(state["size"], 1))
        self.size, self._free = state["size"], list(state["free"])
        self.column["alive"][:] = False
        for name, data in state["columns"].items():
            kind, width, _ = _COLUMNS[name]
            values = np.frombuffer(data, kind)
            self.column[name][rows] = values.reshape(rows.size, width) if width else values
        ids = [VOCABULARY.id_of_stem(stem) if stem else -1 for stem in state["stems"]]
        terms = np.array(ids or [-1], np.int32)[np.frombuffer(state["terms"], np.int32)]
        split = rows.size * ANCHOR_TERMS
        self.column["anchor_terms"][rows] = terms[:split].reshape(rows.size, ANCHOR_TERMS)
        self.column["url_terms"][rows] = terms[split:].reshape(rows.size, URL_TERMS)
        self._rows = dict(zip(self.column["key"][rows].tolist(), rows.tolist(), strict=True))

    def _drop_worst(self) -> None:
        count = max(1, self.limit // 100)
        worst = np.argpartition(self.column["score"], count)[:count]
        for key in self.column["key"][worst].tolist():
            self.drop(key)

    def _reserve(self, room: int) -> None:
        for name, (kind, width, start) in _COLUMNS.items():
            old = self.column.get(name)
            if old is not None and len(old) >= room:
                continue
            new = np.full((room, width) if width else room, start, kind)
            if old is not None:
                new[: len(old)] = old
            self.column[name] = new
