"""Evidence: what is known of every queued URL, from all pages that link to it.

A link found on five pages is one URL with five witnesses. Rows hold references (pages, lists,
words), not results: when the judge learns, or a sibling turns out well, the features of a link are
gathered anew from them. The features as they were last are kept with the row: some of them only a
new witness or a new model of the judge changes, and an outcome is learned from by what a link was
scored by. The number of rows is bounded; the least promising links go first, which then keep the
score they had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.core import witness
from treasure.core.features import ANCHOR_TERMS, LOWEST, WITNESSES
from treasure.text import NEW, VOCABULARY, distinct

Rows = NDArray[np.int64]

URL_TERMS = 8
SAVED_ROWS = 20_000
"""The best rows are kept for a continued crawl; the others start anew when they are seen again."""

REUSED = 64
"""Dropped rows there must be before they are cleared and used again."""
PREPARED = 512
"""Rows made ready at a time."""
FEATURES = 25
"""Features of a link (``link_features.PRIOR``)."""

_UNKNOWN = "?"
"""How a word is saved that was met in no text; no stem looks like this."""

_COLUMNS: dict[str, tuple[Any, int, float]] = {
    # name: type, width (0: one value), value at the start
    "key": (np.int64, 0, 0),
    "alive": (np.bool_, 0, 0),
    "score": (np.float64, 0, 0),
    "sent": (np.float64, 0, 0),
    "scout": (np.bool_, 0, 0),
    "host": (np.int32, 0, -1),
    "section": (np.int32, 0, -1),
    "folder": (np.int32, 0, -1),
    "shape": (np.int32, 0, -1),
    "way": (np.int32, 0, -1),
    "media": (np.bool_, 0, 0),
    "front": (np.bool_, 0, 0),
    "in_links": (np.float32, 0, 0),
    "pages": (np.int32, WITNESSES, -1),
    "lists": (np.int32, WITNESSES, -1),
    "paths": (np.int32, WITNESSES, -1),
    "anchor_terms": (np.int32, ANCHOR_TERMS, -1),
    "url_terms": (np.int32, URL_TERMS, -1),
    "context": (np.float32, 0, LOWEST),
    "context_sum": (np.float32, 0, 0),
    "heading": (np.float32, 0, LOWEST),
    "main_heading": (np.float32, 0, LOWEST),
    "block": (np.float32, 0, LOWEST),
    "boilerplate": (np.float32, 0, 0),
    "graph": (np.float32, 0, 0),
    "graph_success": (np.float32, 0, 0),
    "distance": (np.float32, 0, 99),
    "features": (np.float32, FEATURES, 0),
    "edition": (np.int32, 0, witness.NEVER),
}
RAISED = ("context", "heading", "main_heading", "block", "graph", "graph_success")
"""What the best witness says counts."""
GROUPS = {
    "numbers": ("in_links", "distance", "context_sum", "boilerplate", *RAISED),
    "kinds": ("shape", "way", "host", "section", "folder", "paths", "pages", "lists"),
    "terms": ("anchor_terms", "url_terms"),
}
"""Columns of one type that lie together, since they are needed together: a look-up of each alone
costs as much as one of all."""
TEXTS = GROUPS["terms"]
KEPT = tuple(name for name in _COLUMNS if name not in (*TEXTS, "edition"))
"""Columns saved as they are; what a judge tells is asked for again."""


class Evidence:
    """Columns of numpy arrays, one row a URL; ``column["in_links"][rows]`` reads."""

    def __init__(self, limit: int = 200_000) -> None:
        self.limit = limit
        self.size = 0
        """Rows that were ever in use: all live ones lie below."""
        self.column: dict[str, NDArray[Any]] = {}
        self.columns: tuple[NDArray[Any], ...] = ()
        """Those that ``core`` reads and writes, in its order."""
        self.known: dict[int, int] = {}
        """The row of each URL, by its key."""
        self._free: list[int] = []
        """Rows below that may be used again, as they are at the start."""
        self._dropped: list[int] = []
        """Those that are yet to be cleared."""
        self._ready = 0
        self._reserve(limit)

    def __len__(self) -> int:
        return len(self.known)

    def row(self, key: int) -> int | None:
        """Return the row of the URL called *key*."""
        return self.known.get(key)

    def rows(self, keys: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the rows of the URLs called *keys*, and which of them are new."""
        known = self.known
        new = [at for at, key in enumerate(keys) if key not in known]
        if new:
            self._add(list(dict.fromkeys([keys[at] for at in new])), keys)
        return [known[key] for key in keys], new

    def _add(self, keys: list[int], asked: Sequence[int]) -> None:
        room = self.limit - self.size
        lacking = len(keys) - len(self._free) - len(self._dropped) - room
        if lacking > 0:
            spared = [self.known[key] for key in asked if key in self.known]
            self._drop_worst(max(lacking, self.limit // 100), spared)
        if len(self._dropped) >= REUSED or len(keys) > len(self._free) + room:
            self._clear()
        again = [self._free.pop() for _ in range(min(len(keys), len(self._free)))]
        fresh = range(self.size, self.size + len(keys) - len(again))
        self.size = fresh.stop
        self._prepare(self.size)
        rows = [*again, *fresh]
        witness.begin(rows, keys, self.column["key"], self.column["alive"].view(np.uint8))
        self.known.update(zip(keys, rows, strict=True))

    def drop(self, key: int) -> None:
        """Forget a URL."""
        row = self.known.pop(key, None)
        if row is not None:
            self.column["alive"][row] = False
            self.column["score"][row] = self.column["sent"][row] = -1.0
            self._dropped.append(row)

    def live(self, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """Return the live rows from *start* to *stop*."""
        end = self.size if stop is None else min(stop, self.size)
        return np.flatnonzero(self.column["alive"][start:end]) + start

    def add_terms(self, name: str, rows: list[int], texts: list[list[int]]) -> None:
        """Add to each row the terms of its text that it does not hold yet, while there is room."""
        witness.add_terms(rows, texts, self.column[name])

    def hear(
        self,
        rows: Rows,
        kinds: NDArray[np.int32],
        boilerplate: NDArray[np.uint8],
        values: NDArray[np.float32],
        distance: float,
    ) -> Rows:
        """Take in a page that links to *rows*; return each of them once.

        For each link *kinds* has the path, page and list where it stands, and *values* what is
        ``RAISED``. A page is one witness for a URL, however often it links to it.
        """
        once = witness.hear(rows, kinds, boilerplate, values, distance, self.columns)
        return rows if len(once) == rows.size else np.array(once, np.int64)

    def state(self) -> dict[str, Any]:
        """Return the best rows, ready for msgpack; words as stems."""
        rows = self.live()
        size, free, dropped = self.size, self._free, self._dropped
        if rows.size > SAVED_ROWS:
            best = np.argpartition(-self.column["score"][rows], SAVED_ROWS)[:SAVED_ROWS]
            rows = np.sort(rows[best])
            size, free, dropped = rows.size, [], []
        places = np.arange(rows.size) if size == rows.size else rows
        terms = np.concatenate([self.column[name][rows].ravel() for name in TEXTS])
        known, numbers = distinct(terms)
        return {
            "size": int(size),
            "free": list(free),
            "dropped": list(dropped),
            "places": places.tolist(),
            "columns": {name: self.column[name][rows].tobytes() for name in KEPT},
            "stems": [_stem(term) for term in known.tolist()],
            "terms": numbers.tobytes(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        rows = np.array(state["places"], np.int64)
        self._reserve(max(state["size"], self.limit))
        self.size, self._free, self._dropped = state["size"], state["free"], state["dropped"]
        self._prepare(self.size)
        for name, data in state["columns"].items():
            kind, width, _ = _COLUMNS[name]
            values = np.frombuffer(data, kind)
            self.column[name][rows] = values.reshape(rows.size, width) if width else values
        ids = [_term(stem) for stem in state["stems"]]
        terms = np.array(ids or [-1], np.int32)[np.frombuffer(state["terms"], np.int32)]
        split = rows.size * ANCHOR_TERMS
        self.column["anchor_terms"][rows] = terms[:split].reshape(rows.size, ANCHOR_TERMS)
        self.column["url_terms"][rows] = terms[split:].reshape(rows.size, URL_TERMS)
        self.known = dict(zip(self.column["key"][rows].tolist(), rows.tolist(), strict=True))

    def _drop_worst(self, count: int, spared: list[int]) -> None:
        """Forget the *count* least promising URLs, but none of those just asked for."""
        may_go = self.column["alive"][: self.size].copy()
        may_go[spared] = False
        live = np.flatnonzero(may_go)
        count = min(count, live.size)
        worst = live[np.argpartition(self.column["score"][live], count - 1)[:count]]
        for key in self.column["key"][worst].tolist():
            del self.known[key]
        self.column["alive"][worst] = False
        self._dropped += worst.tolist()

    def _clear(self) -> None:
        """Have dropped rows as they were: to clear one costs as much as to clear a hundred."""
        rows = np.array(self._dropped)
        for name, (_, _, start) in _COLUMNS.items():
            self.column[name][rows] = start
        self._free += self._dropped
        self._dropped = []

    def _reserve(self, limit: int) -> None:
        """Have room for *limit* rows; the system gives memory to those that are used only."""
        self.limit, self._ready = limit, 0
        for name, (kind, width, _) in _COLUMNS.items():
            if not any(name in names for names in GROUPS.values()):
                self.column[name] = np.zeros((limit, width) if width else limit, kind)
        for group, names in GROUPS.items():
            widths = [_COLUMNS[name][1] for name in names]
            table = np.zeros((limit, sum(max(1, width) for width in widths)), _COLUMNS[names[0]][0])
            self.column[group] = table
            start = 0
            for name, width in zip(names, widths, strict=True):
                self.column[name] = table[:, start : start + width] if width else table[:, start]
                start += max(1, width)
        column = self.column
        self.columns = (
            *(column[name] for name in ("kinds", "numbers", "terms", "features", "edition")),
            column["media"].view(np.uint8),
        )

    def _prepare(self, size: int) -> None:
        """Have *size* rows as they are at the start."""
        while self._ready < size:
            stop = min(self._ready + PREPARED, self.limit)
            for name, (_, _, start) in _COLUMNS.items():
                self.column[name][self._ready : stop] = start
            self._ready = stop


def _stem(term: int) -> str:
    """Return how a term is saved."""
    return "" if term < 0 else _UNKNOWN if term == NEW else VOCABULARY.stem(term)


def _term(stem: str) -> int:
    """Return the term that was saved as *stem*."""
    return NEW if stem == _UNKNOWN else VOCABULARY.id_of_stem(stem) if stem else -1
