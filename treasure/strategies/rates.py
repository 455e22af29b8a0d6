"""Tally: what became of links of a kind, for any number of kinds.

A kind is a host, a directory, a place in a page's tree, a page that links, a list on a page. Few
fetches tell little, so every rate is drawn to what is expected until a kind has its own outcomes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.core.outcomes import count_known

Floats = NDArray[np.floating[Any]]
Counts = NDArray[np.float32]
Ids = NDArray[np.int32]

FETCHED, ALIVE, RELEVANCE = range(3)
_COUNTS = 4
"""Counts of a kind: with a fourth, which is never used, NumPy looks a kind up in one move."""


def no_counts(kinds: int) -> Counts:
    """Return counts of so many *kinds* for which nothing was counted.

    The system gives memory to what is used only.
    """
    return np.zeros((kinds, _COUNTS), np.float32)


class Tally:
    """Counts by kind; kinds are numbers, and -1 is no kind: nothing was ever counted for it."""

    def __init__(self, limit: int, counts: Counts | None = None) -> None:
        self.limit = limit
        self.size = 0
        """Kinds there have ever been."""
        # One place more than there are kinds: -1 takes the last, which stays empty.
        self._counts = no_counts(limit + 1) if counts is None else counts
        # The first touch takes a millisecond: now, and not when the first page is learned.
        self._counts[0] = 0.0

    def new(self) -> int:
        """Return the number of a new kind; past the limit the oldest number is used again."""
        return self.several(1)[0]

    def several(self, count: int) -> list[int]:
        """Return the numbers of *count* new kinds."""
        numbers = [number % self.limit for number in range(self.size, self.size + count)]
        self.size += count
        if self.size > self.limit:
            self._counts[numbers] = 0.0
        return numbers

    def add(self, kind: int, relevance: float) -> None:
        """Count one outcome."""
        if kind >= 0:
            self.size = max(self.size, kind + 1)  # where another tally gives the numbers
            self.add_known([(kind, relevance)])

    def add_known(self, outcomes: list[tuple[int, float]]) -> None:
        """Count pages that are known to be alive: kind and relevance of each."""
        count_known(outcomes, self._counts)

    def relevance(self, kinds: Ids, expected: Floats | float, strength: float) -> Floats:
        """Return the mean relevance behind each of *kinds*."""
        counts = self._counts_of_each(kinds)
        rate: Floats = (counts[RELEVANCE] + strength * expected) / (counts[ALIVE] + strength)
        return rate

    def fetched(self, kinds: Ids) -> Floats:
        """Return how many fetches each of *kinds* rests on."""
        fetched: Floats = self._counts_of_each(kinds)[FETCHED]
        return fetched

    def _counts_of_each(self, kinds: Ids) -> Counts:
        """Return the counts of each of *kinds*; which count is the first axis."""
        found = self._counts.view(np.complex128)[:, 0].take(kinds)  # 16 bytes, whatever they mean
        return found.view(np.float32).reshape(-1, _COUNTS).T

    def counts_of(self, kind: int) -> Counts:
        """Return the counts of one kind."""
        counts: Counts = self._counts[kind]
        return counts

    def state(self) -> dict[str, Any]:
        """Return the counts, ready for msgpack."""
        used = min(self.size, self.limit)
        return {"size": self.size, "tally": self._counts[:used].tobytes()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self.size = state["size"]
        counts = np.frombuffer(state["tally"], np.float32).reshape(-1, _COUNTS)
        self._counts[: len(counts)] = counts


class NamedTally(Tally):
    """A tally of named kinds. Past the limit, new names share the last number."""

    def __init__(self, limit: int, counts: Counts | None = None) -> None:
        super().__init__(limit, counts)
        self._numbers: dict[Hashable, int] = {}

    def number(self, name: str) -> int:
        """Return the number of *name*, given at its first mention."""
        number = self._numbers.get(name)
        if number is None:
            if self.size >= self.limit:
                return self.limit - 1
            number = self._numbers[name] = self.new()
        return number

    def state(self) -> dict[str, Any]:
        """Return names and counts."""
        return {**super().state(), "names": list(self._numbers)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        super().restore(state)
        self._numbers = {name: number for number, name in enumerate(state["names"])}
