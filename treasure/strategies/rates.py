"""Tally: what became of links of a kind, for any number of kinds.

A kind is a host, a directory, a place in a page's tree, a page that links, a list on a page. Few
fetches tell little, so every rate is drawn to what is expected until a kind has its own outcomes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]

FETCHED, ALIVE, RELEVANCE = range(3)


class Tally:
    """Counts by kind; kinds are numbers, and -1 is no kind: nothing was ever counted for it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        """Kinds there have ever been."""
        # One place more than there are kinds: -1 takes the last, which stays empty. The system
        # gives memory to what is used only.
        self._counts = np.zeros((3, limit + 1))
        # The first touch of each takes a millisecond: now, and not when the first page is learned.
        self._counts[:, 0] = 0.0

    def new(self) -> int:
        """Return the number of a new kind; past the limit the oldest number is used again."""
        return self.several(1)[0]

    def several(self, count: int) -> list[int]:
        """Return the numbers of *count* new kinds."""
        numbers = [number % self.limit for number in range(self.size, self.size + count)]
        self.size += count
        if self.size > self.limit:
            self._counts[:, numbers] = 0.0
        return numbers

    def add(self, kinds: Iterable[int], relevance: float, *, alive: bool = True) -> None:
        """Count one outcome for each of *kinds*, once each."""
        for kind in {kind for kind in kinds if kind >= 0}:
            self.size = max(self.size, kind + 1)  # where another tally gives the numbers
            self._counts[FETCHED, kind] += 1
            if alive:
                self._counts[ALIVE, kind] += 1
                self._counts[RELEVANCE, kind] += relevance

    def add_known(self, outcomes: Sequence[tuple[int, float]]) -> None:
        """Count pages that are known to be alive: kind and relevance of each."""
        if outcomes:
            kinds = [kind for kind, _ in outcomes]
            np.add.at(self._counts[FETCHED], kinds, 1.0)
            np.add.at(self._counts[ALIVE], kinds, 1.0)
            np.add.at(self._counts[RELEVANCE], kinds, [relevance for _, relevance in outcomes])

    def relevance(self, kinds: Ids, expected: Floats | float, strength: float) -> Floats:
        """Return the mean relevance behind *kinds*; a row of several counts them together."""
        return mean_relevance(self.counts(kinds), expected, strength)

    def life(self, kinds: Ids, expected: Floats | float, strength: float) -> Floats:
        """Return the share of fetches behind *kinds* that gave a page."""
        return mean_life(self.counts(kinds), expected, strength)

    def fetched(self, kinds: Ids) -> Floats:
        """Return how many fetches each of *kinds* rests on."""
        fetched: Floats = self.counts(kinds)[FETCHED]
        return fetched

    def counts(self, kinds: Ids) -> Floats:
        """Return three counts of each of *kinds*, or of each row of several together."""
        counts: Floats = self._counts.take(kinds, axis=1)
        return counts @ np.ones(kinds.shape[1]) if kinds.ndim == 2 else counts

    def counts_of(self, kind: int) -> Floats:
        """Return the three counts of one kind."""
        counts: Floats = self._counts[:, kind]
        return counts

    def state(self) -> dict[str, Any]:
        """Return the counts, ready for msgpack."""
        used = min(self.size, self.limit)
        return {"size": self.size, "counts": self._counts[:, :used].tobytes()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self.size = state["size"]
        counts = np.frombuffer(state["counts"], np.float64).reshape(3, -1)
        self._counts[:, : counts.shape[1]] = counts


def mean_relevance(counts: Floats, expected: Floats | float, strength: float) -> Floats:
    """Return the mean relevance that ``counts`` tell."""
    rate: Floats = (counts[RELEVANCE] + strength * expected) / (counts[ALIVE] + strength)
    return rate


def mean_life(counts: Floats, expected: Floats | float, strength: float) -> Floats:
    """Return the share of fetches that gave a page."""
    rate: Floats = (counts[ALIVE] + strength * expected) / (counts[FETCHED] + strength)
    return rate


class NamedTally(Tally):
    """A tally of named kinds. Past the limit, new names share the last number."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
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
