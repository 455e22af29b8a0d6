"""FrontierScheduler: asks the scoring middleware, fills the frontier, takes the best link next.

Links arrive in batches, page by page, and become Scrapy requests only when they are taken. Scrapy
asks a scheduler that answered None again only when a download ends or after five seconds, so we
wake the engine ourselves when the next host comes free.

A frontier on a server may be away for a while. What we have to tell it waits in an outbox, in
order, and the crawl pauses until it is delivered: a page's links first, its acknowledgement after.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler, BaseSchedulerMeta
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.utils.defer import deferred_from_coro

from treasure import interpreter
from treasure.addon import workbench_of
from treasure.crawl import Decision
from treasure.errors import FrontierUnavailable, RepositoryUnavailable, TreasureError
from treasure.frontier.base import Entry, Frontier, Lease
from treasure.items import LEASE, LinkBatch
from treasure.project_requests import ProjectRequests
from treasure.stopping import HINDERED, REPOSITORY_UNAVAILABLE
from treasure.urls import canonical

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from treasure.middlewares.tgraph_scoring import TGraphScoringMiddleware
    from treasure.workbench import Workbench

logger = logging.getLogger(__name__)

FRONTIER_DAMAGED = "frontier_damaged"
BEGUN_SECONDS = 0.02
"""How long after the first link is taken its request is out and heavy work may begin."""
REQUESTS_A_TURN = 16
"""Requests that we begin before others may have the event loop. What is asked for together arrives
together and is read in a row (``desk``)."""
FOUND_SECONDS = 0.03
"""How long the links of pages wait for each other to be queued together, which costs a frontier
less, above all one on a server. What is taken is taken with them."""
RETRY_SECONDS = 5.0
"""How long we wait before we ask a frontier that does not answer again."""


class Gate(Protocol):
    """Something that may keep the crawl from taking the next link: a pause, a speed limit."""

    def opens_at(self, now: float) -> float:
        """Return when it opens: *now* or earlier when it is open."""

    def in_a_row(self, now: float) -> bool:
        """Tell whether links may now be taken one right after the other."""

    def taken(self, now: float) -> None:
        """Take in that a link was taken."""


class Recorder(Protocol):
    """Writes down why links were queued and taken, for explanations later."""

    def scored(self, batch: LinkBatch, decision: Decision) -> dict[str, Any]:
        """Take in the scores of a page's links; return what is known of the link to the page."""

    def taken(self, lease: Lease) -> None:
        """Take in that a link is taken."""


class GivenBack(IgnoreRequest):
    """A request that must wait: its link goes back to the frontier and counts as not tried."""

    def __init__(self, why: str, seconds: float = 0.0) -> None:
        super().__init__(why)
        self.seconds = seconds


class _OnlyOurs(BaseSchedulerMeta):
    """Tells our scheduler from others; Scrapy's metaclass takes any one for any other."""

    def __instancecheck__(self, instance: Any) -> bool:
        return type.__instancecheck__(self, instance)

    def __subclasscheck__(self, subclass: type) -> bool:
        return type.__subclasscheck__(self, subclass)


class _Found:
    """Links of some pages, on their way to the frontier."""

    def __init__(self) -> None:
        self.pages = 0
        self.entries: list[Entry] = []
        self.keys: list[int] = []
        self.rescored: dict[int, float] = {}

    def add(
        self, entries: Sequence[Entry], keys: Sequence[int], rescored: Mapping[int, float]
    ) -> None:
        """Add a page's links, then other links that have new scores with it."""
        self.pages += 1
        self.entries += entries
        self.keys += keys
        for key in keys:  # the page knows better than those before it
            self.rescored.pop(key, None)
        self.rescored |= rescored


class FrontierScheduler(BaseScheduler, metaclass=_OnlyOurs):
    """Scrapy's scheduler on top of a Frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats: StatsCollector = crawler.stats
        self.gates: list[Gate] = []
        self.recorder: Recorder | None = None
        self.stop_reason = ""
        self.left: int | None = None
        """Links that still wait when the crawl has ended."""
        self.bench: Workbench | None = None
        self.scoring: TGraphScoringMiddleware | None = None
        self._again: deque[Request] = deque()
        self._outbox: deque[Callable[[], object]] = deque()
        self._in_flight: dict[int, Lease] = {}
        self._projects = ProjectRequests(crawler)
        self._wake: asyncio.TimerHandle | None = None
        self._in_turn = 0
        self._begun = False
        self._found = _Found()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        """Build the scheduler; the workbench follows in ``open``, when the spider is there."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._idle, signal=signals.spider_idle)
        return scheduler

    def open(self, spider: Spider) -> None:
        """Open the frontier."""
        # Here and not above: the middleware writes through the writer, which knows the scheduler.
        from treasure.middlewares.tgraph_scoring import TGraphScoringMiddleware

        self.spider = spider
        self.bench = workbench_of(self.crawler)
        if self.bench is None:
            return
        # A worker of a fleet may wait long for its first link: not with Python's own settings.
        interpreter.tune()
        self.scoring = self.crawler.get_spider_middleware(TGraphScoringMiddleware)
        counts = self.bench.frontier.counts()
        store, job = self.bench.store, self.bench.job
        given = [given.page.url for given in self.bench.given.values()]
        before = store.count(job) - store.count_free(job, given)
        self.bench.frontier.count_from(before)
        if counts.done or counts.queued:
            logger.info(
                "Job %s goes on: %d pages done, %d links waiting.",
                job,
                before,
                counts.queued,
            )

    def close(self, reason: str) -> Deferred[None] | None:
        """Give back what is in flight, keep what was learned, let go."""
        if self._wake is not None:
            self._wake.cancel()
        if self.bench is None:
            return None
        frontier = self.bench.frontier
        self._queue_found()
        # Untried: that we end is not their fault.
        self._outbox += [partial(frontier.release, key, tried=False) for key in self._in_flight]
        self._deliver()
        with suppress(FrontierUnavailable):
            self.left = frontier.counts().queued
        if self._outbox:
            logger.warning("The frontier does not answer; pages not acknowledged come again.")
        return deferred_from_coro(self._let_go(self.bench))

    async def _let_go(self, bench: Workbench) -> None:
        try:
            await asyncio.to_thread(bench.save)
        except RepositoryUnavailable as error:
            logger.error("What was learned since the last keeping is lost: %s", error)
            self.stop(REPOSITORY_UNAVAILABLE)
        finally:
            await asyncio.to_thread(bench.close)

    # -- what Scrapy asks

    def has_pending_requests(self) -> bool:
        """Whether there is anything left that we may fetch."""
        if self.bench is None or self.stop_reason:
            return False
        if (self._again or self._found.pages) and not self._at_limit():
            return True
        try:
            counts = self.bench.frontier.counts()
        except FrontierUnavailable:
            return True
        # What other workers have under way may bring more, or come back when they die.
        others = counts.leased > len(self._in_flight)
        return others or (counts.queued > 0 and not self._at_limit())

    def enqueue_request(self, request: Request) -> bool:
        """Queue a seed, a request of somebody else's spider, or one on its way (retry)."""
        if self.bench is None:
            return False
        if LEASE in request.meta:
            self._again.append(request)
            return True
        url = canonical(request.url)
        if getattr(self.spider, "treasure_native", False):
            self.push([Entry(url, self._score_of(request))] if url else [])
            return bool(url)
        if not url:  # a file, or the like: nothing that waits in a frontier
            self._again.append(request)
            return True
        entry, key = self._projects.entry(request, url, self._score_of(request))
        self.push([entry], [key])
        return True

    def next_request(self) -> Request | None:
        """Take the best link that policy allows now."""
        try:
            return self._next_request()
        except Exception as error:
            # Scrapy would only log it, and ask again for ever.
            logger.error(
                "The crawl cannot go on: %s", error, exc_info=not isinstance(error, TreasureError)
            )
            self.stop(FRONTIER_DAMAGED)
            return None

    # -- what our own components ask

    async def enqueue_links(self, batch: LinkBatch) -> Decision:
        """Ask the middleware what the links of a page are worth, and queue them."""
        assert self.bench is not None
        assert self.scoring is not None
        decision = self.recorded(batch, await self.scoring.score(batch))
        links, scores, fresh = decision.links, decision.scores, decision.fresh
        keys = [link.key for link in links]
        if len(set(keys)) < len(keys):
            best = _best(keys, scores)
            links, scores = [links[at] for at in best], [scores[at] for at in best]
            keys = [keys[at] for at in best]
            new = {link.url for link in fresh}
            fresh = [link for link in links if link.url in new]
        # Where a link stood is kept from where it was met first.
        page = batch.page
        contexts = dict(zip([link.url for link in fresh], page.contexts(fresh), strict=True))
        context, referrer = contexts.get, page.url
        depth = batch.depth
        entries = [
            Entry(link.url, score, depth, referrer, link.anchor_text, context(link.url, ""))
            for link, score in zip(links, scores, strict=True)
        ]
        self._found.add(entries, keys, decision.rescored)
        if self._found.pages >= self.bench.frontier.pages_at_once:
            self._queue_found()
        elif self._found.pages == 1:
            asyncio.get_running_loop().call_later(FOUND_SECONDS, self._queue_found)
        return decision

    def recorded(self, batch: LinkBatch, decision: Decision) -> Decision:
        """Have the scores of a page's links written down; add what is known of the link to it."""
        if self.recorder is None:
            return decision
        return replace(decision, explanation=self.recorder.scored(batch, decision))

    def push(self, entries: Sequence[Entry], keys: Sequence[int] | None = None) -> None:
        """Queue *entries*; *keys* are theirs, where the caller has them."""
        assert self.bench is not None
        if entries:
            self._tell(partial(self._push, self.bench.frontier, entries, keys))

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give links that wait, named by their keys, new scores."""
        assert self.bench is not None
        if scores:
            self._queue_found()  # they may be among these
            self._tell(partial(self.bench.frontier.rescore, scores))

    def landed(self, lease: Lease) -> None:
        """The download of *lease* ended: its host may be asked again after its delay."""
        assert self.bench is not None
        self._tell(partial(self.bench.frontier.landed, lease.key, self.bench.clock()))

    def done(self, keys: Sequence[int]) -> None:
        """The results of *keys* are stored: they need never be fetched again."""
        assert self.bench is not None
        self._queue_found()  # which may be links of these pages
        for key in keys:
            self._in_flight.pop(key, None)
        self._tell(partial(self.bench.frontier.acknowledge, keys))

    def retry(self, lease: Lease, seconds: float, *, tried: bool = True) -> None:
        """Queue *lease* again, not before *seconds* have passed."""
        assert self.bench is not None
        self._in_flight.pop(lease.key, None)
        release, not_before = self.bench.frontier.release, self.bench.clock() + seconds
        self._tell(partial(release, lease.key, not_before=not_before, tried=tried))

    def give_back(self, lease: Lease, seconds: float = 0.0) -> None:
        """Queue *lease* again as if it had not been taken: we asked its server for nothing."""
        self.retry(lease, seconds, tried=False)

    def hold(self, host: str, seconds: float) -> None:
        """Take nothing from *host* for *seconds*."""
        assert self.bench is not None
        self._tell(partial(self.bench.frontier.hold, host, self.bench.clock() + seconds))

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep *seconds* between two requests to *host*."""
        assert self.bench is not None
        self._tell(partial(self.bench.frontier.set_delay, host, seconds))

    def uncounted(self) -> None:
        """A taken link does not count towards max_pages: a redirect, a sitemap, a page given."""
        assert self.bench is not None
        self._tell(self.bench.frontier.uncount)

    def stop(self, reason: str) -> None:
        """Take no more links; the crawl ends with *reason* when what is in flight has landed.

        The first reason stays, but for what keeps a crawl that was told to end from storing all.
        """
        if not self.stop_reason or reason in HINDERED:
            self.stop_reason = reason

    def wake(self) -> None:
        """Make the engine ask for the next request now."""
        # A private name of Scrapy: there is no public way (2.19).
        slot = self.crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    # -- inside

    def _next_request(self) -> Request | None:
        if self.bench is None or self._exhausted():
            return None
        if self._again:
            return self._again.popleft()
        if self._in_turn >= REQUESTS_A_TURN:
            return None
        now = self.bench.clock()
        opens = max((gate.opens_at(now) for gate in self.gates), default=now)
        if opens > now:
            self._wake_at(opens, now)
            return None
        self._queue_found()
        if not self._deliver():
            return None
        try:
            lease = self._take(now)
            if lease is None:
                self._wake_at(self.bench.frontier.next_time(now), now)
                return None
        except FrontierUnavailable as error:
            self._frontier_gone(error)
            return None
        for gate in self.gates:
            gate.taken(now)
        if not self._in_turn:
            asyncio.get_running_loop().call_later(0, self._next_turn)
        self._in_turn += 1
        return self._request(lease)

    def _next_turn(self) -> None:
        full, self._in_turn = self._in_turn >= REQUESTS_A_TURN, 0
        if full:
            self.wake()

    def _take(self, now: float) -> Lease | None:
        """Take the best link; those whose budget is used up are done without a fetch."""
        assert self.bench is not None
        frontier, admission = self.bench.frontier, self.bench.admission
        wanted = self._wanted(now)
        lease = frontier.take(now, wanted)
        while lease is not None and admission.has_budgets:
            if not admission.over_budget(lease.entry.url):
                break
            self.stats.inc_value("treasure/links/over_budget")
            frontier.landed(lease.key, now)
            frontier.acknowledge([lease.key])
            frontier.uncount()
            lease = frontier.take(now, wanted)
        return lease

    def _wanted(self, now: float) -> int:
        """Return how many links Scrapy will ask for before anything else happens.

        What is taken and then kept by a gate would be kept from other workers, and its host too.
        """
        if not all(gate.in_a_row(now) for gate in self.gates):
            return 1
        downloader = self.crawler.engine.downloader
        room = downloader.total_concurrency - len(downloader.active)
        return max(1, min(REQUESTS_A_TURN - self._in_turn, room))

    def _exhausted(self) -> bool:
        """Tell whether nothing may be taken now. What is under way may yet be given back."""
        return bool(self.stop_reason) or self._at_limit()

    def _at_limit(self) -> bool:
        assert self.bench is not None
        return 0 < self.bench.config.max_pages <= self.bench.frontier.pages

    def _idle(self) -> None:
        if self.bench is not None and not self.stop_reason:
            if self._at_limit():
                self.stop_reason = "max_pages"
            elif self._nothing_answered():
                self.stop_reason = "no_seed_answered"
        if self.stop_reason:
            raise CloseSpider(self.stop_reason)

    def _nothing_answered(self) -> bool:
        """Tell whether all pages failed: ours, those of other workers and those of earlier runs."""
        assert self.bench is not None
        count = self.stats.get_value
        read = sum(count(f"treasure/pages/{kind}", 0) for kind in ("on_topic", "off_topic"))
        if read or not count("treasure/pages/failed", 0):
            return False
        try:
            return not self.bench.store.has_read(self.bench.job)
        except RepositoryUnavailable:
            return False

    def _request(self, lease: Lease) -> Request:
        self._in_flight[lease.key] = lease
        assert self.bench is not None
        if not self._begun:
            self._begun = True
            asyncio.get_running_loop().call_later(BEGUN_SECONDS, self.bench.begun)
        if self.recorder is not None:
            self.recorder.taken(lease)
        request = self._projects.request(lease)
        if request is not None:
            request.meta[LEASE] = lease
            return request
        return Request(
            lease.entry.url,
            callback=getattr(self.spider, "parse_page", None),
            errback=getattr(self.spider, "failed", None),
            meta={LEASE: lease, "handle_httpstatus_all": True},
            dont_filter=True,
        )

    def _score_of(self, request: Request) -> float:
        assert self.scoring is not None
        return self.scoring.score_of(request)

    def _wake_at(self, time: float | None, now: float) -> None:
        if time is None:
            return
        if self._wake is not None:
            self._wake.cancel()
        loop = asyncio.get_running_loop()
        self._wake = loop.call_later(max(0.001, time - now), self.wake)

    def _push(
        self, frontier: Frontier, entries: Sequence[Entry], keys: Sequence[int] | None
    ) -> None:
        new = sum(frontier.push(entries, keys))
        self.stats.inc_value("treasure/links/found", len(entries))
        self.stats.inc_value("treasure/links/queued", new)

    def _queue_found(self) -> None:
        """Queue the links of pages that waited for each other, if any."""
        if self._found.pages:
            found, self._found = self._found, _Found()
            self.push(found.entries, found.keys)
            self.rescore(found.rescored)

    def _tell(self, message: Callable[[], object]) -> None:
        """Tell the frontier something, now or as soon as it answers."""
        self._outbox.append(message)
        self._deliver()

    def _deliver(self) -> bool:
        """Deliver what waits, in order; tell whether nothing is left."""
        try:
            while self._outbox:
                self._outbox[0]()
                self._outbox.popleft()
        except FrontierUnavailable as error:
            self._frontier_gone(error)
            return False
        return True

    def _frontier_gone(self, error: FrontierUnavailable) -> None:
        self.stats.inc_value("treasure/frontier/unavailable")
        logger.warning("The frontier does not answer (%s); trying again.", error)
        assert self.bench is not None
        now = self.bench.clock()
        self._wake_at(now + RETRY_SECONDS, now)


def _best(keys: Sequence[int], scores: Sequence[float]) -> list[int]:
    """Return where each key has its highest score, in the order in which they are met first."""
    best: dict[int, int] = {}
    for at, key in enumerate(keys):
        if key not in best or scores[at] > scores[best[key]]:
            best[key] = at
    return list(best.values())
