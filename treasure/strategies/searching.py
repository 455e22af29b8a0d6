"""Searching: what links gain while there is more to look for than to fetch.

Until the topic is found, and again when the harvest collapses, the best links known are not good
enough to go by. Then hosts that were never visited gain, and so do anchors in the topic's own words
on whatever page they stand: that is how ways through other topics are found. When it has collapsed
directories that were never tried gain as well.

A host whose pages all have to do with the topic a little would keep the crawl for ever. So as long
as nothing much better was found a share of the fetches are *scouts*: the best link to a host that
was never visited, whatever else waits. Hosts that have shown us several others are *guides*, as
directories and portals are: scouts follow their links first, and then look at their other pages.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.core.features import FARTHEST, topic_words
from treasure.ddc.judge import Judge
from treasure.strategies.evidence import Evidence
from treasure.strategies.link_features import Kinds
from treasure.strategies.rates import FETCHED

logger = logging.getLogger(__name__)

HARVEST_MEMORY = 20
"""Fetches over which the harvest is averaged."""
COLLAPSE, RECOVERY = 0.4, 0.6
"""Shares of the best harvest so far below which we widen, and above which we stop."""
FOUND = 0.25
"""Best harvest from which on the topic counts as found."""
SCOUTING = 0.3
"""Share of fetches that are scouts while nothing is found; falls as the best harvest rises."""
FRONT_PAGE = 3.0
"""How much rather a scout goes to the front page of a site: it tells most of it."""
GUIDING = 0.5
"""New hosts that a guide must have shown us with each of its pages."""
SEVERAL = 3
"""New hosts that it must have shown us at least."""
OWED = 2.0
"""Scouts that may be due at once."""
HOST_NOVELTY = 0.15
"""What a host that was never visited gains."""
NOVELTY = 0.25
"""What a directory that was never tried gains while we are wide."""
PROMISE, FADING = 0.8, 0.85
"""What an anchor in the topic's words gains, and what is left of it with each page off topic on
the way."""
PROMISED = 0.5
"""Share of the topic's words from which on an anchor counts as a promise, to be kept or broken."""

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
        """Shares of pages on topic, of late and at their best."""
        self._worth = self._most = 0.0
        """Mean relevance, likewise."""
        self._owed = -1.0
        """Scouts that are due; none at once, as many topics are found without."""
        self._scouted: set[int] = set()
        """Hosts that scouts were sent to."""
        self._shown: dict[int, int] = {}
        """How many hosts that live each host has shown us first."""

    def fetched(
        self, row: int | None, relevance: float, *, on_topic: bool, alive: bool = True
    ) -> None:
        """Take in what one fetch brought; scouts have their own chances, and don't count."""
        if row is not None:
            column = self.evidence.column
            guide, host = int(column["way"][row]), int(column["host"][row])
            if alive and guide >= 0 and not self.kinds.hosts.counts_of(host)[FETCHED]:
                self._shown[guide] = self._shown.get(guide, 0) + 1
            if self.lost and self._words(np.array([row]))[0] > PROMISED:
                self.kinds.promises.add(host, relevance)
            if column["scout"][row]:
                return
        self._worth += (relevance - self._worth) / HARVEST_MEMORY
        self._most = max(self._most, self._worth)
        self._owed = min(self._owed + SCOUTING * (1.0 - self._most) ** 2, OWED)
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
        if not self.lost:
            return np.zeros(rows.size)
        column, kinds = self.evidence.column, self.kinds
        gain: Floats = np.maximum(
            HOST_NOVELTY / (1.0 + kinds.hosts.fetched(column["host"][rows])), self._promise(rows)
        )
        if self.widened:
            novelty = NOVELTY / (1.0 + kinds.folders.fetched(column["folder"][rows]))
            gain = np.maximum(gain, novelty * self._kept(rows))
        return gain

    def scout(self) -> int | None:
        """Return the best link to a host never visited, or to a guide, when one is due."""
        if self._owed < 1.0:
            return None
        column, rows = self.evidence.column, self.evidence.live()
        hosts, sources = column["host"][rows], column["way"][rows]
        new = (self.kinds.hosts.fetched(hosts) == 0.0) & ~np.isin(hosts, list(self._scouted))
        guides = self._guides()
        shown = new & np.isin(sources, guides)
        further = np.isin(hosts, guides) & ~column["scout"][rows]
        for wanted in (shown, further, new):
            if wanted.any():
                break
        else:
            self._owed = -OWED  # to look through the queue takes time: not again at once
            return None
        worth = column["score"][rows] * np.where(column["front"][rows], FRONT_PAGE, 1.0)
        best = int(np.argmax(np.where(wanted, worth, -1.0)))
        self._owed -= 1.0
        self._scouted.add(int(hosts[best]))
        return int(rows[best])

    def _guides(self) -> list[int]:
        """Return the hosts that have shown us several others, some with each of their pages."""
        fetched = self.kinds.hosts.counts_of
        return [
            host
            for host, others in self._shown.items()
            if others >= max(SEVERAL, GUIDING * fetched(host)[FETCHED])
        ]

    @property
    def lost(self) -> bool:
        """Whether there is anything to gain."""
        return self.widened or self._best < FOUND

    def _promise(self, rows: Rows) -> Floats:
        """Return what the anchors promise, whatever page they stand on, fading with the way."""
        column = self.evidence.column
        faded: Floats = FADING ** np.minimum(column["distance"][rows], FARTHEST)
        # Link farms speak in the topic's words too.
        kept = 2.0 * self.kinds.promises.relevance(column["host"][rows], 0.5, 2.0)
        promise: Floats = PROMISE * faded * self._words(rows) * np.minimum(kept, 1.0)
        return promise

    def _words(self, rows: Rows) -> Floats:
        """Return how far the anchors are in the topic's words."""
        words = np.empty(rows.size)
        topic_words(rows, self.evidence.columns[2], self.judge.tables, words)
        return words

    def _kept(self, rows: Rows) -> Floats:
        """Return how far the hosts are believed: less with every page off topic."""
        believed = self.kinds.hosts.relevance(self.evidence.column["host"][rows], 0.5, 2.0)
        kept: Floats = np.minimum(2.0 * believed, 1.0)
        return kept

    def state(self) -> dict[str, Any]:
        """Return what was seen of the harvest."""
        return {
            "harvest": (self._harvest, self._best, self._worth, self._most),
            "widened": self.widened,
            "owed": self._owed,
            "scouted": sorted(self._scouted),
            "shown": list(self._shown.items()),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self._harvest, self._best, self._worth, self._most = state["harvest"]
        self.widened = state["widened"]
        self._owed = state["owed"]
        self._scouted = set(state["scouted"])
        self._shown = dict(state["shown"])
