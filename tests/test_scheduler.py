"""The scheduler: links of pages that are read together are queued together, and in time."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tests.strategies.small_web import page
from treasure.crawl import Decision
from treasure.frontier.base import Entry, Lease
from treasure.frontier.memory import MemoryFrontier
from treasure.items import LinkBatch
from treasure.pages import Verdict
from treasure.scheduler import FrontierScheduler
from treasure.stopping import REPOSITORY_UNAVAILABLE
from treasure.urls import url_key

PAGES = [page(name, f"The [{name}let|owl] and the [Shared|nest].") for name in "ABCDE"]
SCORES = [(0.2 + n / 10, 0.9 - n / 10) for n in range(len(PAGES))]


class Frontier(MemoryFrontier):
    """Writes down what it is told, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def take(self, now: float, wanted: int = 1) -> Lease | None:
        self.told.append(f"take {wanted}")
        return super().take(now, wanted)

    def push(self, entries: Any, keys: Any = None) -> list[bool]:
        self.told.append(f"push {len(entries)}")
        return super().push(entries, keys)

    def acknowledge(self, keys: Any) -> None:
        self.told.append("acknowledge")
        super().acknowledge(keys)


class Scoring:
    """Gives the links of each page the scores we want."""

    def __init__(self) -> None:
        self.rescored: dict[str, dict[int, float]] = {}

    async def score(self, batch: LinkBatch) -> Decision:
        scores = SCORES[PAGES.index(batch.page)]
        rescored = self.rescored.get(batch.page.url, {})
        verdict = Verdict(0.5, on_topic=False)
        return Decision(verdict, batch.links, scores, rescored, fresh=batch.links)


def make() -> tuple[FrontierScheduler, Frontier, Scoring]:
    downloader = SimpleNamespace(total_concurrency=8, active=set(range(3)))
    crawler: Any = SimpleNamespace(
        stats=SimpleNamespace(inc_value=lambda *_: None),
        engine=SimpleNamespace(downloader=downloader),
    )
    scheduler, frontier, scoring = FrontierScheduler(crawler), Frontier(), Scoring()
    config = SimpleNamespace(max_pages=0)
    admission = SimpleNamespace(has_budgets=False)
    bench: Any = SimpleNamespace(
        frontier=frontier, config=config, admission=admission, clock=lambda: 0.0
    )
    scheduler.bench, scheduler.scoring = bench, scoring  # type: ignore[assignment]
    scheduler._request = lambda lease: lease  # type: ignore[assignment, method-assign, return-value]
    return scheduler, frontier, scoring


async def decide(scheduler: FrontierScheduler, count: int) -> None:
    for read in PAGES[:count]:
        await scheduler.enqueue_links(LinkBatch(read, read.links, None))


def queued(frontier: Frontier) -> list[tuple[str, float, str]]:
    return [(entry.url, entry.score, entry.referrer) for entry in frontier.peek(99)]


def test_links_of_a_few_pages_are_queued_together() -> None:
    async def crawl() -> Frontier:
        scheduler, frontier, _ = make()
        await decide(scheduler, frontier.pages_at_once + 1)
        assert frontier.told == [f"push {2 * frontier.pages_at_once}"]
        assert scheduler.has_pending_requests()
        await asyncio.sleep(0.1)
        return frontier

    frontier = asyncio.run(crawl())
    assert frontier.told == [f"push {2 * frontier.pages_at_once}", "push 2"]


def test_together_or_one_by_one_the_queue_is_the_same() -> None:
    key = url_key(PAGES[0].links[0].url)
    shared = url_key(PAGES[0].links[1].url)

    async def crawl(*, together: bool) -> Frontier:
        scheduler, frontier, scoring = make()
        scoring.rescored = {
            PAGES[1].url: {key: 0.05, shared: 0.99},
            PAGES[3].url: {shared: 0.7},
        }
        for read in PAGES:
            await scheduler.enqueue_links(LinkBatch(read, read.links, None))
            if not together:
                scheduler.done([])
        scheduler.done([])
        return frontier

    expected = queued(asyncio.run(crawl(together=False)))
    assert len(expected) == len(PAGES) + 1
    assert queued(asyncio.run(crawl(together=True))) == expected


def test_what_was_found_is_there_when_a_link_is_taken() -> None:
    async def crawl() -> Any:
        scheduler, _, _ = make()
        scheduler.push([Entry("https://old.example/", 0.1)])
        await decide(scheduler, 1)
        return scheduler.next_request()

    assert asyncio.run(crawl()).entry.url == PAGES[0].links[1].url


class Gate:
    """Lets one link through after the other, or all that come."""

    def __init__(self, *, wide: bool) -> None:
        self.wide = wide

    def opens_at(self, now: float) -> float:
        return now

    def in_a_row(self, now: float) -> bool:
        return self.wide

    def taken(self, now: float) -> None:
        pass


@pytest.mark.parametrize(("wide", "wanted"), [(True, [5, 4, 3]), (False, [1, 1, 1])])
def test_the_frontier_hears_how_many_links_are_wanted(wide: bool, wanted: list[int]) -> None:
    async def crawl() -> list[str]:
        scheduler, frontier, _ = make()
        scheduler.push([Entry(f"https://{n}.example/", 0.5) for n in range(9)])
        frontier.told.clear()
        scheduler.gates = [Gate(wide=True), Gate(wide=wide)]
        while len(frontier.told) < 3:
            request: Any = scheduler.next_request()
            scheduler.crawler.engine.downloader.active.add(request.key)  # type: ignore[union-attr]
        return frontier.told

    assert asyncio.run(crawl()) == [f"take {count}" for count in wanted]


def test_a_gate_that_narrows_lets_no_link_be_taken_ahead() -> None:
    async def crawl() -> list[str]:
        scheduler, frontier, _ = make()
        scheduler.push([Entry(f"https://{n}.example/", 0.5) for n in range(9)])
        frontier.told.clear()
        gate = Gate(wide=True)
        scheduler.gates = [gate]
        for gate.wide in (True, False, True):
            scheduler.next_request()
        return frontier.told

    assert asyncio.run(crawl()) == ["take 5", "take 1", "take 5"]


def test_links_are_queued_before_their_page_is_done() -> None:
    async def crawl() -> list[str]:
        scheduler, frontier, _ = make()
        await decide(scheduler, 1)
        scheduler.done([url_key(PAGES[0].url)])
        return frontier.told

    assert asyncio.run(crawl()) == ["push 2", "acknowledge"]


def test_new_scores_find_the_links_they_are_for() -> None:
    key = url_key(PAGES[0].links[0].url)

    async def crawl() -> Frontier:
        scheduler, frontier, _ = make()
        await decide(scheduler, 1)
        scheduler.rescore({key: 0.95})
        return frontier

    assert queued(asyncio.run(crawl()))[0][:2] == (PAGES[0].links[0].url, 0.95)


def test_a_stop_costs_the_links_in_flight_no_try() -> None:
    async def crawl() -> Frontier:
        scheduler, frontier, _ = make()
        scheduler.push([Entry("https://old.example/", 0.1)])
        scheduler.bench.save = scheduler.bench.close = lambda: None  # type: ignore[union-attr, method-assign]
        lease: Any = scheduler.next_request()
        scheduler._in_flight[lease.key] = lease
        await scheduler.close("shutdown").asFuture(asyncio.get_running_loop())  # type: ignore[union-attr]
        return frontier

    lease = asyncio.run(crawl()).take(9.0)
    assert lease is not None
    assert lease.attempts == 0


def test_the_first_reason_to_stop_stays_unless_something_hinders_the_crawl() -> None:
    scheduler, *_ = make()
    for reason, stays in [
        ("stopped", "stopped"),
        ("max_minutes", "stopped"),
        (REPOSITORY_UNAVAILABLE, REPOSITORY_UNAVAILABLE),
        ("stopped", REPOSITORY_UNAVAILABLE),
    ]:
        scheduler.stop(reason)
        assert scheduler.stop_reason == stays
