"""StatusExtension: says once a second what the crawl is doing, and raises alerts.

The status goes to the repository, where ``treasure status``, the web page and other machines read
it; the metrics endpoint shows the same figures. A database that is slow or away delays the status,
never the crawl.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
import time
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from treasure import stopping
from treasure.addon import workbench_of
from treasure.alerts import Lookout
from treasure.errors import FrontierUnavailable, RepositoryUnavailable
from treasure.extensions.progress import outcomes, speedometer
from treasure.extensions.speed import speed_of
from treasure.extensions.steering import helm_of
from treasure.frontier.base import Counts
from treasure.frontier.spread import SAMPLE, spread
from treasure.items import PageItem
from treasure.log_hygiene import hide_passwords
from treasure.repository.store import Store
from treasure.robots import FORBIDDEN, UNREACHABLE
from treasure.scheduler import FrontierScheduler
from treasure.urls import host_of
from treasure.workbench import repository_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from treasure.workbench import Workbench

logger = logging.getLogger(__name__)

STATUS_SECONDS = 1.0
TOP_HOSTS = 5
SPREAD_TICKS = 5
HOSTILE_STATUSES = frozenset({401, 403, 429, 503})

_statuses: WeakKeyDictionary[Crawler, Mapping[str, Any]] = WeakKeyDictionary()


def status_of(crawler: Crawler) -> Mapping[str, Any]:
    """Return the latest status of this crawl; safe in any thread."""
    return _statuses.get(crawler, {})


class StatusExtension:
    """Writes the status and watches for trouble."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.worker = f"{socket.gethostname()}:{os.getpid()}"
        self.lookout = Lookout()
        self._saving: asyncio.Future[None] | None = None
        self._call: Any = None
        self._started = time.time()
        self._ticks = 0
        self._spread: dict[str, Any] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatusExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def _opened(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is None:
            return
        self._meter = speedometer(bench)
        settings = {
            name: hide_passwords(value) if isinstance(value, str) else value
            for name, value in self.crawler.settings.copy_to_dict().items()
            if name.startswith("TREASURE_")
        }
        topic = ", ".join(topic.name for topic in bench.topics)
        try:
            bench.store.start_job(bench.job, topic, settings)
        except RepositoryUnavailable as error:
            logger.warning("%s", error)
        self.crawler.signals.connect(self._scraped, signal=signals.item_scraped)
        self.crawler.signals.connect(self._dropped, signal=signals.item_dropped)
        self._call = create_looping_call(self._tick)
        self._call.start(STATUS_SECONDS, now=True)

    def _scraped(self, item: Any) -> None:
        if isinstance(item, PageItem):
            self.lookout.landed(host_of(item.url), "")

    def _dropped(self, item: Any) -> None:
        """Take in pages that are no pages; only refusals and silence make a host hostile."""
        draft = item.draft if isinstance(item, PageItem) else None
        if draft is not None and draft.lease is not None:
            ours = draft.failure in (FORBIDDEN, UNREACHABLE)
            bad = draft.status in HOSTILE_STATUSES or (not draft.status and not ours)
            host = host_of(draft.lease.entry.url)
            self.lookout.landed(host, draft.failure if bad else "")

    def _tick(self) -> None:
        bench = workbench_of(self.crawler)
        assert bench is not None
        try:
            status = self._status(bench)
        except FrontierUnavailable:
            return
        new = self.lookout.look(
            status["pages"], status["on_topic"], status["queued"], paused=status["paused"]
        )
        for alert in new:
            logger.warning("%s %s", alert.text, alert.advice)
            self.crawler.stats.inc_value(f"treasure/alerts/{alert.kind.partition(':')[0]}")
        status["alerts"] = [alert.as_dict() for alert in self.lookout.active.values()]
        _statuses[self.crawler] = status
        if self._saving is None or self._saving.done():
            self._saving = asyncio.ensure_future(self._save(bench, status, new))

    async def _save(self, bench: Workbench, status: dict[str, Any], new: list[Any]) -> None:
        def save() -> None:
            bench.store.save_status(bench.job, self.worker, status)
            for alert in new:
                bench.store.log(bench.job, "alert", alert.text, alert.as_dict())

        try:
            await asyncio.to_thread(save)
        except RepositoryUnavailable:
            self.crawler.stats.inc_value("treasure/status/unsaved")

    def _status(self, bench: Workbench) -> dict[str, Any]:
        stats, scheduler = self.crawler.stats, self.crawler.engine.scheduler
        counts = bench.frontier.counts()
        pages, total = self._pages()
        figures = self._meter.figures(
            time.monotonic(), total, pages["on_topic"], pages["failed"], counts.queued
        )
        speed, helm = speed_of(self.crawler), helm_of(self.crawler)
        stopping_for = scheduler.stop_reason if isinstance(scheduler, FrontierScheduler) else ""
        return {
            "job": bench.job,
            "topic": ", ".join(topic.name for topic in bench.topics),
            "strategy": bench.config.strategy,
            "worker": self.worker,
            "started": self._started,
            **figures.as_dict(),
            **pages,
            "queued": counts.queued,
            "leased": counts.leased,
            "done": counts.done,
            "hosts": counts.hosts,
            "largest_hosts": bench.frontier.hosts(TOP_HOSTS),
            "scores": self._scores(bench, counts.queued),
            "links_found": stats.get_value("treasure/links/found", 0),
            "links_queued": stats.get_value("treasure/links/queued", 0),
            "refused": dict(bench.admission.refused),
            "retries": stats.get_value("treasure/retries", 0),
            "bytes": stats.get_value("downloader/response_bytes", 0),
            "paused": helm is not None and helm.pause.shut,
            "stopping": stopping_for,
            "speed_limit": speed.why(bench.clock()) if speed is not None else "",
            "next_link_seconds": _wait(bench, counts),
            "memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "threshold": bench.crawl.judge.threshold,
            "missing": list(bench.missing),
        }

    def _scores(self, bench: Workbench, queued: int) -> dict[str, Any]:
        """Return how the waiting links' scores spread, drawn anew every few seconds."""
        if self._ticks % SPREAD_TICKS == 0:
            self._spread = spread(bench.frontier.sample(SAMPLE), queued)
        self._ticks += 1
        return self._spread

    async def _closed(self, reason: str) -> None:
        bench = workbench_of(self.crawler)
        if bench is None or self._call is None:
            return
        if self._call.running:
            self._call.stop()
        if self._saving is not None:
            await self._saving
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            reason = scheduler.stop_reason or reason
        status = dict(_statuses.get(self.crawler, {})) | self._last_counts()
        status |= {"stopped": reason, "because": stopping.in_words(reason), "alerts": []}
        _statuses[self.crawler] = status
        try:
            # The scheduler has let go of the crawl's own connection by now.
            store = Store.open(repository_url(bench.config))
            store.save_status(bench.job, self.worker, status)
            store.stop_job(bench.job, reason)
            store.close()
        except RepositoryUnavailable as error:
            logger.warning("The end of the job could not be noted: %s", error)

    def _last_counts(self) -> dict[str, int]:
        pages, total = self._pages()
        counts = pages | {"pages": total, "leased": 0}
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler) and scheduler.left is not None:
            counts["queued"] = scheduler.left
        return counts

    def _pages(self) -> tuple[dict[str, int], int]:
        """Return what became of the pages, redirects besides, and how many they are without."""
        pages = outcomes(self.crawler)
        hops = int(self.crawler.stats.get_value("treasure/pages/redirected", 0))
        return pages | {"redirected": hops}, sum(pages.values())


def _wait(bench: Workbench, counts: Counts) -> float:
    """Return how long no waiting link may be taken; 0 while others are under way."""
    if counts.leased or not counts.queued:
        return 0.0
    now = bench.clock()
    opens = bench.frontier.next_time(now)
    return max(0.0, opens - now) if opens is not None and isfinite(opens) else 0.0
