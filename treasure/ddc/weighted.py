"""The weighted galaxy: how pages are classified.

The plain galaxy counts every dot alike, so common words with many numbers swamp it. Here a dot
weighs what its term tells (../shared/ddc/README.md):

    weight(dot) = rarity(term) x (1 + ln tf) x weight(term, number) / sum of the term's weights

times the anchor impact for words of an anchor, and W of a region is the plain sum. Everything is
linear in the terms, so that spans of a page can be scored with prefix sums (``weigh``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.galaxy import ANCHOR_IMPACT, Galaxy, dots_of
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import normal
from treasure.text import VOCABULARY, words

MOST_NUMBERS = 10
"""How many numbers a galaxy names."""


class WeightedGalaxy:
    """Classifies by what terms tell."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        totals = np.add.reduceat(lexicon.posting_weight, lexicon.posting_start[:-1].astype(np.intp))
        term = np.repeat(np.arange(lexicon.size), np.diff(lexicon.posting_start))
        self._dot_weight = lexicon.posting_weight / totals[term] * lexicon.rarity[term]
        self._term_weight = lexicon.rarity

    def classify_text(self, text: str) -> Galaxy:
        """Return the galaxy of *text*."""
        return self.classify(VOCABULARY.ids(words(text)))

    def classify(self, terms: NDArray[np.int32], anchor: NDArray[np.bool_] | None = None) -> Galaxy:
        """Return the galaxy of a text given as vocabulary ids; *anchor* marks words of the link.

        >>> galaxy = WeightedGalaxy(Lexicon.load()).classify(page.main_terms)  # doctest: +SKIP
        >>> galaxy.numbers[0], galaxy.share(topic.numbers)  # doctest: +SKIP
        (("523", 0.31), 0.44)
        """
        hits = self.lexicon.match(terms)
        unique, index, counts = np.unique(hits.term, return_inverse=True, return_counts=True)
        strength = 1.0 + np.log(counts)
        if anchor is not None and len(hits):
            strength[index[anchor[hits.start]]] *= ANCHOR_IMPACT
        place, number = dots_of(self.lexicon, unique)
        posting = self._postings(unique)
        weight = self._dot_weight[posting] * strength[place]
        return Galaxy(
            self.lexicon, hits, unique[place], number, weight, self._ranked(number, weight)
        )

    def weigh(
        self, terms: NDArray[np.int32], prefixes: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return two weights for each word of a text: under *prefixes*, and at all.

        A term's weight stands at its first word. With prefix sums of both, the topic's share of
        any span costs two subtractions; repetition counts in full here, not by its logarithm.
        """
        hits = self.lexicon.match(terms)
        on = np.zeros(len(terms), np.float32)
        total = np.zeros(len(terms), np.float32)
        on[hits.start] = self.topic_weights(prefixes)[hits.term]
        total[hits.start] = self._term_weight[hits.term]
        return on, total

    def topic_weights(self, prefixes: Sequence[str]) -> NDArray[np.float32]:
        """Return, for each term of the lexicon, the part of its weight under *prefixes*."""
        under = self.lexicon.under(tuple(map(normal, prefixes)))[self.lexicon.posting_number]
        starts = self.lexicon.posting_start[:-1].astype(np.intp)
        return np.add.reduceat(self._dot_weight * under, starts).astype(np.float32)

    def share_of_terms(self, prefixes: Sequence[str]) -> NDArray[np.float32]:
        """Return a weight for each vocabulary id (those known at load): a topic as a word vector.

        Only terms of one word have a place here; ``weigh`` counts phrases too.
        """
        singles = np.flatnonzero(np.diff(self.lexicon.term_start) == 1)
        stems = self.lexicon.term_stems[self.lexicon.term_start[singles]]
        ids = self.lexicon.vocabulary_ids[stems]
        vector = np.zeros(VOCABULARY.size, np.float32)
        usable = ids >= 0
        vector[ids[usable]] = self.topic_weights(prefixes)[singles[usable]]
        return vector

    def _postings(self, terms: NDArray[np.int32]) -> NDArray[np.int64]:
        first = self.lexicon.posting_start[terms]
        counts = self.lexicon.posting_start[terms + 1] - first
        ends = np.cumsum(counts)
        offset: NDArray[np.int64] = np.repeat(first - (ends - counts), counts)
        return np.arange(len(offset)) + offset

    def _ranked(
        self, number: NDArray[np.int32], weight: NDArray[np.floating]
    ) -> tuple[tuple[str, float], ...]:
        total = float(weight.sum())
        if total <= 0:
            return ()
        scores = np.bincount(number, weight, len(self.lexicon.numbers))
        best = np.argsort(-scores, kind="stable")[:MOST_NUMBERS]
        return tuple(
            (self.lexicon.numbers[place], float(scores[place]) / total)
            for place in best.tolist()
            if scores[place] > 0
        )
