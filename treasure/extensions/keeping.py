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

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


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
        assert bench is not None
        stats = self.crawler.stats
        try:
            if self._forks:
                started = time.perf_counter()
                child = snapshot.begin(bench.learned())
                self._took(started)
                packed = await asyncio.to_thread(snapshot.collect, child)
                for kind, payload in packed.items():
                    await asyncio.to_thread(bench.store.save_state, bench.job, kind, payload)
                return
            for kind, pack in bench.learned():
                started = time.perf_counter()
                payload = pack()
                self._took(started)
                await asyncio.to_thread(bench.store.save_state, bench.job, kind, payload)
        except RepositoryUnavailable:
            stats.inc_value("treasure/keeping/unsaved")
        except (snapshot.SnapshotError, OSError) as error:
            logger.info("A child could not keep what was learned (%s): doing it here.", error)
            self._forks = False

    def _took(self, started: float) -> None:
        """Note how long the event loop was kept waiting."""
        waited = round(time.perf_counter() - started, 4)
        self.crawler.stats.max_value("treasure/keeping/slowest_seconds", waited)

    async def _closed(self) -> None:
        if self._call is not None and self._call.running:
            self._call.stop()
        if self._task is not None:
            await self._task
