"""Treasure, the default: every witness of a link heard, every outcome learned from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Link, Page
from treasure.strategies.base import FLOOR, Arrival, Brief, Measured, Strategy
from treasure.strategies.evidence import ANCHOR_TERMS, URL_TERMS, WITNESSES, Evidence
from treasure.strategies.link_model import LinkModel
from treasure.strategies.rates import NamedTally, Tally
from treasure.text import VOCABULARY, words
from treasure.urls import canonical, host_of, url_key

FEATURES = {
    "bias": -2.0,
    "parents_mean": 1.2,
    "parents_max": 0.6,
    "parents_sum": 0.5,
    "in_links": -0.5,
    "anchor": 0.9,
    "url": 1.1,
    "context": 0.15,
    "context_mean": 0.1,
    "heading": 0.4,
    "main_heading": 0.1,
    "block": 0.2,
    "host": 0.7,
    "folder": 0.15,
    "section": 0.7,
    "path": 0.2,
    "hub": 0.15,
    "siblings": 0.4,
    "boilerplate": -0.1,
    "distance": -0.5,
    "graph": 0.0,
    "graph_success": 0.0,
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOISE = frozenset("htm html php asp aspx jsp cgi index www com org net http https".split())


class Treasure(Strategy):
    """Joins page content, link context, structure and outcomes in one learned score."""

    wants = frozenset({"examples"})

    def __init__(
        self,
        brief: Brief,
        *,
        precision: float = 10.0,
        refit_every: int = 10,
        rescore_every: int = 10,
        without: Sequence[str] = (),
        use_example_links: bool = True,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(brief)
        self.judge = brief.judge
        self.names = list(FEATURES)
        weights = dict(FEATURES) | dict(prior or {})
        self.mask = np.array([name not in without for name in self.names], float)
        self.model = LinkModel(np.array([weights[n] for n in self.names]) * self.mask, precision)
        self.refit_every, self.rescore_every = refit_every, rescore_every
        self.evidence = Evidence()
        self.hosts: NamedTally[str] = NamedTally(100_000)
        self.folders: NamedTally[str] = NamedTally(200_000)
        self.sections: NamedTally[str] = NamedTally(200_000)
        self.paths: NamedTally[tuple[int, str]] = NamedTally(200_000)
        self.hubs = Tally(1 << 18)
        self.shapes: NamedTally[str] = NamedTally(50_000)
        self.life = {n: Life(t) for n, t in (("section", self.sections), ("folder", self.folders), ("shape", self.shapes), ("path", self.paths))}
        self.dead: set[int] = set()
        self.lists = Tally(1 << 20)
        self.page_relevance = np.zeros(1 << 18)
        self.page_distance = np.zeros(1 << 18)
        self.outcome: dict[int, float] = {}
        self.total = np.array([1.0, 10.0])  # successes, trials
        self.arrivals = 0
        self._changed: dict[int, float] = {}
        self._version = -1
        self.hints: dict[int, float] = {}
        for page in brief.background:
            self.hints[url_key(page.url)] = self.judge.verdict(page).relevance
        for page in brief.examples:
            self.hints[url_key(page.url)] = 1.0
        if use_example_links:
            for page in brief.examples:
                self._witness(page, 1.0, 0.0, _canonical_links(page))

    # -- learning

    def learn(self, arrival: Arrival) -> None:
        self._outcome(arrival.url, arrival.verdict.relevance)
        if arrival.page.url != arrival.url:
            self.outcome[url_key(arrival.page.url)] = arrival.verdict.relevance

    def failed(self, url: str) -> None:
        key = url_key(url)
        row = self.evidence.rows.get(key)
        if row is not None:
            self._alive(row, 0.0)
            self.evidence.drop(key)
        self.dead.add(key)
        self._tick()

    def _alive(self, row: int, alive: float) -> None:
        e = self.evidence
        for name in ("section", "folder", "shape"):
            self.life[name].add([int(getattr(e, name)[row])], alive)
        self.life["path"].add(e.paths[row], alive)

    def life_chance(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        e = self.evidence
        chance = np.full(rows.size, 0.95)
        for name in ("section", "folder", "shape"):
            chance = np.minimum(chance, self.life[name].rate(getattr(e, name)[rows], 0.95, 1.0))
        return np.minimum(chance, self.life["path"].pooled(e.paths[rows], 0.95, 1.0))

    def _outcome(self, url: str, relevance: float) -> None:
        key = url_key(url)
        row = self.evidence.rows.get(key)
        self.outcome[key] = relevance
        if row is None:
            return
        e = self.evidence
        rows = np.array([row])
        values = self.features(rows)[0]
        self.model.add(values, relevance)
        self._fetched = key, int(e.in_links[row]), values
        self._alive(row, 1.0)
        self.hosts.add([int(e.host[row])], relevance)
        self.folders.add([int(e.folder[row])], relevance)
        self.sections.add([int(e.section[row])], relevance)
        self.paths.add(e.paths[row], relevance)
        self.hubs.add(e.pages[row], relevance)
        self.lists.add(e.lists[row], relevance)
        self.total += (relevance, 1.0)
        self._came = (key, float(e.distance[row]))
        e.drop(key)

    # -- scoring

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        e = self.evidence
        r = arrival.verdict.relevance
        own = 0.0 if r >= 0.5 else self._distance(arrival)
        keys = [url_key(link.url) for link in links]
        touched = self._witness(arrival.page, r, own, links)
        self._tick()
        rows = np.fromiter(touched, np.int64, len(touched))
        self._measured = None
        if rows.size:
            values = self.features(rows)
            e.score[rows] = self.model.probability(values) * self.life_chance(rows)
            e.sent[rows] = e.score[rows]
            self._measured = Measured(self.names, self.model.weights.copy(), e.key[rows], values)
        answer = []
        for key in keys:
            row = e.rows.get(key)
            answer.append(FLOOR if row is None else max(FLOOR, float(e.score[row])))
        return answer

    def measured(self) -> Measured | None:
        """Return the features behind the scores just given."""
        return self._measured

    _measured: Measured | None = None

    def explain(self, url: str) -> dict[str, Any]:
        """Return the features of a queued link, or of the one just learned from, with weights."""
        key, in_links, values = self._fetched
        if key != url_key(url):
            row = self.evidence.rows.get(url_key(url))
            if row is None:
                return {}
            in_links = int(self.evidence.in_links[row])
            values = self.features(np.array([row]))[0]
        pairs = np.stack([values, self.model.weights], axis=1).round(4).tolist()
        features = {name: pair for name, pair in zip(self.names, pairs, strict=True) if pair[0]}
        return {"features": features, "in_links": in_links}

    _fetched: tuple[int, int, NDArray[np.float64]] = (0, 0, np.zeros(0))
    """Key, in-links and features of the link that was learned from last."""

    def chance(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.model.probability(self.features(rows)) * self.life_chance(rows)

    def _witness(
        self, page: Page, r: float, own: float, links: Sequence[Link]
    ) -> dict[int, int]:
        e = self.evidence
        number = self.hubs.new()
        self.page_relevance[number] = r
        self.page_distance[number] = own
        scores = self._span_scores(page, links)
        lists: dict[Any, int] = {}
        terms = page.terms.tolist()
        host = host_of(page.url)
        touched: dict[int, int] = {}
        for i, link in enumerate(links):
            key = url_key(link.url)
            if key in self.dead:
                continue
            block = page.blocks[link.block]
            place = lists.get(block.whole)
            if place is None:
                place = lists[block.whole] = self.lists.new()
            path = self.paths.number((host, link.tag_path))
            known = self.outcome.get(key)
            if known is not None:
                self.hubs.add([number], known)
                self.lists.add([place], known)
                continue
            known = self.hints.get(key)
            if known is not None:
                self.hubs.add([number], known)
                self.lists.add([place], known)
            row = e.rows.get(key)
            if row is None:
                row = self._new_row(key, link.url)
                e.distance[row] = own + 1
            slot = touched.get(row)
            if slot is None:
                slot = touched[row] = int(e.in_links[row]) % WITNESSES
                e.in_links[row] += 1
                e.pages[row, slot] = number
            e.lists[row, slot] = place
            e.paths[row, slot] = path
            context, heading, main, blk = scores[:, i]
            e.context[row] = max(e.context[row], context)
            e.context_sum[row] += context
            e.heading[row] = max(e.heading[row], heading)
            e.main_heading[row] = max(e.main_heading[row], main)
            e.block[row] = max(e.block[row], blk)
            e.boilerplate[row] += block.boilerplate
            e.distance[row] = min(e.distance[row], own + 1)
            anchor = [t for t in terms[link.anchor.start : link.anchor.stop] if t >= 0]
            self._add_terms(e.anchor_terms[row], anchor)
        return touched

    def _distance(self, arrival: Arrival) -> float:
        came = getattr(self, "_came", None)
        return came[1] if came and came[0] == url_key(arrival.url) else 1.0

    def _new_row(self, key: int, url: str) -> int:
        e = self.evidence
        row = e.new(key)
        host = host_of(url)
        path = url.split("/", 3)[3] if url.count("/") >= 3 else ""
        folder, _, last = path.rpartition("/")
        e.host[row] = self.hosts.number(host)
        e.folder[row] = self.folders.number(f"{host}/{folder}")
        e.section[row] = self.sections.number(f"{host}/{folder.split('/', 1)[0]}")
        e.shape[row] = self.shapes.number(host + "." + last.partition("?")[0].partition(".")[2][-12:])
        spelled = _CAMEL.sub(" ", unquote(path, errors="replace"))
        ids = [VOCABULARY[w] for w in words(spelled)[-URL_TERMS:] if w not in _NOISE]
        self._add_terms(e.url_terms[row], [t for t in ids if t >= 0])
        e.context[row] = e.heading[row] = e.main_heading[row] = e.block[row] = -9.0
        return row

    @staticmethod
    def _add_terms(slots: NDArray[np.int32], terms: Sequence[int]) -> None:
        have = slots.tolist()
        free = have.index(-1) if -1 in have else len(have)
        for term in terms:
            if free == len(have):
                return
            if term not in have:
                have[free] = term
                slots[free] = term
                free += 1

    def _span_scores(self, page: Page, links: Sequence[Link]) -> NDArray[np.float64]:
        starts, stops = [], []
        for link in links:
            block = page.blocks[link.block]
            for span in (
                page.context(link),
                page.immediate_heading(block),
                page.main_heading,
                block.whole,
            ):
                starts.append(span.start)
                stops.append(span.stop)
        scores = self.judge.span_scores(page, np.array(starts, np.int32), np.array(stops, np.int32))
        return self.judge.evidence(scores).reshape(-1, 4).T

    def features(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        e = self.evidence
        n = rows.size
        X = np.empty((n, len(self.names)))
        pages = e.pages[rows]
        here = pages >= 0
        count = np.maximum(here.sum(1), 1)
        rel = np.where(here, self.page_relevance[pages], 0.0)
        total = rel.sum(1)
        base = max(0.12, float(self.total[0] / self.total[1]))
        j = self.judge
        hub = self.hubs.pooled(pages, base, 3.0)
        col = {
            "bias": 1.0,
            "parents_mean": total / (count + 0.5),
            "parents_max": rel.max(1),
            "parents_sum": np.log1p(total),
            "in_links": np.log(np.maximum(e.in_links[rows], 1)),
            "anchor": j.terms_evidence(e.anchor_terms[rows]),
            "url": j.terms_evidence(e.url_terms[rows]),
            "context": e.context[rows],
            "context_mean": e.context_sum[rows] / np.maximum(e.in_links[rows], 1),
            "heading": e.heading[rows],
            "main_heading": e.main_heading[rows],
            "block": e.block[rows],
            "host": _logit(self.hosts.rate(e.host[rows], base, 2.0)) - _logit(base),
            "folder": _logit(self.folders.rate(e.folder[rows], base, 2.0)) - _logit(base),
            "section": _logit(self.sections.rate(e.section[rows], base, 2.0)) - _logit(base),
            "path": _logit(self.paths.pooled(e.paths[rows], base, 2.0)) - _logit(base),
            "hub": _logit(hub) - _logit(base),
            "siblings": _logit(self.lists.pooled(e.lists[rows], hub, 2.0)) - _logit(base),
            "boilerplate": e.boilerplate[rows] / np.maximum(e.in_links[rows], 1),
            "distance": np.minimum(e.distance[rows], 5) / 2,
            "graph": 0.0,
            "graph_success": 0.0,
        }
        for i, name in enumerate(self.names):
            X[:, i] = col[name]
        return X * self.mask

    def _tick(self) -> None:
        self.arrivals += 1
        if self.arrivals % self.refit_every == 0:
            self.model.refit()
        if self.arrivals % self.rescore_every == 0:
            e = self.evidence
            rows = np.flatnonzero(e.alive[: e.size])
            e.score[rows] = self.chance(rows)
            self._emit(rows)

    def _emit(self, rows: NDArray[np.int64], top: int = 256) -> None:
        e = self.evidence
        if not rows.size:
            return
        scores, sent = e.score[rows], e.sent[rows]
        bar = 0.0
        if rows.size > top:
            bar = float(np.partition(scores, rows.size - top)[rows.size - top])
        moved = (np.abs(scores - sent) > 1e-4) & ((scores >= bar) | (sent >= bar))
        for row in rows[moved].tolist():
            self._changed[int(e.key[row])] = max(FLOOR, float(e.score[row]))
            e.sent[row] = e.score[row]

    def rescored(self) -> Mapping[int, float]:
        changed, self._changed = self._changed, {}
        return changed


def _canonical_links(page: Page) -> list[Link]:
    links = []
    for link in page.links:
        url = canonical(link.url)
        if url and url != page.url:
            links.append(link._replace(url=url))
    return links


class Life(Tally):
    """Tally in step with another."""

    def __init__(self, other: Tally) -> None:
        super().__init__(other.limit)
        self.other = other

    def add(self, kinds: Any, success: float, trials: float = 1.0) -> None:
        self._grow()
        super().add(kinds, success, trials)

    def _grow(self) -> None:
        if self._trials.size != self.other._trials.size:
            n = self.other._trials.size - self._trials.size
            self._trials = np.append(self._trials, np.zeros(n))
            self._successes = np.append(self._successes, np.zeros(n))

    def rate(self, kinds: Any, expected: Any, strength: float) -> Any:
        self._grow()
        return super().rate(kinds, expected, strength)

    def pooled(self, kinds: Any, expected: Any, strength: float) -> Any:
        self._grow()
        return super().pooled(kinds, expected, strength)


def _logit(p: Any) -> Any:
    p = np.clip(p, 0.002, 0.998)
    return np.log(p / (1 - p))
