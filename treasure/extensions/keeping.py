"""KeepingExtension: keeps what the crawl has learned, every minute or so.

Frontier and repository lose nothing when a crawl is killed; what strategy, judge and T-Graph
learned since the last keeping is lost. A child packs it from a snapshot (``snapshot``), so that the
crawl does not wait; where that cannot be, each part has a turn of the event loop of its own. The
database works in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from treasure import snapshot
from treasure.addon import workbench_of
from treasure.errors import RepositoryUnavailable
from treasure.middlewares.tgraph_scoring import TGraphScoringMiddleware

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

STILL_SECONDS = 2.0
"""How long pages wait for the child, which takes a quarter of that: memory that a page changes
while a child looks at it must be copied, and the page takes three times as long."""


class KeepingExtension:
    """Saves learned state at intervals."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._call: Any = None
        self._task: asyncio.Task[None] | None = None
        self._forks = snapshot.POSSIBLE

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> KeepingExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def _opened(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is not None and bench.config.save_seconds:
            self._call = create_looping_call(self._start)
            self._call.start(bench.config.save_seconds, now=False)

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._keep())

    async def _keep(self) -> None:
        bench = workbench_of(self.crawler)
        scoring = self.crawler.get_spider_middleware(TGraphScoringMiddleware)
        assert bench is not None
        assert scoring is not None
        try:
            async with scoring.desk.turn:
                packing = asyncio.ensure_future(self._packed(bench.learned()))
                await asyncio.wait([packing], timeout=STILL_SECONDS)
            for kind, payload in (await packing).items():
                await asyncio.to_thread(bench.store.save_state, bench.job, kind, payload)
        except RepositoryUnavailable:
            self.crawler.stats.inc_value("treasure/keeping/unsaved")
        except (snapshot.SnapshotError, OSError) as error:
            logger.info("A child could not keep what was learned (%s): doing it here.", error)
            self._forks = False

    async def _packed(self, parts: snapshot.Parts) -> dict[str, bytes]:
        if self._forks:
            started = time.perf_counter()
            child = snapshot.begin(parts)
            self._took(started)
            return await asyncio.to_thread(snapshot.collect, child)
        packed = {}
        for kind, pack in parts:
            await asyncio.sleep(0)
            started = time.perf_counter()
            packed[kind] = pack()
            self._took(started)
        return packed

    def _took(self, started: float) -> None:
        """Note how long the event loop was kept waiting."""
        waited = round(time.perf_counter() - started, 4)
        self.crawler.stats.max_value("treasure/keeping/slowest_seconds", waited)

    async def _closed(self) -> None:
        if self._call is not None and self._call.running:
            self._call.stop()
        if self._task is not None:
            await self._task
