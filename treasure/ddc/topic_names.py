"""From a topic's name to Dewey numbers: "butterflies" -> 595.789.

A class is meant when its own name is the topic's, or part of it is ("insects, spiders and
crustaceans"); else when the topic is one of its terms, the better the nearer to the front of the
class's line. Where neither holds, the words of the name are classified like a short text, and
the caller should say that it is a guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from treasure.ddc.classes import stems_of
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import digits
from treasure.ddc.weighted import WeightedGalaxy

_PARTS = re.compile(r",|;|/|\(|\)|\band\b|\bof\b|\bin\b|\bfor\b")

NAME, PART, TERM, GUESS = "name", "part of name", "term", "words"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number that a name may mean, how well it fits (1 is the name itself), and why."""

    number: str
    name: str
    fit: float
    why: str


class TopicNames:
    """Finds the numbers that a topic's name may mean."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._names: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._parts: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for number in lexicon.numbers:
            name = lexicon.name(number)
            self._names[stems_of(name)].append(number)
            for part in _PARTS.split(name):
                self._parts[stems_of(part)].append(number)

    def candidates(self, name: str, most: int = 8) -> list[Candidate]:
        """Return what *name* may mean, best first; empty when none of its words is known."""
        found: dict[str, tuple[float, str]] = {}

        def offer(number: str, fit: float, why: str) -> None:
            old = found.get(number)
            if old is None:
                found[number] = (fit, why)
            else:  # two reasons are better than one
                found[number] = (
                    max(old[0], fit) + 0.25 * min(old[0], fit),
                    max(old, (fit, why))[1],
                )

        stems = stems_of(name)
        for number in self._names.get(stems, ()):
            offer(number, 1.0, NAME)
        for number in self._parts.get(stems, ()):
            if number not in found:
                offer(number, 0.6, PART)
        for number, fit in self._as_term(name):
            offer(number, fit, TERM)
        if not found:
            galaxy = WeightedGalaxy(self.lexicon).classify_text(name)
            for number, share in galaxy.numbers:
                offer(number, 0.3 * share, GUESS)
        ranked = sorted(found.items(), key=lambda item: (-item[1][0], digits(item[0])))
        return [
            Candidate(number, self.lexicon.name(number), round(min(fit, 1.0), 3), why)
            for number, (fit, why) in ranked[:most]
        ]

    def neighbours(self, number: str, most: int = 8) -> list[Candidate]:
        """Return the classes around *number*: below it, then beside it."""
        own = digits(number)
        numbers = [n for n in self.lexicon.numbers if n != number]
        below = [n for n in numbers if digits(n).startswith(own)]
        beside = [n for n in numbers if len(digits(n)) == len(own) and digits(n)[:-1] == own[:-1]]
        return [
            Candidate(n, self.lexicon.name(n), 0.0, why)
            for group, why in ((below, "below"), (beside, "beside"))
            for n in group[:most]
        ]

    def _as_term(self, name: str) -> list[tuple[str, float]]:
        term = self.lexicon.find(name)
        if term is None:
            return []
        span = slice(self.lexicon.posting_start[term], self.lexicon.posting_start[term + 1])
        places = self.lexicon.posting_place[span]
        fits = 0.3 + 0.2 / (1 + np.minimum(places, 20) / 4)
        numbers = self.lexicon.posting_number[span]
        return [(self.lexicon.numbers[n], float(f)) for n, f in zip(numbers, fits, strict=True)]
