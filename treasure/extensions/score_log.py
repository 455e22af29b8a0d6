"""ScoreLogExtension: writes the log behind ``treasure explain``, in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals

from treasure.addon import workbench_of
from treasure.items import ORIGIN
from treasure.scheduler import FrontierScheduler
from treasure.score_log import FILE, ScoreLog
from treasure.strategies.base import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from treasure.crawl import Decision
    from treasure.frontier.base import Lease
    from treasure.items import LinkBatch

logger = logging.getLogger(__name__)

MOST_TOLD = 10_000
"""Links in flight whose explanations we keep."""
FLUSH_SECONDS = 5.0
"""How long a score waits at most before it is on disk."""
UNWRITTEN = "treasure/explain/unwritten"


class ScoreLogExtension:
    """Records for the scheduler (a Recorder)."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._log: ScoreLog | None = None
        self._writing: asyncio.Future[None] | None = None
        self._written = time.monotonic()
        self._told: dict[int, dict[str, Any]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ScoreLogExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def scored(self, batch: LinkBatch, decision: Decision) -> dict[str, Any]:
        """Take in the scores of a page's links; return what is known of the link to the page."""
        assert self._log is not None
        measured = self._strategy.measured()
        self._log.scored(batch.page, batch.links, decision, measured, time.time())
        told: dict[str, Any] = {}
        if batch.lease is not None and not batch.listing:
            told = self._told.pop(batch.lease.key, {}) or self._explain(batch.lease)
            self._log.explained(batch.lease.key, told, time.time())
        self._flush()
        return told

    def _flush(self) -> None:
        assert self._log is not None
        due = self._log.full or time.monotonic() - self._written > FLUSH_SECONDS
        if due and (self._writing is None or self._writing.done()):
            self._written = time.monotonic()
            opened = self._log.cut()
            if opened is not None:
                self._writing = asyncio.ensure_future(self._try(partial(self._log.write, opened)))

    async def _try(self, write: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(write)
        except OSError as error:
            if not self.crawler.stats.get_value(UNWRITTEN):
                logger.warning("`treasure explain` will not know all scores: %s", error)
            self.crawler.stats.inc_value(UNWRITTEN)

    def taken(self, lease: Lease) -> None:
        """Take in that a link is taken."""
        assert self._log is not None
        self._log.taken(lease, time.time())
        if not self._learns_features:
            if len(self._told) > MOST_TOLD:  # links whose fetch failed
                self._told.clear()
            self._told[lease.key] = self._explain(lease)

    def _explain(self, lease: Lease) -> dict[str, Any]:
        return self._strategy.explain(lease.entry.meta.get(ORIGIN, lease.entry.url))

    def _opened(self) -> None:
        bench, scheduler = workbench_of(self.crawler), self.crawler.engine.scheduler
        if (
            bench is None
            or not bench.config.explain
            or not isinstance(scheduler, FrontierScheduler)
        ):
            return
        self._strategy = bench.crawl.strategy
        # One that has features knows them again when it learns from the page; the others forget
        # a link when it is fetched, and must be asked before.
        self._learns_features = type(self._strategy).measured is not Strategy.measured
        self._log = ScoreLog(bench.folder / FILE)
        scheduler.recorder = self

    async def _closed(self) -> None:
        if self._writing is not None:
            await self._writing
        if self._log is not None:
            await self._try(self._log.close)
