"""Pal et al.: links ranked by all that is known of them, and a way through irrelevant pages.

Pal, Tomar and Shrivastava, "Effective focused crawling based on content and link structure
analysis" (IJCSIS 2009). The weight table is in weight_table.py.

    LinkScore(j) = URLScore(j) + AnchorScore(j) + LinksFromRelevantPageDB(j)
                   + [Relevance(p1) + ... + Relevance(pn)]                              (eq. 4)

Links of a relevant page enter the URL queue. Links of an irrelevant page enter its irrelevant table
with level 0. Of a table's links the one with the highest score, Umax, is downloaded if its level is
at most maxLevel. If it is relevant and its level is below maxLevel, its links enter the table with
level + 1; if it is irrelevant, all entries with a score not above Umax's and with its level move to
the next level.

As one score: s / (1 + s) of the LinkScore s, which keeps its order, for the URL queue and for table
entries up to maxLevel; the paper drains a table at the moment it appears, but its entries compete
with the queue here, where the sum of eq. 4 puts links of relevant pages first anyway. What the
paper never downloads (beyond maxLevel, links of irrelevant pages within a table) waits below the
floor. There the sum over parents becomes their mean: from seeds off topic all parents are
irrelevant, and their sum only says what is popular.

Decisions. The pseudo-code raises one level shared by the whole loop; here the level belongs to the
entry. A table belongs to the irrelevant page that opened it, as the paper's explanation says ("all
the children of this page"). A link found by a relevant page of the URL queue leaves its table. The
relevancy limit is half the median relevance of the examples, else of the seeds as they arrive, and
stays within 0.05 and 0.5. AnchorScore is that of the best anchor seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import msgspec

from treasure.pages import Link
from treasure.strategies.base import FLOOR, Arrival, Brief, Strategy
from treasure.strategies.memory import Bounded
from treasure.strategies.options import whole
from treasure.strategies.scores import saturated
from treasure.strategies.weight_table import WeightTable
from treasure.text_model import term_counts, url_terms
from treasure.urls import url_key

QUEUE = 0
"""Table of the links that are in no irrelevant table."""
LEAST_LIMIT, MOST_LIMIT = 0.05, 0.5
MAX_TABLES = 5_000
MAX_SEEDS = 100
"""Seeds that set the relevancy limit; more would not move their median much."""


class Candidate(msgspec.Struct):
    """A waiting link: the parts of its LinkScore, and where it waits."""

    url_score: float
    anchor_score: float = 0.0
    links_from_relevant: int = 0
    parents: float = 0.0
    """Sum of the relevance of its parent pages."""
    pages: int = 0
    """How many they are."""
    last_parent: int = 0
    table: int = QUEUE
    level: int = 0

    @property
    def link_score(self) -> float:
        """LinkScore(j), eq. 4."""
        return self.url_score + self.anchor_score + self.links_from_relevant + self.parents

    @property
    def own_score(self) -> float:
        """LinkScore with the mean of the parents' relevance in place of the sum."""
        return self.link_score - self.parents + self.parents / max(self.pages, 1)


class _State(msgspec.Struct):
    candidates: list[tuple[int, Candidate]]
    tables: list[tuple[int, list[int]]]
    added: dict[str, float]
    seed_relevance: list[float]


class Pal(Strategy):
    """Ranks links by LinkScore, through irrelevant pages down to *max_level*."""

    wants = frozenset({"examples"})

    def __init__(self, brief: Brief, *, max_level: int = 2, table_size: int = 50) -> None:
        super().__init__(brief)
        self.max_level = whole("max_level", max_level, 0, 100)
        size = whole("table_size", table_size, 1, 10_000)
        self.table = WeightTable.of(brief.topic, brief.examples, size=size)
        self._examples = [self.table.page_relevance(page) for page in brief.examples]
        self._seeds: list[float] = []
        self._candidates: Bounded[int, Candidate] = Bounded()
        self._tables: Bounded[int, list[int]] = Bounded(MAX_TABLES)
        self._moved: dict[int, float] = {}
        self._page = _Read()

    @property
    def relevancy_limit(self) -> float:
        """Least relevance of a relevant page."""
        known = self._examples or self._seeds
        half = median(known) / 2 if known else 0.0
        return min(max(half, LEAST_LIMIT), MOST_LIMIT)

    def learn(self, arrival: Arrival) -> None:
        """Judge the page, expand the weight table, and move what shares an irrelevant table."""
        relevance = self.table.page_relevance(arrival.page)
        if arrival.depth == 0 and len(self._seeds) < MAX_SEEDS:
            self._seeds.append(relevance)
        self.table.expand(arrival.page, relevance)
        key = url_key(arrival.url)
        came = self._candidates.pop(key, None) or Candidate(0.0)
        self._moved.pop(key, None)
        relevant = relevance > self.relevancy_limit
        within = came.table != QUEUE and came.level <= self.max_level
        if within and not relevant:
            self._pass_over(came)
        self._page = _Read(key, relevance, relevant, *self._place(key, came, within, relevant))

    def _place(self, key: int, came: Candidate, within: bool, relevant: bool) -> tuple[int, int]:
        """Return the table and level that the links of a page enter."""
        if relevant:
            return (came.table, came.level + 1) if within else (QUEUE, 0)
        if came.table == QUEUE:
            return key, 0
        return came.table, self.max_level + 1

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the squashed LinkScore of every link."""
        scores = []
        for link in links:
            key = link.key
            candidate = self._candidates.get(key)
            new = candidate is None
            if candidate is None:
                url_score = self.table.relevance(term_counts(url_terms(link.url).tolist()))
                candidate = self._candidates[key] = Candidate(url_score)
            anchor = self.table.relevance(arrival.page.counts(link.anchor))
            candidate.anchor_score = max(candidate.anchor_score, anchor)
            if candidate.last_parent != self._page.key or new:
                self._add_parent(key, candidate, new=new)
            self._moved.pop(key, None)
            scores.append(self._squashed(candidate))
        return scores

    def _add_parent(self, key: int, candidate: Candidate, *, new: bool) -> None:
        page = self._page
        candidate.last_parent = page.key
        candidate.parents += page.relevance
        candidate.pages += 1
        candidate.links_from_relevant += page.relevant
        better = page.table == QUEUE or (candidate.table != QUEUE and page.level < candidate.level)
        if new or better:
            candidate.table, candidate.level = page.table, page.level
            if page.table != QUEUE:
                self._tables.setdefault(page.table, []).append(key)

    def _pass_over(self, umax: Candidate) -> None:
        """Lines 26 to 28: what is no better than an irrelevant page moves to the next level."""
        for key in self._tables.get(umax.table, ()):
            other = self._candidates.get(key)
            if (
                other is not None
                and (other.table, other.level) == (umax.table, umax.level)
                and other.link_score <= umax.link_score
            ):
                other.level += 1
                self._moved[key] = self._squashed(other)

    def _squashed(self, candidate: Candidate) -> float:
        if candidate.table != QUEUE and candidate.level > self.max_level:
            return FLOOR * saturated(candidate.own_score)
        return FLOOR + (1.0 - FLOOR) * saturated(candidate.link_score)

    def failed(self, url: str) -> None:
        """Forget a link that is no longer queued."""
        self._candidates.pop(url_key(url), None)

    def explain(self, url: str) -> dict[str, Any]:
        """Return the parts of the LinkScore, and the level where the link waits in a table."""
        candidate = self._candidates.get(url_key(url))
        if candidate is None:
            return {}
        parts = {"LinkScore": candidate.link_score, **msgspec.structs.asdict(candidate)}
        return {name: parts[name] for name in parts if name not in ("last_parent", "table")}

    def rescored(self) -> Mapping[int, float]:
        """Return the links that moved to another level."""
        moved, self._moved = self._moved, {}
        return moved

    def state(self) -> bytes:
        """Return candidates, irrelevant tables and the keywords that were added."""
        return msgspec.json.encode(
            _State(
                candidates=list(self._candidates.items()),
                tables=list(self._tables.items()),
                added=self.table.added,
                seed_relevance=self._seeds,
            )
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        self._candidates.update(saved.candidates)
        self._tables.update(saved.tables)
        self._seeds = saved.seed_relevance
        for stem, weight in saved.added.items():
            self.table.add(stem, weight)


class _Read(msgspec.Struct):
    """The page at hand: its relevance, and the table and level that its links enter."""

    key: int = 0
    relevance: float = 0.0
    relevant: bool = False
    table: int = QUEUE
    level: int = 0
