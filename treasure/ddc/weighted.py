"""The weighted galaxy: how pages are classified.

The plain galaxy counts every dot alike, so common words with many numbers swamp it. Here a dot
weighs what its term tells, shared among the term's numbers:

    weight(dot) = rarity(term) x sqrt(tf) x anchor impact / numbers of the term

tf counts the opening words of a text three times: titles come first. To the dots of terms come the
faint dots of all words (``kinship``). A region's weight is the plain sum; a class is ranked by
its own weight and, in part, by that of its division and main class, so that the numbers of a
text support each other. How each choice was measured: docs/decisions/031-faint-dots.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.galaxy import ANCHOR_IMPACT, Galaxy
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import class_of, normal, pointed
from treasure.text import VOCABULARY, first_places, words

OPENING_WORDS = 15
OPENING_WEIGHT = 3.0
DIVISION, MAIN_CLASS = 0.3, 0.2
"""What a class gains from the weight of its division and of its main class."""
MOST_GAIN = 4.0
"""It gains at most this many times its own weight: neighbours alone make no number."""
MOST_NUMBERS = 10
"""How many numbers a galaxy names."""
MAJORITY = 0.5
"""A number is made more precise while one branch below it holds more than this of its terms."""

Floats = NDArray[np.float64]

_DOT = np.dtype([("number", np.uint16), ("class", np.uint16), ("weight", np.float32)])
"""Eight bytes that are needed together lie together."""


class _Dots(NamedTuple):
    """The dots of a text: those of its terms, and the faint ones of its stems, a row a stem."""

    term: NDArray[np.int32]
    sizes: NDArray[np.int32]
    """How many dots each term has, one after the other in the next two."""
    bright: NDArray[np.void]
    weight: Floats
    stem: NDArray[np.int32]
    faint: NDArray[np.void]
    faint_weight: Floats


class WeightedGalaxy:
    """Classifies by what words tell."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._numbers_of_term = np.diff(lexicon.posting_start)
        self._dot_weight = np.repeat(lexicon.rarity / self._numbers_of_term, self._numbers_of_term)
        self._digits = lexicon.digits
        classes = [class_of(number) for number in lexicon.numbers]
        names, self._class_of = np.unique(classes, return_inverse=True)
        self._division_of = np.unique([name[:2] for name in names], return_inverse=True)[1]
        self._main_of = np.unique([name[:1] for name in names], return_inverse=True)[1]
        self._members = np.searchsorted(self._class_of, np.arange(len(names) + 1)).tolist()

    @cached_property
    def _bright(self) -> NDArray[np.void]:
        """The dots of all terms."""
        return self._table(self.lexicon.posting_number, self._dot_weight)

    @cached_property
    def _faint(self) -> NDArray[np.void]:
        """The faint dots of all stems, a row each.

        Nearly all stems have the same number of them, so that rows of that size, filled up with
        dots of no weight, take no more room and are found by their number alone.
        """
        sizes = np.diff(self.lexicon.faint_start)
        rows = np.zeros((len(sizes), int(sizes.max(initial=0))), _DOT)
        filled = np.arange(rows.shape[1]) < sizes[:, None]
        rows[filled] = self._table(self.lexicon.faint_number, self.lexicon.faint_weight)
        return rows

    def _table(
        self, number: NDArray[np.integer[Any]], weight: NDArray[np.floating[Any]]
    ) -> NDArray[np.void]:
        table = np.empty(len(number), _DOT)
        table["number"], table["class"], table["weight"] = number, self._class_of[number], weight
        return table

    def classify_text(self, text: str) -> Galaxy:
        """Return the galaxy of *text*."""
        return self.classify(VOCABULARY.ids(words(text)))

    def classify(self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of a text given as vocabulary ids; *anchor* marks words of the link.

        >>> galaxy = WeightedGalaxy(Lexicon.load()).classify(page.terms)  # doctest: +SKIP
        >>> galaxy.numbers[0], galaxy.share(topic.numbers)  # doctest: +SKIP
        (("523", 0.31), 0.44)
        """
        place, known = self.lexicon.stems_in(terms)
        hits = self.lexicon.match_stems(place, known)
        dots = self._dots(hits.term, hits.start, known, place, anchor)
        real = dots.faint["weight"] > 0
        stem = np.broadcast_to(dots.stem[:, None] + self.lexicon.size, real.shape)
        return Galaxy(
            self.lexicon,
            hits,
            np.concatenate([dots.term.repeat(dots.sizes), stem[real]]),
            np.concatenate([dots.bright["number"], dots.faint["number"][real]]).astype(np.int32),
            np.concatenate([dots.weight, dots.faint_weight[real]]),
            self._ranked(dots, MOST_NUMBERS),
        )

    def numbers(
        self, terms: NDArray[np.int32], most: int = MOST_NUMBERS
    ) -> tuple[tuple[str, float], ...]:
        """Return the best numbers of a text, as ``classify`` does, without the rest."""
        place, known = self.lexicon.stems_in(terms)
        found, _ = self.lexicon.terms_at(known)
        hits = np.flatnonzero(found >= 0)
        dots = self._dots(found.take(hits), place.take(hits), known, place, None)
        return self._ranked(dots, most)

    def _dots(
        self,
        term: NDArray[np.int32],
        start: NDArray[np.integer[Any]],
        stem: NDArray[np.int32],
        place: NDArray[np.int64],
        anchor: NDArray[np.bool_] | None,
    ) -> _Dots:
        """Return the dots of terms and stems, found at these words of a text."""
        known = np.flatnonzero(stem >= 0)
        found = np.concatenate([term, stem.take(known) + self.lexicon.size])
        name, strength = _strengths(found, np.concatenate([start, place.take(known)]), anchor)
        terms = int(np.count_nonzero(name < self.lexicon.size))
        term, stem = name[:terms], name[terms:] - self.lexicon.size
        sizes = self._numbers_of_term.take(term)
        places = (self.lexicon.posting_start.take(term) - sizes.cumsum() + sizes).repeat(sizes)
        bright = self._bright.take(places + np.arange(len(places)))
        faint = self._faint.take(stem, axis=0)
        return _Dots(
            term,
            sizes,
            bright,
            bright["weight"] * strength[:terms].repeat(sizes),
            stem,
            faint,
            faint["weight"] * strength[terms:, None],
        )

    def share_of_terms(self, prefixes: Sequence[str]) -> NDArray[np.float32]:
        """Return a weight for each vocabulary id (those known at load): a topic as a word vector.

        Only words have a place here, phrases have none.
        """
        lexicon = self.lexicon
        on_term, on_stem = self._topic(tuple(map(normal, prefixes)))
        singles = np.flatnonzero(np.diff(lexicon.term_start) == 1)
        weights = on_stem.copy()
        weights[lexicon.term_stems[lexicon.term_start[singles]]] += on_term[singles]
        vector = np.zeros(VOCABULARY.size, np.float32)
        usable = lexicon.vocabulary_ids >= 0
        vector[lexicon.vocabulary_ids[usable]] = weights[usable]
        return vector

    @lru_cache(maxsize=64)  # noqa: B019 - as many as there are topics, for the life of a crawl
    def _topic(self, prefixes: tuple[str, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the weight of each term, and of each stem's faint dots, under *prefixes*."""
        lexicon = self.lexicon
        under = lexicon.under(prefixes)
        return (
            _row_sums(lexicon.posting_start, self._dot_weight * under[lexicon.posting_number]),
            _row_sums(lexicon.faint_start, lexicon.faint_weight * under[lexicon.faint_number]),
        )

    def _ranked(self, dots: _Dots, most: int) -> tuple[tuple[str, float], ...]:
        """Return the best classes, each as its most precise number that a majority backs."""
        classes = len(self._members) - 1
        own = _sums(dots.bright["class"], dots.weight, classes)
        own += _sums(dots.faint["class"].ravel(), dots.faint_weight.ravel(), classes)
        if not own.any():
            return ()
        gain = DIVISION * _sums(self._division_of, own)[self._division_of]
        gain += MAIN_CLASS * _sums(self._main_of, own)[self._main_of]
        ranks = own + np.minimum(gain, MOST_GAIN * own)
        ranks /= ranks.sum()
        scores = _sums(dots.bright["number"], dots.weight, len(self._digits))
        best: list[tuple[str, float]] = []
        while len(best) < most and (rank := float(ranks[place := int(ranks.argmax())])) > 0:
            best.append((self._precise(place, scores), rank))
            ranks[place] = 0.0
        return tuple(best)

    def _precise(self, place: int, scores: Floats) -> str:
        """Go down from a class to where its terms crowd; return the number reached."""
        first, stop = self._members[place], self._members[place + 1]
        found = [
            (own, weight)
            for own, weight in zip(
                self._digits[first:stop], scores[first:stop].tolist(), strict=True
            )
            if weight > 0
        ]
        reached = self._digits[first][:3].ljust(3, "0")
        inside = sum(weight for _, weight in found)
        while found:
            below: dict[str, float] = {}
            for own, weight in found:
                if len(own) > len(reached):
                    branch = own[: len(reached) + 1]
                    below[branch] = below.get(branch, 0.0) + weight
            branch = max(below, key=below.__getitem__, default="")
            if not branch or below[branch] <= MAJORITY * inside:
                break
            reached, inside = branch, below[branch]
            found = [(own, weight) for own, weight in found if own.startswith(reached)]
        return self._named(reached)

    @lru_cache(maxsize=4_096)  # noqa: B019 - galaxies live as long as the process
    def _named(self, reached: str) -> str:
        """Return the number of these digits, or the nearest above it that has a name."""
        while len(reached) > 3 and pointed(reached) not in self.lexicon:
            reached = reached[:-1]
        return normal(pointed(reached))


def _strengths(
    found: NDArray[np.int32], start: NDArray[np.integer[Any]], anchor: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int32], Floats]:
    """Return the distinct terms and sqrt(tf) x anchor impact of each."""
    first = first_places(found)
    times = np.where(start < OPENING_WORDS, OPENING_WEIGHT, 1.0)
    strength = np.sqrt(np.bincount(first, times, len(found)))
    if anchor is not None and len(found):
        strength[np.unique(first[anchor[start]])] *= ANCHOR_IMPACT
    new = np.flatnonzero(strength)
    return found.take(new), strength.take(new)


def _sums(
    places: NDArray[np.integer[Any]], weights: NDArray[np.floating[Any]], size: int = 0
) -> Floats:
    return np.asarray(np.bincount(places, weights, size), np.float64)


def _row_sums(starts: NDArray[np.int32], weights: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
    return np.asarray(sums[starts[1:]] - sums[starts[:-1]], np.float32)
