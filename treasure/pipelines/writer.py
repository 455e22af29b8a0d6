"""RepositoryWriter: pages to the repository in batches, then their acknowledgement.

A page and its links are one transaction; only when it is committed does the frontier hear that
the page is done. The database works in a thread of its own. When it does not answer, the crawl
takes no further links, tries again, and stops with ``repository_unavailable`` in the end; at once
when the process was told to end, since then somebody waits.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals

from treasure import failures
from treasure.addon import is_native, workbench_of
from treasure.downloaders.patience import told_to_end
from treasure.errors import RepositoryUnavailable
from treasure.frontier.base import Lease
from treasure.items import LEASE, ORIGIN, Draft
from treasure.network import NetworkWatch
from treasure.pages import Verdict
from treasure.repository.records import LinkRecord, PageRecord
from treasure.scheduler import FrontierScheduler
from treasure.stopping import REPOSITORY_UNAVAILABLE
from treasure.urls import host_of, is_respelt, url_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from treasure.workbench import Workbench

logger = logging.getLogger(__name__)

WAITS_SECONDS = (1, 2, 5, 10, 20, 30, 60, 60, 60, 60)
"""Pauses between attempts to write; about five minutes in all."""
BACKLOG_BATCHES = 1
"""Batches that may wait, while another is written, before we take no more links: what waits when a
crawl is killed is fetched again."""
DONE_IN_A_TURN = 25
"""Pages that the frontier hears are done before others have the event loop: 100 take it 5 ms."""

_writers: WeakKeyDictionary[Crawler, RepositoryWriter] = WeakKeyDictionary()


def writer_of(crawler: Crawler) -> RepositoryWriter:
    """Return the writer of this crawl."""
    writer = _writers.get(crawler)
    if writer is None:
        bench = workbench_of(crawler)
        assert bench is not None
        writer = _writers[crawler] = RepositoryWriter(crawler, bench)
    return writer


class RepositoryWriter:
    """Collects records and writes them in batches."""

    def __init__(self, crawler: Crawler, bench: Workbench) -> None:
        self.crawler = crawler
        self.bench = bench
        self.ours = is_native(crawler)
        """Retries of a project's spider are Scrapy's: what fails in the end has failed."""
        self._seeds = frozenset(bench.seeds)
        self._waiting: list[PageRecord] = []
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._broken = False
        self.network = NetworkWatch()
        scheduler = crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            scheduler.gates += [self, self.network]
        crawler.signals.connect(self._internal_error, signal=signals.spider_error)

    def opens_at(self, now: float) -> float:
        """Keep the crawl from running away from its database (a Gate of the scheduler)."""
        limit = BACKLOG_BATCHES * self.bench.config.repository_batch_pages
        return now + 0.1 if self._broken or len(self._waiting) > limit else now

    def in_a_row(self, now: float) -> bool:
        """Let links follow each other: what counts here is what arrives."""
        return True

    def taken(self, now: float) -> None:
        """Take no notice."""

    def add(self, draft: Draft, verdict: Verdict | None) -> bool:
        """Write the page with the next batch, or queue its link again when it may yet succeed.

        Return whether this was its last try.
        """
        lease = draft.lease
        scheduler = self.crawler.engine.scheduler
        if (
            lease is not None
            and isinstance(scheduler, FrontierScheduler)
            and self._network_gone(draft, lease)
        ):
            scheduler.give_back(lease, 1.0)
            return False
        if (
            lease is not None
            and draft.page is None
            and self.ours
            and isinstance(scheduler, FrontierScheduler)
            and lease.attempts < self.bench.config.retry_times
            and failures.worth_retrying(draft.status, draft.failure)
        ):
            self.crawler.stats.inc_value("treasure/retries")
            first = self.bench.config.retry_seconds
            scheduler.retry(lease, failures.wait_seconds(lease.attempts, first))
            return False
        self._waiting.append(self._record(draft, verdict))
        self._start_soon()
        if lease is not None and draft.failure:
            link = lease.entry.meta.get(ORIGIN, lease.entry.url)
            if link in self._seeds:
                logger.warning("The seed %s gave no page: %s.", link, draft.failure.rstrip("."))
            changed = self.bench.crawl.failed(link)
            if isinstance(scheduler, FrontierScheduler):
                scheduler.rescore(changed)
        return True

    def _start_soon(self) -> None:
        """Write now when a batch is full, else when its time has come."""
        config = self.bench.config
        if self._task is not None:
            return
        if len(self._waiting) >= config.repository_batch_pages:
            self._start()
        elif self._timer is None and self._waiting:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(config.repository_batch_seconds, self._start)

    def _network_gone(self, draft: Draft, lease: Lease) -> bool:
        """Tell whether this download failed because nothing can be reached at all."""
        host, now = host_of(lease.entry.url), self.bench.clock()
        if draft.status:
            if self.network.answered(host):
                logger.info("The network is back.")
        elif failures.of_network(draft.failure):
            if self.network.failed(host, now):
                self.crawler.stats.inc_value("treasure/network/gone")
                logger.warning("Hosts that answered before do not: waiting for the network.")
            return self.network.excuses(now)
        return False

    async def close(self) -> None:
        """Write what still waits."""
        while self._waiting or self._task is not None:
            if self._task is None:
                self._start()
            if self._task is not None:
                await self._task
                await asyncio.sleep(0)  # a task that had ended is told of in the next turn
            if self._broken:
                break

    def _internal_error(self, failure: Failure, response: Response | None) -> None:
        """Record a page that our own code (or a project's) stumbled over, so that it ends."""
        lease = response.meta.get(LEASE) if response is not None else None
        if response is not None and lease is not None:
            error = f"internal error: {type(failure.value).__name__}"
            draft = Draft(lease, time.time(), response.url, response.status, failure=error)
            if self.add(draft, None):
                self.crawler.stats.inc_value("treasure/pages/failed")

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is None and self._waiting and not self._broken:
            self._task = asyncio.ensure_future(self._write())
            self._task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("Writing to the repository failed: %s", error, exc_info=error)
            self._stop()
        else:
            self._start_soon()

    async def _write(self) -> None:
        batch, self._waiting = self._waiting[:], []
        started = time.monotonic()
        for wait in (*WAITS_SECONDS, None):
            try:
                await asyncio.to_thread(self.bench.store.write, batch)
                break
            except RepositoryUnavailable as error:
                self.crawler.stats.inc_value("treasure/repository/unavailable")
                if wait is None or told_to_end(self.crawler):
                    logger.error("%s; nothing acknowledged is lost. Mend it and restart.", error)
                    self._stop()
                    return
                logger.warning("%s; trying again in %d s.", error, wait)
                await self._pause(wait)
        self.crawler.stats.inc_value("treasure/repository/batches")
        self.crawler.stats.max_value(
            "treasure/repository/slowest_batch_seconds", round(time.monotonic() - started, 3)
        )
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            for start in range(0, len(batch), DONE_IN_A_TURN):
                part = batch[start : start + DONE_IN_A_TURN]
                scheduler.done([key for record in part for key in _done_with(record)])
                await asyncio.sleep(0)
            scheduler.wake()

    async def _pause(self, seconds: int) -> None:
        for _ in range(seconds):
            if told_to_end(self.crawler):
                return
            await asyncio.sleep(1)

    def _stop(self) -> None:
        self._broken = True
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            scheduler.stop(REPOSITORY_UNAVAILABLE)
        if self.crawler.engine.spider is not None:
            self._closing = asyncio.ensure_future(
                self.crawler.engine.close_spider_async(reason=REPOSITORY_UNAVAILABLE)
            )

    def _record(self, draft: Draft, verdict: Verdict | None) -> PageRecord:
        lease, page, decision = draft.lease, draft.page, draft.decision
        on_topic = verdict is not None and verdict.on_topic
        keep_html = self.bench.config.repository_html
        html = draft.body if keep_html == "all" or (keep_html == "on_topic" and on_topic) else b""
        measured = {}
        if lease is not None:
            entry = lease.entry
            measured = {
                "key": lease.key,
                "url": entry.url,
                "depth": entry.depth,
                "referrer": entry.referrer,
                "anchor": entry.anchor,
                "context": entry.context,
                "score": lease.score,
                "ageing": lease.ageing,
                "explored": lease.explored,
                "passed_over": lease.passed_over,
            }
        else:
            measured = {"key": url_key(draft.final_url), "url": draft.final_url}
        if verdict is not None:
            measured |= {
                "relevance": verdict.relevance,
                "on_topic": verdict.on_topic,
                "unsure": verdict.unsure,
                "topic": verdict.topic,
                "reason": verdict.reason,
                "numbers": verdict.numbers,
            }
        if page is not None:
            measured |= {
                "canonical_url": page.canonical,
                "title": page.title,
                "language": page.language,
                "text": page.main_text if on_topic else "",
            }
        if decision is not None and decision.graph_node is not None:
            measured["graph_node"] = str(decision.graph_node)
        if on_topic and decision is not None:
            scored = zip(decision.links, decision.scores, strict=True)
            measured["links"] = tuple(
                [LinkRecord(link.url, score, link.anchor_text, link.key) for link, score in scored]
            )
        return PageRecord(
            job=self.bench.job,
            fetched_at=draft.fetched_at,
            final_url=draft.final_url,
            status=draft.status,
            headers=draft.headers,
            failure=draft.failure,
            seconds=draft.seconds,
            size=len(draft.body),
            html=html,
            explanation=draft.explanation,
            **measured,  # type: ignore[arg-type]
        )


def _done_with(record: PageRecord) -> tuple[int, ...]:
    """Return the keys of the addresses that need not be fetched (again) once *record* is stored."""
    if is_respelt(record.url, record.canonical_url):
        return record.key, url_key(record.canonical_url)
    return (record.key,)
