"""ProgressExtension: shows how the crawl is doing, and ends it when its time is up."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from treasure import stopping
from treasure.addon import workbench_of
from treasure.progress import Figures, Speedometer
from treasure.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LINE_SECONDS = 0.5
SUMMARY_LOG = "treasure.summary"


class ProgressExtension:
    """A live line on a terminal; quiet elsewhere; one summary at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty() and crawler.settings.getbool("TREASURE_PROGRESS", True)
        self._call: Any = None
        self._speed: Speedometer | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProgressExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def figures(self) -> Figures:
        """Return the crawl's figures now."""
        stats = self.crawler.stats
        counts = [
            int(stats.get_value(f"treasure/pages/{kind}", 0))
            for kind in ("on_topic", "off_topic", "failed")
        ]
        bench = workbench_of(self.crawler)
        queued = bench.frontier.counts().queued if bench is not None else 0
        assert self._speed is not None
        return self._speed.figures(time.monotonic(), sum(counts), counts[0], counts[2], queued)

    def _opened(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is None:
            return
        self._speed = Speedometer(
            time.monotonic(),
            max_pages=bench.config.max_pages,
            max_seconds=60 * bench.config.max_minutes,
        )
        self._call = create_looping_call(self._tick)
        self._call.start(LINE_SECONDS, now=False)

    def _tick(self) -> None:
        bench = workbench_of(self.crawler)
        assert bench is not None
        limit = 60 * bench.config.max_minutes
        scheduler = self.crawler.engine.scheduler
        over = limit and time.monotonic() - self._started > limit
        if over and isinstance(scheduler, FrontierScheduler):
            scheduler.stop("max_minutes")
            scheduler.wake()
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{bench.job}: {self.figures().line()}")
            sys.stderr.flush()

    def _closed(self, reason: str) -> None:
        bench = workbench_of(self.crawler)
        if bench is None or self._speed is None:
            return
        if self._call is not None and self._call.running:
            self._call.stop()
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            reason = scheduler.stop_reason or reason
        stats = self.crawler.stats
        done = {
            kind: int(stats.get_value(f"treasure/pages/{kind}", 0))
            for kind in ("on_topic", "off_topic", "failed")
        }
        summary = {
            "job": bench.job,
            "topic": ", ".join(topic.name for topic in bench.topics),
            "pages": sum(done.values()),
            **done,
            "stopped": reason,
            "because": stopping.in_words(reason),
        }
        stats.set_value("treasure/stopped_because", summary["because"])
        logging.getLogger(SUMMARY_LOG).info("%s", json.dumps(summary))
