"""Rates: how often links of a kind led to something, for any number of kinds.

A kind is a host, a directory, a place in the page's tree, a page that links, a list on a page.
Few fetches tell little, so a rate is drawn to what is expected of its kind until it has its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]
Kind = TypeVar("Kind", bound=Hashable)


class Tally:
    """Trials and successes of numbered kinds; -1 is no kind and has neither."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._trials = np.zeros(1024)
        self._successes = np.zeros(1024)

    def new(self) -> int:
        """Return the number of a new kind; past the limit the oldest number is used again."""
        number = self.size % self.limit
        self.size += 1
        if number + 1 >= self._trials.size:
            room = min(2 * self._trials.size, self.limit + 1)
            self._trials = np.append(self._trials, np.zeros(room - self._trials.size))
            self._successes = np.append(self._successes, np.zeros(room - self._successes.size))
        self._trials[number] = self._successes[number] = 0.0
        return number

    def add(self, kinds: Ids | list[int], success: float, trials: float = 1.0) -> None:
        """Count an outcome for each of *kinds*, once each."""
        for kind in set(kinds if isinstance(kinds, list) else kinds.tolist()):
            if kind >= 0:
                self._trials[kind] += trials
                self._successes[kind] += success

    def rate(self, kinds: Ids, expected: Floats | float, strength: float) -> Floats:
        """Return the success rate of each of *kinds*, drawn to *expected* as by *strength* trials."""
        # -1 takes the last place, which is never given to a kind.
        return (self._successes[kinds] + strength * expected) / (self._trials[kinds] + strength)

    def pooled(self, kinds: Ids, expected: Floats | float, strength: float) -> Floats:
        """Return one rate for each row of *kinds*, all of its kinds' trials counted together."""
        successes = self._successes[kinds].sum(axis=1)
        trials = self._trials[kinds].sum(axis=1)
        return (successes + strength * expected) / (trials + strength)

    def trials(self, kinds: Ids) -> Floats:
        """Return how many outcomes each of *kinds* rests on."""
        return self._trials[kinds]


class NamedTally(Tally, Generic[Kind]):
    """A tally of named kinds. Past the limit new names share one number."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._numbers: dict[Kind, int] = {}

    def number(self, name: Kind) -> int:
        """Return the number of *name*, given at its first mention."""
        number = self._numbers.get(name)
        if number is None:
            number = self.new() if self.size < self.limit else self.limit - 1
            self._numbers[name] = number
        return number
