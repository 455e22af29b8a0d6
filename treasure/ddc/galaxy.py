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

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.lexicon import Hits, Lexicon
from treasure.ddc.numbers import digits, normal, pointed, written
from treasure.text import VOCABULARY, words

ANCHOR_IMPACT = 1.4
LONE_DOT_PARENT = 5
"""A region with a single dot is not entered when the region above it holds more dots than this."""


@dataclass(frozen=True, slots=True)
class Region:
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

    def on_topic(self, prefixes: Sequence[str]) -> float:
        """Return the papers' verdict: 1 when a number lies under one of *prefixes*, else 0.

        Where the galaxy stopped before it reached the topic's depth, on the way to it: 0.5.
        """
        topics = [digits(normal(prefix)) for prefix in prefixes]
        own = [digits(number) for number, _ in self.numbers]
        if any(number.startswith(topic) for number in own for topic in topics):
            return 1.0
        return 0.5 * any(topic.startswith(number) for number in own for topic in topics)

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

    def boundary(self, size: int) -> NDArray[np.bool_]:
        """Return, for each of the text's *size* words, whether it is in the topic boundary."""
        mask = np.zeros(size, np.bool_)
        keep = self.inside()
        for start, stop in zip(
            self.hits.start[keep].tolist(), self.hits.stop[keep].tolist(), strict=True
        ):
            mask[start:stop] = True
        return mask

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
            own = digits(self.lexicon.numbers[number])
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
        self._length = np.array([len(digits(number)) for number in lexicon.numbers], np.int32)

    def classify_text(self, text: str) -> Galaxy:
        """Return the galaxy of *text*."""
        return self.classify(VOCABULARY.ids(words(text)))

    def classify(self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of a text given as vocabulary ids; *anchor* marks words of the link."""
        hits = self.lexicon.match(terms)
        hit, number = dots_of(self.lexicon, hits.term)
        impact = np.ones(len(hits))
        if anchor is not None and len(hits):
            impact[anchor[hits.start]] = ANCHOR_IMPACT
        weight = self._length[number] * impact[hit]
        prefixes, steps = self._walk(number, weight)
        total = float(weight.sum())
        shares = []
        for prefix in prefixes:
            under = self.lexicon.under((prefix,))[number]
            shares.append((normal(prefix), float(weight[under].sum()) / total))
        shares.sort(key=lambda pair: (-pair[1], pair[0]))
        return Galaxy(
            self.lexicon, hits, hits.term[hit], number, weight, tuple(shares), tuple(steps)
        )

    def _walk(
        self, number: NDArray[np.int32], weight: NDArray[np.float64]
    ) -> tuple[list[str], list[tuple[Region, ...]]]:
        """Go down digit by digit; return where the walk ended, and what was compared."""
        ended: list[str] = []
        steps: list[tuple[Region, ...]] = []
        winners: list[Region] = []
        for depth, region_of in enumerate(self.lexicon.regions, 1):
            region = region_of[number]
            deep = region >= 0
            places, index, dots = np.unique(region[deep], return_inverse=True, return_counts=True)
            if not len(places):
                break
            totals = np.asarray(np.bincount(index, weight[deep] * dots[index]), np.float64)
            best = totals.max()
            won = totals >= best - 1e-9 * best - 1e-8  # np.isclose takes ten times as long
            if dots[won].max() == 1 and sum(w.dots for w in winners) > LONE_DOT_PARENT:
                break
            compared = self._regions(depth, places, totals, dots, won)
            steps.append(compared)
            prefixes = tuple(found.prefix for found in compared)
            ended += [
                w.prefix for w in winners if not any(p.startswith(w.prefix) for p in prefixes)
            ]
            winners = [found for found in compared if found.won]
            inside = np.flatnonzero(deep)[won[index]]
            number, weight = number[inside], weight[inside]
        return [pointed(prefix) for prefix in ended + [w.prefix for w in winners]], steps

    def _regions(
        self,
        depth: int,
        places: NDArray[np.int32],
        totals: NDArray[np.float64],
        dots: NDArray[np.int64],
        won: NDArray[np.bool_],
    ) -> tuple[Region, ...]:
        """Return the regions of one digit with their W, best first."""
        found = [
            Region(digits(self.lexicon.numbers[place])[:depth], *figures)
            for place, *figures in zip(
                places.tolist(), totals.tolist(), dots.tolist(), won.tolist(), strict=True
            )
        ]
        return tuple(sorted(found, key=lambda region: (-region.weight, region.prefix)))


def dots_of(
    lexicon: Lexicon, terms: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return, for each number of each of *terms*, the term's place and the number's index."""
    first = lexicon.posting_start[terms]
    counts = lexicon.posting_start[terms + 1] - first
    place = np.repeat(np.arange(len(terms)), counts)
    offset = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place, lexicon.posting_number[np.repeat(first, counts) + offset]
