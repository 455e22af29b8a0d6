"""Hybrid: pages close to the seed pages in links and in words have their links followed first.

Jamali, Sayyadi, Hariri and Abolhassani, "A method for focused crawling using combination of link
structure and content similarity" (WI 2006):

    rank(p) = (links from p to seed pages + links from seed pages to p) x (0.1 + similarity(p))

The links of the best-ranked page are followed next; so a link scores as the best of its pages.

Decisions. The paper's seeds are on topic; a crawl may begin at generic pages instead, with which
only other generic pages share links. So the examples are the seed pages, and every page that the
judge finds on topic becomes one. The rank grows without bound and is squashed to rank / (1 + rank),
which keeps the order; pages without such links (rank 0) follow in the order of their similarity, at
most at the floor. A page whose rank rises later raises its waiting links (``rescored``). The last
MAX_PAGES pages are remembered with their links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from treasure.pages import Link
from treasure.strategies.base import FLOOR, Arrival, Brief
from treasure.strategies.memory import Bounded, Rating, SeveralPages, link_keys
from treasure.strategies.scores import saturated
from treasure.text_model import Query
from treasure.urls import url_key

MAX_PAGES = 2_000


class _Fetched(msgspec.Struct):
    """A page that came in, and what its rank is made of."""

    similarity: float
    seed_links: int
    targets: list[int]

    @property
    def score(self) -> float:
        rank = self.seed_links * (0.1 + self.similarity)
        return FLOOR * self.similarity if not rank else FLOOR + (1 - FLOOR) * saturated(rank)


class _State(msgspec.Struct):
    ratings: list[Rating]
    seeds: list[tuple[int, None]]
    fetched: list[tuple[int, _Fetched]]
    links_from_seeds: list[tuple[int, int]]


class Hybrid(SeveralPages):
    """score(link) = best rank of the pages that have it, squashed."""

    wants = frozenset({"examples", "background"})

    def __init__(self, brief: Brief, *, several: str = "") -> None:
        super().__init__(brief, several=several)
        self._query = Query(brief.topic, brief.examples, brief.background)
        self._seeds: Bounded[int, None] = Bounded()
        self._fetched: Bounded[int, _Fetched] = Bounded(MAX_PAGES)
        self._links_from_seeds: Bounded[int, int] = Bounded()
        self._rescored: dict[int, float] = {}
        for page in brief.examples:
            self._seeds[url_key(page.url)] = None
            self._count_links_of_seed(link_keys(page))

    def learn(self, arrival: Arrival) -> None:
        """Rank the page; a seed page raises the rank of all that it links to or that link to it."""
        super().learn(arrival)
        key = url_key(arrival.url)
        self._rescored.pop(key, None)
        targets = link_keys(arrival.page)
        if arrival.verdict.on_topic:
            if key not in self._seeds:
                self._seeds[key] = None
                self._count_links_to_seed(key)
            self._count_links_of_seed(targets)
        to_seeds = sum(target in self._seeds for target in targets)
        self._fetched[key] = _Fetched(
            similarity=self._query.similarity(arrival.page.main_terms),
            seed_links=to_seeds + self._links_from_seeds.get(key, 0),
            targets=targets,
        )

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the squashed rank of the page for every link."""
        return [self._fetched[url_key(arrival.url)].score] * len(links)

    def rescored(self) -> Mapping[int, float]:
        """Return the links of pages that have risen."""
        rescored, self._rescored = self._rescored, {}
        return rescored

    def _count_links_of_seed(self, targets: Sequence[int]) -> None:
        for target in targets:
            self._links_from_seeds[target] = self._links_from_seeds.get(target, 0) + 1
            self._raise_page(target)

    def _count_links_to_seed(self, seed: int) -> None:
        for key, page in self._fetched.items():
            if seed in page.targets:
                self._raise_page(key)

    def _raise_page(self, key: int) -> None:
        page = self._fetched.get(key)
        if page is None:
            return
        page.seed_links += 1
        for target in page.targets:
            known, pages = self._ratings.get(target, (1.0, 0))
            if page.score > known:
                self._ratings[target] = page.score, pages
                self._rescored[target] = page.score

    def state(self) -> bytes:
        """Return seed pages, ranks and remembered scores."""
        return msgspec.json.encode(
            _State(
                ratings=list(self._ratings.items()),
                seeds=list(self._seeds.items()),
                fetched=list(self._fetched.items()),
                links_from_seeds=list(self._links_from_seeds.items()),
            )
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        self._ratings.update(saved.ratings)
        self._seeds.update(saved.seeds)
        self._fetched.update(saved.fetched)
        self._links_from_seeds.update(saved.links_from_seeds)
