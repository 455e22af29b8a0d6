"""Crawl: the decisions of one crawl, apart from how pages are fetched.

The Scrapy middleware and the plain loop of the evaluation both ask this object, so that what we
measure is what runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from treasure.ddc.judge import Judge
from treasure.pages import Link, Page, Verdict
from treasure.strategies.base import Arrival, Strategy
from treasure.urls import canonical, url_key

SEED_SCORE = 1.0
"""Seeds are fetched first, whatever a page that links to one of them is worth; so are examples."""


class Observer(Protocol):
    """Watches arrivals, as the T-Graph's watchdog does."""

    def observe(self, arrival: Arrival, links: Sequence[Link]) -> int | None:
        """Take in a page and those of its links that were not met before.

        Return the T-Graph node that led here, where one did.
        """


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one page."""

    verdict: Verdict
    links: Sequence[Link]
    scores: Sequence[float]
    rescored: Mapping[int, float] = field(default_factory=dict)
    graph_node: int | None = None
    """The T-Graph node that the link to the page matched best."""
    explanation: Mapping[str, Any] = field(default_factory=dict)
    """What the strategy said of the link that led to the page, where that is recorded."""
    fresh: Sequence[Link] = ()
    """Those of the links that no page had pointed to before."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A page that was judged and learned from; its links are yet to be scored."""

    arrival: Arrival
    links: Sequence[Link]
    fresh: Sequence[Link]
    graph_node: int | None


class Crawl:
    """Judge, learn, score: once per page."""

    def __init__(
        self, judge: Judge, strategy: Strategy, observers: Sequence[Observer] = ()
    ) -> None:
        self.judge = judge
        self.strategy = strategy
        self.observers = observers
        brief = strategy.brief
        self.given = {url_key(page.url) for page in brief.examples}
        """Pages that are at hand: to follow a link to one of them costs nothing."""
        self._first = {canonical(seed) for seed in brief.seeds}
        self._first.update(page.url for page in brief.examples)
        self._first_keys = {url_key(url) for url in self._first}

    def arrived(
        self, url: str, page: Page, links: Sequence[Link], *, depth: int = 0, score: float = 1.0
    ) -> Decision:
        """Decide about *page*, which came in for the queued *url*, and its admissible *links*."""
        return self.scored(self.learned(url, page, links, depth=depth, score=score))

    def learned(
        self, url: str, page: Page, links: Sequence[Link], *, depth: int = 0, score: float = 1.0
    ) -> Learned:
        """Judge *page* and learn from it: the first half of ``arrived``.

        Other work may come between the halves, but no other page.
        """
        self._met(url, page.url)
        arrival = Arrival(url, page, self.judge.verdict(page), depth, score)
        self.strategy.learn(arrival)
        fresh = self.strategy.fresh(links)
        node: int | None = None
        for observer in self.observers:
            node = observer.observe(arrival, fresh)
        return Learned(arrival, links, fresh, node)

    def scored(self, learned: Learned) -> Decision:
        """Score the links of the page that was learned from last: the second half."""
        arrival, links = learned.arrival, learned.links
        scores = self.strategy.score(arrival, links) if links else []
        first = self._first
        if first:
            scores = [
                SEED_SCORE if link.url in first else score
                for link, score in zip(links, scores, strict=True)
            ]
        return Decision(
            arrival.verdict,
            links,
            scores,
            self._rescored(),
            learned.graph_node,
            fresh=learned.fresh,
        )

    def listed(self, page: Page, links: Sequence[Link]) -> Decision:
        """Score links of a mere list, such as a sitemap: nothing is judged or learned."""
        verdict = Verdict(0.0, False, unsure=True, reason="a list of links")
        scores = self.strategy.score(Arrival(page.url, page, verdict), links) if links else []
        return Decision(verdict, links, scores, self._rescored(), fresh=links)

    def failed(self, url: str) -> Mapping[int, float]:
        """Take in that *url* led nowhere; return the new scores of links that wait."""
        self._met(url)
        self.strategy.failed(url)
        return self._rescored()

    def _met(self, *urls: str) -> None:
        """Take in that *urls* wait no longer."""
        if self._first:
            self._first.difference_update(urls)
            self._first_keys.difference_update(map(url_key, urls))

    def _rescored(self) -> Mapping[int, float]:
        rescored = self.strategy.rescored()
        first = self._first_keys
        if first.isdisjoint(rescored):
            return rescored
        return {key: score for key, score in rescored.items() if key not in first}
