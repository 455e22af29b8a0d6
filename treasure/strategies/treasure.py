"""Treasure, the default: every witness of a link is heard, every outcome is learned from.

A queued URL collects evidence from all pages that link to it: how relevant they are, what anchor,
context and headings say, what the T-Graph makes of the place, and what became of other links of the
same host, directory, list and place in the page (``evidence``, ``link_features``). A logistic
regression with an informed prior turns that into the chance of a page on topic, and is refitted to
what each fetch turned out to be (``link_model``). The score is that chance times the chance that
the address answers at all.

The head of the queue is re-scored every few pages and the whole of it in slices, a bounded number
of links a page. Of the changed scores only those are passed on that matter for what is fetched
next: links that are, or wrongly were, among the best. Until the topic is found, and when the
harvest collapses, links gain by what they promise and for being new (``searching``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from treasure.core.features import Features, weigh
from treasure.core.witness import (
    add_anchors,
    ahead,
    graph_evidence,
    lists,
    span_evidence,
    stand,
)
from treasure.ddc.page_model import PageModel
from treasure.errors import ConfigError, did_you_mean
from treasure.pages import CONTEXT_WORDS, Link, Page
from treasure.strategies.base import FLOOR, Arrival, Brief, Measured, Strategy
from treasure.strategies.evidence import RAISED, Evidence
from treasure.strategies.link_features import (
    GROUPS,
    PRIOR,
    Kinds,
    Look,
    look,
    place,
)
from treasure.strategies.link_model import LinkModel
from treasure.strategies.memory import Bounded
from treasure.strategies.queue_order import QueueOrder
from treasure.strategies.scores import firm
from treasure.strategies.searching import Searching
from treasure.text import NEW, VOCABULARY
from treasure.urls import host_of, url_key

REMEMBERED = 300_000
"""Fetched URLs whose outcome still speaks for pages that link to them."""
RESCORE = 4
"""Pages after which a part of the queue is re-scored: many links at once cost less each."""
REFIT, REFIT_SHARE = 10, 100
"""Pages between two refits of the link model: ten, later a hundredth of what it remembers."""
LEAST_EVIDENCE = 10_000
"""URLs that evidence must have room for: as many as one sitemap may list."""
FEATURES = tuple(PRIOR)
GRAPH = FEATURES.index("graph")
LEAST = 1e-4
"""The lowest score: the order among links that look worthless is worth keeping too."""


class _Ahead(NamedTuple):
    """The links of a page, and which of them are not fetched yet."""

    links: Sequence[Link]
    every: list[int]
    """The keys of all."""
    outcomes: list[float | None]
    """What all of them led to, as far as they were fetched."""
    places: list[int]
    """Which of them are ahead of us."""
    ahead: list[Link]
    keys: list[int]
    new: list[int]
    """Which of those ahead no page has pointed to before."""
    fresh: list[Link]


class Treasure(Strategy):
    """Joins content, context, structure, T-Graph and outcomes in one learned score."""

    wants = frozenset({"examples"})

    def __init__(
        self,
        brief: Brief,
        *,
        precision: float = 10.0,
        learning: bool = True,
        without: Sequence[str] = (),
        prior: Mapping[str, float] | None = None,
        max_evidence: int = 200_000,
    ) -> None:
        super().__init__(brief)
        self.judge = brief.judge
        self.learning = learning
        weights = {**PRIOR, **_checked(prior or {})}
        for name in _features_of(without):
            weights[name] = 0.0
        self._used = np.array([name not in _features_of(without) for name in PRIOR], np.float64)
        self.model = LinkModel(np.array([weights[name] for name in PRIOR]), precision)
        if max_evidence < LEAST_EVIDENCE:
            raise ConfigError(
                f"max_evidence must be at least {LEAST_EVIDENCE}. Got {max_evidence} instead."
            )
        self.evidence = Evidence(max_evidence)
        self.kinds = Kinds()
        self._features = Features(self.evidence.columns, self.kinds.tables)
        self.searching = Searching(self.judge, self.evidence, self.kinds)
        self._outcomes: Bounded[int, float] = Bounded(REMEMBERED)
        self._dead: Bounded[int, bool] = Bounded(REMEMBERED)
        self._examples = frozenset(url_key(page.url) for page in brief.examples)
        self._heard = False
        """Whether the examples have been heard."""
        self._distance = 0.0
        self._models: Sequence[PageModel] = ()
        self._edition = 0
        """Counts the judge's models."""
        self._ahead: _Ahead | None = None
        """The links last asked about."""
        self._standing: tuple[Page, int, NDArray[np.int32], list[int]] | None = None
        self._arrivals = 0
        self._order = QueueOrder(self.evidence)
        self._measured: Measured | None = None
        self._nodes: NDArray[np.int64] | None = None
        self._learned: tuple[int, NDArray[np.float64]] = (0, np.empty(0))

    def _hear_examples(self) -> None:
        """Hear the examples as witnesses: with the first page and no sooner.

        They need the judge's first fit, for which the first request should not wait.
        """
        self._heard = True
        for page in self.brief.examples:
            self._witness(page, 1.0, 0.0, self._looked_at(page.links))

    @cached_property
    def _given(self) -> dict[int, float]:
        """The relevance of pages that were given."""
        background = self.brief.background
        judged = {url_key(page.url): self.judge.verdict(page).relevance for page in background}
        return judged | dict.fromkeys(self._examples, 1.0)

    # -- learning

    def learn(self, arrival: Arrival) -> None:
        """Take in what a link led to."""
        if not self._heard:
            self._hear_examples()
        relevance = firm(arrival.verdict.relevance)
        key = url_key(arrival.url)
        self._ahead = None
        self._outcomes[key] = relevance
        if arrival.page.url != arrival.url:
            self._outcomes[url_key(arrival.page.url)] = relevance
        row = self.evidence.row(key)
        self.searching.fetched(row, relevance, on_topic=arrival.verdict.on_topic)
        self._distance = 1.0
        if row is not None:
            column = self.evidence.column
            self._distance = float(column["distance"][row])
            # As they were when it was scored last, before its outcome was counted.
            values = self._used * column["features"][row]
            self.model.add(values, relevance)
            self._learned = key, values
            self.kinds.count(row, self.evidence, relevance, alive=True)
            self.evidence.drop(key)
        self._advance()

    def failed(self, url: str) -> None:
        """Take in that a link led nowhere: its kind counts as less alive."""
        key = url_key(url)
        self._dead[key] = True
        self._ahead = None
        row = self.evidence.row(key)
        self.searching.fetched(row, 0.0, on_topic=False, alive=False)
        if row is not None:
            self.kinds.count(row, self.evidence, 0.0, alive=False)
            self.evidence.drop(key)
        self._advance()

    # -- scoring

    def fresh(self, links: Sequence[Link]) -> Sequence[Link]:
        """Return the links that no page has pointed to before, as far as we remember."""
        return self._looked_at(links).fresh

    def _looked_at(self, links: Sequence[Link]) -> _Ahead:
        if self._ahead is None or self._ahead.links is not links:
            keys = [link.key for link in links]
            outcomes = list(map(self._outcomes.get, keys))
            found = ahead(links, keys, outcomes, self._dead, self.evidence.known)
            self._ahead = _Ahead(links, keys, outcomes, *found)
        return self._ahead

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Hear the page as a witness for its links, and score them by all that is known."""
        if not self._heard:
            self._hear_examples()
        relevance = firm(arrival.verdict.relevance)
        distance = 0.0 if arrival.verdict.on_topic else self._distance
        looked = self._looked_at(links)
        places = looked.places
        rows, touched = self._witness(arrival.page, relevance, distance, looked)
        column = self.evidence.column
        self._measured = None
        scores = np.full(len(links), FLOOR)
        if rows.size:
            column["score"][touched] = self._chance(touched, self._look(touched))
            told = self._order.settle(touched)
            scores[places] = column["sent"][rows]
            self._measured = Measured(
                FEATURES,
                self.model.weights.copy(),
                column["key"].take(told),
                self._values(told),
                self._nodes,
            )
        return scores.tolist()

    def measured(self) -> Measured | None:
        """Return the features behind the scores just given."""
        return self._measured

    def rescored(self) -> Mapping[int, float]:
        """Return the scores that changed enough to matter."""
        return self._order.changed()

    def _witness(
        self, page: Page, relevance: float, distance: float, looked: _Ahead
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Write down what *page* says of its links ahead; return the row of each, and each once."""
        links = looked.ahead
        if not links:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        evidence, kinds = self.evidence, self.kinds
        number, of_block, lists = self._stand(page, relevance, looked)
        host = host_of(page.url)
        listed, new = evidence.rows(looked.keys)
        if new:
            place(evidence, kinds, [listed[at] for at in new], [links[at].url for at in new], host)
        rows = np.array(listed, np.int64)
        tags = dict.fromkeys([link.tag_path for link in links])
        paths = {path: kinds.paths.number(f"{host} {path}") for path in tags}
        stands, boilerplate, spans = stand(
            links,
            page.block_table,
            page.headings,
            page.main_heading,
            paths,
            number,
            of_block,
            lists,
            CONTEXT_WORDS,
            page.terms.size,
        )
        values = np.zeros((len(links), len(RAISED)), np.float32)
        span_evidence(page.terms, spans, self.judge.tables[0], values)
        self._ask_graph(page, looked, values)
        once = evidence.hear(rows, stands, boilerplate, values, distance + 1)
        add_anchors(rows, spans, page.terms, evidence.column["anchor_terms"])
        return rows, once

    def _stand(
        self, page: Page, relevance: float, looked: _Ahead
    ) -> tuple[int, NDArray[np.int32], list[int]]:
        """Return the numbers of *page* and of its lists as witnesses, the same for all its links.

        What some of its links have led to already says what the others may lead to.
        """
        if self._standing is not None and self._standing[0] is page:
            return self._standing[1:]
        kinds = self.kinds
        number = kinds.pages.new()
        kinds.exits.new()
        kinds.page_relevance[number] = relevance
        keys, outcomes = looked.every, looked.outcomes
        if looked.links is not page.links:  # some may not be queued
            keys = [link.key for link in page.links]
            outcomes = list(map(self._outcomes.get, keys))
        table = page.block_table
        of_block, count, known = lists(page.links, keys, outcomes, self._given, table)
        numbers = kinds.lists.several(count)
        kinds.lists.add_known([(numbers[which], outcome) for which, outcome in known])
        kinds.pages.add_known([(number, outcome) for _, outcome in known])
        self._standing = (page, number, of_block, numbers)
        return number, of_block, numbers

    def _ask_graph(self, page: Page, looked: _Ahead, values: NDArray[np.float32]) -> None:
        """Write to *values* how near to a target the T-Graph sees each link, and how that went.

        It is asked about the first place only at which a link is met.
        """
        graph = self.brief.graph
        self._nodes = None
        if graph is not None and len(graph) and self._used[GRAPH]:
            found = graph.match(page, looked.fresh)
            self._nodes = nodes = np.empty(len(looked.links), np.int64)
            tell = found.osm, found.node, found.distance, found.success
            graph_evidence(looked.places, looked.new, *tell, values, nodes)

    def _look(self, rows: NDArray[np.int64]) -> Look:
        if self.judge.models is not self._models:
            self._models = self.judge.models
            self._edition += 1
        weights = self._used * self.model.weights
        return look(rows, self._features, self.judge, self._edition, weights)

    def _chance(self, rows: NDArray[np.int64], known: Look) -> NDArray[np.float64]:
        """Return the scores of *rows*."""
        chance = known.chance.copy()
        if self.searching.lost:
            chance += self.searching.gain(rows) * (1.0 - chance)
        weigh(rows, chance, known.life, self.evidence.column["scout"].view(np.uint8), LEAST)
        return chance

    def _values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the features of *rows* as they were when they were looked at last."""
        kept: NDArray[np.float32] = self.evidence.column["features"]
        return self._used * kept.take(rows, axis=0)

    # -- keeping the queue in order

    def _advance(self) -> None:
        """Refit when it is time, and every few pages re-score a part of the queue."""
        self._arrivals += 1
        if self.learning and self._arrivals % max(REFIT, self.model.size // REFIT_SHARE) == 0:
            self.model.refit()
        if self._arrivals % RESCORE == 0:
            rows = self._order.due(RESCORE)
            if rows.size:
                self.evidence.column["score"][rows] = self._chance(rows, self._look(rows))
                self._order.pass_on(rows)
        scout = self.searching.scout()
        if scout is not None:
            column = self.evidence.column
            column["scout"][scout] = True
            column["score"][scout] = 1.0
            self._order.tell(np.array([scout]))

    # -- telling and keeping

    def explain(self, url: str) -> dict[str, Any]:
        """Return each feature of a queued link with its weight, and the words behind it.

        Of the link that was learned from last the features are still known.
        """
        learned, values = self._learned
        if learned == url_key(url):
            return {"features": self._parts(values)}
        row = self.evidence.row(url_key(url))
        if row is None:
            return {}
        rows = np.array([row])
        known = self._look(rows)
        column = self.evidence.column
        return {
            "score": float(self._chance(rows, known)[0]),
            "chance_on_topic": float(known.chance[0]),
            "chance_alive": float(known.life[0]),
            "widened": self.searching.widened,
            "scout": bool(column["scout"][row]),
            "gain_of_searching": float(self.searching.gain(rows)[0]),
            "pages_that_link": int(column["in_links"][row]),
            "anchor_words": _stems(column["anchor_terms"][row]),
            "url_words": _stems(column["url_terms"][row]),
            "features": self._parts(self._values(rows)[0]),
        }

    def _parts(self, values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Return value, weight and product of each feature, the strongest first."""
        parts = values * self.model.weights
        table = np.array((values, self.model.weights, parts)).round(4).T.tolist()
        told = {}
        for at in np.argsort(-np.abs(parts), kind="stable").tolist():
            value, weight, part = table[at]
            told[FEATURES[at]] = {"value": value, "weight": weight, "part": part}
        return told

    def state(self) -> bytes:
        """Return what was learned."""
        pages = min(self.kinds.pages.size, self.kinds.pages.limit)
        return msgspec.msgpack.encode(
            {
                "model": self.model.state(),
                "evidence": self.evidence.state(),
                "kinds": self.kinds.state(),
                "page_relevance": self.kinds.page_relevance[:pages].tobytes(),
                "outcomes": list(self._outcomes.items()),
                "dead": list(self._dead),
                "harvest": self.searching.state(),
                "arrivals": self._arrivals,
                "order": self._order.state(),
                "heard": self._heard,
            }
        )

    def restore(self, state: bytes) -> None:
        """Go on from what ``state`` returned."""
        saved = msgspec.msgpack.decode(state)
        self._heard = saved["heard"]
        self._standing = None
        self.model.restore(saved["model"])
        self.evidence.restore(saved["evidence"])
        self.kinds.restore(saved["kinds"])
        self.kinds.check(self.evidence.columns[0][: self.evidence.size])
        self._features = Features(self.evidence.columns, self.kinds.tables)  # columns have moved
        relevance = np.frombuffer(saved["page_relevance"], np.float64)
        self.kinds.page_relevance[: relevance.size] = relevance
        self._outcomes.update({int(key): float(value) for key, value in saved["outcomes"]})
        self._dead.update({int(key): True for key in saved["dead"]})
        self.searching.restore(saved["harvest"])
        self._arrivals = saved["arrivals"]
        self._order.restore(saved["order"])


def _features_of(names: Sequence[str]) -> set[str]:
    """Return the features that *names*, of features or groups of them, stand for."""
    found: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        if name in GROUPS:
            found.update(GROUPS[name])
        elif name in PRIOR:
            found.add(name)
        else:
            raise ConfigError(
                f"There is no feature {name!r}.{did_you_mean(name, [*PRIOR, *GROUPS])}"
                f" Known: {', '.join([*PRIOR, *GROUPS])}."
            )
    return found


def _checked(prior: Mapping[str, float]) -> Mapping[str, float]:
    _features_of(list(prior))
    return prior


def _stems(terms: NDArray[np.int32]) -> list[str]:
    return [VOCABULARY.stem(term) for term in terms.tolist() if 0 <= term < NEW]
