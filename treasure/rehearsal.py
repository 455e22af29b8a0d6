"""Rehearsal: what a change of topic, threshold or weights would have done to a crawl so far.

The stored pages of a job are read again in the order in which they came, by two crawls side by
side: one with the job's settings, one with the change. Nothing is fetched and nothing is stored.
Compared are the verdicts, the order of the links, and how well each order knew what the links led
to: the chance that a link to a page on topic has a higher score than one to a page off topic.

Pages whose HTML was not kept cannot be read again (`TREASURE_REPOSITORY_HTML`); they are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from treasure.config import TreasureConfig
from treasure.crawl import Crawl
from treasure.errors import JobError, UnreadablePageError
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.extract import read_page
from treasure.given import pages_of
from treasure.pages import Page
from treasure.repository.models import pages
from treasure.repository.store import Store
from treasure.strategies import make_strategy
from treasure.strategies.base import Brief
from treasure.tgraph.graph import TGraph
from treasure.topics import merge
from treasure.workbench import given_pages, make_judge, topics_of

EXAMPLES = 5
FRONT = 0.1
"""Share of the links that counts as the front of the queue."""


@dataclass
class Rehearsal:
    """What would change."""

    pages: int = 0
    unread: int = 0
    """Pages whose HTML was not kept."""
    kept_before: int = 0
    kept_after: int = 0
    gained: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    links: int = 0
    same_front: float = 1.0
    """Share of the best tenth of links that stays in the best tenth."""
    insight_before: float | None = None
    insight_after: float | None = None
    risen: list[tuple[str, float, float]] = field(default_factory=list)
    fallen: list[tuple[str, float, float]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def rehearse(
    store: Store, job: Mapping[str, Any], changes: Mapping[str, Any], *, most: int = 2_000
) -> Rehearsal:
    """Read the first *most* pages of *job* again, as it was and with *changes*."""
    before = TreasureConfig.read_stored(job["settings"])
    after = TreasureConfig.read_stored(job["settings"], changes)
    web = VirtualWeb.open(before.web) if before.web else None
    crawls = _crawl(before, web), _crawl(after, web)
    result = Rehearsal()
    scores: dict[str, list[float]] = {}
    outcomes: dict[str, bool] = {}
    for url, depth, score, page in _stored(store, str(job["job"]), web, most):
        if page is None:
            result.unread += 1
            continue
        decisions = [
            crawl.arrived(url, page, page.links, depth=depth, score=score) for crawl in crawls
        ]
        _compare_verdicts(result, url, *(decision.verdict.on_topic for decision in decisions))
        outcomes[url] = decisions[1].verdict.on_topic
        for number, decision in enumerate(decisions):
            for link, value in zip(decision.links, decision.scores, strict=True):
                if link.url not in outcomes:
                    scores.setdefault(link.url, [0.0, 0.0])[number] = value
    if not result.pages:
        raise JobError(
            f"The HTML of no page of {job['job']} was kept, so nothing can be read again."
            " Crawl with TREASURE_REPOSITORY_HTML=all or on_topic."
        )
    _compare_links(result, scores, outcomes)
    return result


def _crawl(config: TreasureConfig, web: VirtualWeb | None) -> Crawl:
    topics = topics_of(config)
    topic = merge(topics)
    examples, negatives = map(pages_of, given_pages(config, topics, web))
    judge = make_judge(config, topics, examples, negatives)
    brief = Brief(
        topic=topic,
        judge=judge,
        examples=examples,
        negatives=negatives,
        graph=TGraph.empty(topic, levels=config.tgraph_levels),
        random_seed=config.random_seed,
        options=config.strategy_options,
    )
    return Crawl(judge, make_strategy(config.strategy, brief))


def _stored(
    store: Store, job: str, web: VirtualWeb | None, most: int
) -> Iterator[tuple[str, int, float, Page | None]]:
    query = (
        select(pages.c.id, pages.c.url, pages.c.depth, pages.c.score)
        .where(pages.c.job == job, pages.c.status == 200)
        .order_by(pages.c.fetched_at)
        .limit(most)
    )
    with store.reading() as connection:
        rows = connection.execute(query).all()
    for page_id, url, depth, score in rows:
        try:
            html = store.html(page_id)
            page = read_page(url, html) if html else web.page(url) if web is not None else None
        except UnreadablePageError:
            page = None
        yield url, depth, score, page


def _compare_verdicts(result: Rehearsal, url: str, before: bool, after: bool) -> None:
    result.pages += 1
    result.kept_before += before
    result.kept_after += after
    if after and not before:
        result.gained.append(url)
    elif before and not after:
        result.lost.append(url)


def _compare_links(
    result: Rehearsal, scores: Mapping[str, list[float]], outcomes: Mapping[str, bool]
) -> None:
    result.links = len(scores)
    if not scores:
        return
    urls = list(scores)
    table = np.array([scores[url] for url in urls])
    front = max(1, int(len(urls) * FRONT))
    fronts = [set(np.argsort(-table[:, side], kind="stable")[:front].tolist()) for side in (0, 1)]
    result.same_front = round(len(fronts[0] & fronts[1]) / front, 4)
    ranks = np.argsort(np.argsort(-table, axis=0, kind="stable"), axis=0, kind="stable")
    moved = ranks[:, 0] - ranks[:, 1]
    order = np.argsort(-moved, kind="stable")

    def shown(place: int) -> tuple[str, float, float]:
        return urls[place], round(float(table[place, 0]), 4), round(float(table[place, 1]), 4)

    result.risen = [shown(place) for place in order[:EXAMPLES].tolist() if moved[place] > 0]
    result.fallen = [shown(place) for place in order[::-1][:EXAMPLES].tolist() if moved[place] < 0]
    known = [place for place, url in enumerate(urls) if url in outcomes]
    good = np.array([outcomes[urls[place]] for place in known], bool)
    result.insight_before = _insight(table[known, 0], good)
    result.insight_after = _insight(table[known, 1], good)


def _insight(scores: NDArray[np.float64], good: NDArray[np.bool_]) -> float | None:
    """Return the chance that a good link is above a bad one (area under the ROC curve)."""
    hits, misses = scores[good], np.sort(scores[~good])
    if not hits.size or not misses.size:
        return None
    below = np.searchsorted(misses, hits, "left") + np.searchsorted(misses, hits, "right")
    return round(float(below.mean() / (2 * misses.size)), 4)
