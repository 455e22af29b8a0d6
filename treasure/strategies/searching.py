"""Searching: what links gain while there is more to look for than to fetch.

Until the topic is found, and again when the harvest collapses, the best links known are not good
enough to go by. Then hosts that were never visited gain, and so do anchors in the topic's own words
on whatever page they stand: that is how ways through other topics are found. When it has collapsed
directories that were never tried gain as well.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.judge import Judge
from treasure.strategies.evidence import Evidence
from treasure.strategies.link_features import FARTHEST, Kinds
from treasure.strategies.link_model import sigmoid

logger = logging.getLogger(__name__)

HARVEST_MEMORY = 20
"""Fetches over which the harvest is averaged."""
COLLAPSE, RECOVERY = 0.4, 0.6
"""Shares of the best harvest so far below which we widen, and above which we stop."""
FOUND = 0.25
"""Best harvest from which on the topic counts as found."""
HOST_NOVELTY = 0.15
"""What a host that was never visited gains."""
NOVELTY = 0.25
"""What a directory that was never tried gains while we are wide."""
PROMISE, FADING = 0.8, 0.85
"""What an anchor in the topic's words gains, and what is left of it with each page off topic on
the way."""

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Searching:
    """Watches the harvest, and says what links gain by it."""

    def __init__(self, judge: Judge, evidence: Evidence, kinds: Kinds) -> None:
        self.judge = judge
        self.evidence = evidence
        self.kinds = kinds
        self.widened = False
        """Whether the harvest has collapsed and new kinds of links are preferred."""
        self._harvest = self._best = 0.0

    def fetched(self, *, on_topic: bool) -> None:
        """Take in what one fetch brought."""
        self._harvest += (on_topic - self._harvest) / HARVEST_MEMORY
        self._best = max(self._best, self._harvest)
        if not self.widened and self._harvest < COLLAPSE * self._best:
            self.widened = True
            logger.info(
                "The harvest fell from %.2f to %.2f: widening to kinds of links not yet tried.",
                self._best,
                self._harvest,
            )
        elif self.widened and self._harvest > RECOVERY * self._best:
            self.widened = False
            logger.info("The harvest is back at %.2f: no longer widening.", self._harvest)

    def gain(self, rows: Rows) -> Floats:
        """Return what links gain because we search: for their novelty, or for what they promise."""
        if not self.widened and self._best >= FOUND:
            return np.zeros(rows.size)
        column, kinds = self.evidence.column, self.kinds
        gain: Floats = np.maximum(
            HOST_NOVELTY / (1.0 + kinds.hosts.fetched(column["host"][rows])), self._promise(rows)
        )
        if self.widened:
            novelty = NOVELTY / (1.0 + kinds.folders.fetched(column["folder"][rows]))
            gain = np.maximum(gain, novelty * self._kept(rows))
        return gain

    def _promise(self, rows: Rows) -> Floats:
        """Return what the anchors promise, whatever page they stand on, fading with the way."""
        column = self.evidence.column
        faded: Floats = FADING ** np.minimum(column["distance"][rows], FARTHEST)
        anchors = column["anchor_terms"][rows]
        words = np.maximum(
            self.judge.dewey_evidence(anchors)[0], sigmoid(4.0 * self.judge.terms_evidence(anchors))
        )
        # Link farms speak in the topic's words too.
        promise: Floats = PROMISE * faded * words * self._kept(rows)
        return promise

    def _kept(self, rows: Rows) -> Floats:
        """Return how far the hosts are believed: less with every page off topic."""
        kept = 2.0 * self.kinds.hosts.relevance(self.evidence.column["host"][rows], 0.5, 2.0)
        return np.minimum(kept, 1.0)

    def state(self) -> tuple[float, float, bool]:
        """Return what was seen of the harvest."""
        return self._harvest, self._best, self.widened

    def restore(self, state: tuple[float, float, bool]) -> None:
        """Go on from what ``state`` returned."""
        self._harvest, self._best, self.widened = state
