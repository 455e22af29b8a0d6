"""The crawl as a plain loop over a virtual web, without Scrapy, politeness or a clock.

Judge, strategy, frontier and admission are those of the real crawl, and so is the order in which
pages are fetched (tests/evaluation/test_engines.py). One fetched page costs one of the budget, as
does a failure; a redirect costs nothing, nor does a page that was given as an example.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treasure.admission import Admission
from treasure.crawl import SEED_SCORE, Crawl
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.frontier.base import Entry, Lease, Policy
from treasure.frontier.memory import MemoryFrontier
from treasure.pages import Page
from treasure.urls import canonical, is_respelt, url_key

MAX_HOPS = 5
ORIGIN, HOPS = "origin", "hops"


@dataclass(frozen=True, slots=True)
class Fetch:
    """One page of the budget."""

    url: str
    """Where it was found; for a failure, where it was looked for."""
    found: bool
    relevance: float
    on_topic: bool
    score: float
    referrer: str
    cpu_seconds: float
    """What judging the page and scoring its links took."""


def simulate(web: ParsedWeb, crawl: Crawl, seeds: Sequence[str], budget: int) -> Iterator[Fetch]:
    """Crawl *web* from *seeds* and yield every fetch, *budget* at most."""
    frontier = MemoryFrontier(Policy(delay=0.0))
    # Archives trouble no server: what was nofollow when they were made is followed, as in a crawl.
    admission = Admission(obey_nofollow=False)
    frontier.push([Entry(canonical(seed), SEED_SCORE) for seed in seeds])
    spent = 0
    while spent < budget and (lease := frontier.take(0.0)) is not None:
        answer = web.answer(lease.entry.url)
        frontier.landed(lease.key, 0.0)
        if answer.location and int(lease.entry.meta.get(HOPS, 0)) < MAX_HOPS:
            frontier.push([_redirected(lease, answer.location)])
        elif answer.page is None:
            spent += 1
            yield _failed(crawl, frontier, lease)
        else:
            fetch = _arrived(crawl, frontier, admission, lease, answer.page)
            if lease.key not in crawl.given:
                spent += 1
                yield fetch
        frontier.acknowledge([lease.key])
        if answer.page is not None and is_respelt(lease.entry.url, answer.page.canonical):
            frontier.acknowledge([url_key(answer.page.canonical)])


def _failed(crawl: Crawl, frontier: MemoryFrontier, lease: Lease) -> Fetch:
    """Let the crawl hear that a link led nowhere."""
    started = time.process_time()
    frontier.rescore(crawl.failed(_origin(lease)))
    cpu = time.process_time() - started
    return Fetch(lease.entry.url, False, 0.0, False, lease.score, lease.entry.referrer, cpu)


def _arrived(
    crawl: Crawl, frontier: MemoryFrontier, admission: Admission, lease: Lease, page: Page
) -> Fetch:
    """Have the crawl decide about *page*, and queue its links by their best scores."""
    entry = lease.entry
    started = time.process_time()
    links = admission.admit(page, page.links, lease)
    decision = crawl.arrived(_origin(lease), page, links, depth=entry.depth, score=lease.score)
    cpu = time.process_time() - started
    best: dict[str, float] = {}
    for link, score in zip(decision.links, decision.scores, strict=True):
        best[link.url] = max(score, best.get(link.url, 0.0))
    frontier.push([Entry(url, score, entry.depth + 1, page.url) for url, score in best.items()])
    frontier.rescore(decision.rescored)
    verdict = decision.verdict
    return Fetch(
        page.url, True, verdict.relevance, verdict.on_topic, lease.score, entry.referrer, cpu
    )


def _origin(lease: Lease) -> str:
    """Return the address that was queued, before redirects."""
    return str(lease.entry.meta.get(ORIGIN, lease.entry.url))


def _redirected(lease: Lease, location: str) -> Entry:
    entry = lease.entry
    meta = {ORIGIN: _origin(lease), HOPS: int(entry.meta.get(HOPS, 0)) + 1}
    return Entry(location, lease.score, entry.depth, entry.referrer, meta=meta)
