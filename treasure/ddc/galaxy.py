"""The galaxy: the words of a text as dots over D-numbers, and where they crowd.

The plain galaxy is that of the papers (TC 5.1, Fig. 4): every number of every word is a dot; a
region is all dots whose numbers begin alike; its weight is

    W = n x sum_i( length(d_i) x anchor_impact(d_i) )        n = number of dots in the region

with an anchor impact of 1.4 for words of the anchor text, else 1.0. The best of the ten regions
of the first digit is kept (all that tie), within it the best of the second digit, and so on.
Dots outside the winning regions are outliers; the words of those inside are the topic boundary.

Decisions (ALGORITHMS 1): we go on past the third digit while dots have more digits; we stop when
none has, or when the best region holds a single dot and the region above it more than 5.
``weighted.WeightedGalaxy`` is what pages are classified with; it gives the same ``Galaxy``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.lexicon import Hits, Lexicon
from treasure.ddc.numbers import digits, normal, pointed, written
from treasure.text import VOCABULARY, words

ANCHOR_IMPACT = 1.4
LONE_DOT_PARENT = 5
"""A region with a single dot is not entered when the region above it holds more dots than this."""


class Region(NamedTuple):
    """All dots whose numbers begin with *prefix*, and their weight W."""

    prefix: str
    weight: float
    dots: int
    won: bool


@dataclass(frozen=True)
class Galaxy:
    """What a text is about, and why. Dots are three arrays of the same length."""

    lexicon: Lexicon = field(repr=False)
    hits: Hits = field(repr=False)
    """The terms found in the text, and where."""
    dot_term: NDArray[np.int32] = field(repr=False)
    dot_number: NDArray[np.int32] = field(repr=False)
    """Index into ``lexicon.numbers``."""
    dot_weight: NDArray[np.floating[Any]] = field(repr=False)
    numbers: tuple[tuple[str, float], ...]
    """D-numbers, best first, each with its share of the whole weight."""
    compared: tuple[tuple[Region, ...], ...] | None = field(default=None, repr=False)
    """The regions that a walk compared, digit by digit; None when no walk was made."""

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def share(self, prefixes: Sequence[str]) -> float:
        """Return the share of the galaxy's weight that lies under any of *prefixes*, 0 to 1."""
        total = float(self.dot_weight.sum())
        if total <= 0:
            return 0.0
        under = self.lexicon.under(tuple(map(normal, prefixes)))
        return min(1.0, float(self.dot_weight[under[self.dot_number]].sum()) / total)

    def winners(self) -> tuple[str, ...]:
        """Return the regions that won: those of a walk, else the class of the best number."""
        if self.compared is not None:
            return tuple(number for number, _ in self.numbers)
        return tuple(digits(number)[:3] for number, _ in self.numbers[:1])

    def inside(self) -> NDArray[np.bool_]:
        """Return, for each hit, whether it is in the topic boundary; the rest are outliers."""
        under = self.lexicon.under(self.winners())
        terms = np.unique(self.dot_term[under[self.dot_number]])
        return np.isin(self.hits.term, terms)

    def steps(self) -> tuple[tuple[Region, ...], ...]:
        """Return the regions of each digit on the way to the best number, best first."""
        if self.compared is not None:
            return self.compared
        best = digits(self.numbers[0][0]) if self.numbers else ""
        return tuple(self._regions(best[:depth], depth + 1) for depth in range(len(best)))

    def _regions(self, within: str, depth: int) -> tuple[Region, ...]:
        weight: Counter[str] = Counter()
        dots: Counter[str] = Counter()
        best = digits(self.numbers[0][0])
        for number, part in zip(self.dot_number.tolist(), self.dot_weight.tolist(), strict=True):
            own = self.lexicon.digits[number]
            if len(own) >= depth and own.startswith(within):
                weight[own[:depth]] += part
                dots[own[:depth]] += 1
        return tuple(
            Region(prefix, part, dots[prefix], best.startswith(prefix))
            for prefix, part in weight.most_common()
        )

    def explain(self, most: int = 5) -> dict[str, Any]:
        """Return which words, which numbers and which regions won by how much; JSON-able."""
        counts = Counter(self.hits.term.tolist())
        return {
            "numbers": [
                {
                    "number": written(number),
                    "name": self.lexicon.name(number),
                    "weight": round(weight, 4),
                    "words": self._words_under(number, counts, most),
                }
                for number, weight in self.numbers[:most]
            ],
            "regions": [
                [
                    {
                        "prefix": region.prefix,
                        "name": self.lexicon.name(pointed(region.prefix)),
                        "weight": round(region.weight, 4),
                        "dots": region.dots,
                        "won": region.won,
                    }
                    for region in step[:most]
                ]
                for step in self.steps()
            ],
            "outliers": self._outliers(most * 4),
            "dots": len(self.dot_term),
        }

    def _words_under(self, number: str, counts: Counter[int], most: int) -> list[dict[str, Any]]:
        under = self.lexicon.under((number,))[self.dot_number]
        weight: Counter[int] = Counter()
        for term, part in zip(
            self.dot_term[under].tolist(), self.dot_weight[under].tolist(), strict=True
        ):
            weight[term] += part
        return [
            {"word": self.lexicon.term(term), "count": counts[term], "weight": round(part, 4)}
            for term, part in weight.most_common(most)
        ]

    def _outliers(self, most: int) -> list[str]:
        found = Counter(self.hits.term[~self.inside()].tolist())
        return [self.lexicon.term(term) for term, _ in found.most_common(most)]


class PlainGalaxy:
    """Classifies as the papers do."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def classify_text(self, text: str) -> Galaxy:
        """Return the galaxy of *text*."""
        return self.classify(VOCABULARY.ids(words(text)))

    def classify(self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of a text given as vocabulary ids; *anchor* marks words of the link."""
        return self.plot(terms).galaxy(anchor)

    def plot(self, terms: NDArray[np.int32]) -> Plot:
        """Return the dots of a text, to be classified for each of its anchors."""
        return Plot(self, terms)


class Plot:
    """The dots of a text, counted by region once; an anchor only adds its own impact.

    A list of two hundred links is one text and as many galaxies.
    """

    def __init__(self, galaxies: PlainGalaxy, terms: NDArray[np.int32]) -> None:
        self.lexicon = galaxies.lexicon
        self.hits = self.lexicon.match(terms)
        self._hit, places = dots_of(self.lexicon.posting_start, self.hits.term)
        self.number = self.lexicon.posting_number[places]
        self._digits = [self.lexicon.digits[number] for number in self.number.tolist()]
        self._length = np.array([len(own) for own in self._digits], np.float64)
        self._winners: dict[bytes, tuple[str, ...]] = {}
        self._dots: Counter[str] = Counter()
        """How many dots lie in each region."""
        self._sums: Counter[str] = Counter()
        """The sum of their lengths."""
        self._parts: dict[str, list[str]] = {}
        """The regions, one digit longer, within each region."""
        for own, times in Counter(self._digits).items():
            for prefix in _prefixes(own):
                if prefix not in self._dots:
                    self._parts.setdefault(prefix[:-1], []).append(prefix)
                self._dots[prefix] += times
                self._sums[prefix] += times * len(own)

    def galaxy(self, anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of the text when *anchor* marks the words of the link."""
        marked = self._marked(anchor)[self._hit]
        weight = np.where(marked, ANCHOR_IMPACT, 1.0) * self._length
        total = float(weight.sum())
        gains = self._gains(marked)
        ended, steps = self._walk(gains)
        shares = [
            (normal(pointed(own)), (self._sums[own] + gains.get(own, 0.0)) / total) for own in ended
        ]
        shares.sort(key=lambda pair: (-pair[1], pair[0]))
        term = self.hits.term[self._hit]
        return Galaxy(
            self.lexicon, self.hits, term, self.number, weight, tuple(shares), tuple(steps)
        )

    def winners(self, anchor: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return the numbers of that galaxy alone, which is all that most links are asked for."""
        marked = self._marked(anchor)
        name = marked.tobytes()
        if name not in self._winners:
            ended, _ = self._walk(self._gains(marked[self._hit]))
            self._winners[name] = tuple(sorted(normal(pointed(own)) for own in ended))
        return self._winners[name]

    def boundary(self, winners: tuple[str, ...], size: int) -> NDArray[np.bool_]:
        """Return, for each of the text's *size* words, whether it lies in a region of *winners*."""
        inside = np.zeros(len(self.hits), np.bool_)
        inside[self._hit[self.lexicon.under(winners)[self.number]]] = True
        return self.hits.words(inside, size)

    def _marked(self, anchor: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return which hits begin in the anchor."""
        return np.zeros(len(self.hits), np.bool_) if anchor is None else anchor[self.hits.start]

    def _gains(self, marked: NDArray[np.bool_]) -> Mapping[str, float]:
        """Return what each region gains by the dots that are *marked* as the anchor's."""
        gains: defaultdict[str, float] = defaultdict(float)
        for dot in np.flatnonzero(marked).tolist():
            own = self._digits[dot]
            for prefix in _prefixes(own):
                gains[prefix] += (ANCHOR_IMPACT - 1) * len(own)
        return gains

    def _walk(self, gains: Mapping[str, float]) -> tuple[list[str], list[tuple[Region, ...]]]:
        """Go down digit by digit; return where the walk ended, and what was compared."""
        ended: list[str] = []
        steps: list[tuple[Region, ...]] = []
        winners = [""]
        while True:
            places = [part for winner in winners for part in self._parts.get(winner, ())]
            if not places:
                break
            totals = [
                self._dots[place] * (self._sums[place] + gains.get(place, 0.0)) for place in places
            ]
            line = max(totals) * (1 - 1e-9) - 1e-8
            best = [place for place, total in zip(places, totals, strict=True) if total >= line]
            above = sum(self._dots[winner] for winner in winners)
            if above > LONE_DOT_PARENT and max(self._dots[place] for place in best) == 1:
                break
            found = [
                Region(place, total, self._dots[place], total >= line)
                for place, total in zip(places, totals, strict=True)
            ]
            steps.append(tuple(sorted(found, key=lambda region: (-region.weight, region.prefix))))
            ended += [winner for winner in winners if winner not in self._parts]
            winners = best
        return ended + [winner for winner in winners if winner], steps


def _prefixes(own: str) -> list[str]:
    """Return the regions that a number lies in, from its first digit to itself."""
    return [own[:depth] for depth in range(1, len(own) + 1)]


def on_topic(numbers: Sequence[str], prefixes: Sequence[str]) -> float:
    """Return the papers' verdict on a text: 1 when one of *numbers* lies under *prefixes*, else 0.

    Where the galaxy stopped before it reached the topic's depth, on the way to it: 0.5.
    """
    topics = [digits(normal(prefix)) for prefix in prefixes]
    own = [digits(number) for number in numbers]
    if any(number.startswith(topic) for number in own for topic in topics):
        return 1.0
    return 0.5 * any(topic.startswith(number) for number in own for topic in topics)


def dots_of(
    starts: NDArray[np.int32], terms: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each dot of *terms*, which of these it is of, and its own place.

    The dots of a term begin at its place in *starts* and end where the next begin.
    """
    first = starts[terms]
    counts = starts[terms + 1] - first
    place = np.repeat(np.arange(len(terms)), counts)
    offset = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place, np.repeat(first, counts) + offset
