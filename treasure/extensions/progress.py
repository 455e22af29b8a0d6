"""ProgressExtension: shows how the crawl is doing, and ends it when its time is up."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from treasure import stopping
from treasure.addon import workbench_of
from treasure.config import TreasureConfig
from treasure.log_hygiene import hide_passwords
from treasure.progress import SUMMARY_LOG, Figures, Speedometer
from treasure.scheduler import FrontierScheduler
from treasure.workbench import Workbench, repository_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LINE_SECONDS = 0.5
OUTCOMES = ("on_topic", "off_topic", "noindex", "failed")
"""What became of the pages; the stats ``treasure/pages/...``."""
ERASE = "\r\x1b[K"


class ProgressExtension:
    """A live line on a terminal; quiet elsewhere; one summary at the end.

    The summary is a line of JSON in the log, and on a terminal some lines for people after it.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty() and crawler.settings.getbool("TREASURE_PROGRESS", True)
        self._call: Any = None
        self._speed: Speedometer | None = None
        self._eraser = _Eraser()
        self._told = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProgressExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        crawler.signals.connect(extension._stopped, signal=signals.engine_stopped)
        return extension

    def figures(self) -> Figures:
        """Return the crawl's figures now."""
        done = outcomes(self.crawler)
        bench = workbench_of(self.crawler)
        queued = bench.frontier.counts().queued if bench is not None else 0
        assert self._speed is not None
        pages = sum(done.values())
        now = time.monotonic()
        return self._speed.figures(now, pages, done["on_topic"], done["failed"], queued)

    def _opened(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is None:
            return
        self._speed = speedometer(bench)
        self._call = create_looping_call(self._tick)
        self._call.start(LINE_SECONDS, now=False)
        if self._terminal:
            logging.getLogger().handlers.insert(0, self._eraser)

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
            # A line that wraps could not be erased.
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write(ERASE + f"{bench.job}: {self.figures().line()}"[: width - 1])
            sys.stderr.flush()

    def _closed(self, reason: str) -> None:
        bench = workbench_of(self.crawler)
        if bench is None or self._speed is None:
            return
        if self._call is not None and self._call.running:
            self._call.stop()
        scheduler = self.crawler.engine.scheduler
        if isinstance(scheduler, FrontierScheduler):
            reason = scheduler.stop_reason or reason
        done = outcomes(self.crawler)
        pages, because = sum(done.values()), stopping.in_words(reason)
        summary = {
            "job": bench.job,
            "topic": ", ".join(topic.name for topic in bench.topics),
            "pages": pages,
            **done,
            "stopped": reason,
            "because": because,
        }
        self.crawler.stats.set_value("treasure/stopped", reason)
        self.crawler.stats.set_value("treasure/stopped_because", because)
        logging.getLogger(SUMMARY_LOG).info("%s", json.dumps(summary))
        where = self._where(bench.config)
        self._told = (
            f"\n{summary['topic']}: {pages:,} pages, {done['on_topic']:,} on topic"
            f" ({done['on_topic'] / max(pages, 1):.0%}), {done['failed']:,} failed\n"
            f"stopped because {because}\n"
            f"  repository   {hide_passwords(repository_url(bench.config))}\n"
            f"  search       treasure search WORDS --job {bench.job}{where}\n"
            f"  explain      treasure explain URL --job {bench.job}{where}\n"
            f"  look at it   treasure ui{where}\n"
            f"  go on        the same command with -a job={bench.job}\n"
        )

    def _where(self, config: TreasureConfig) -> str:
        """Return the options with which other commands find this crawl."""
        usual, where = TreasureConfig(), ""
        if config.repository != usual.repository:
            where += f" --repository {shlex.quote(hide_passwords(config.repository))}"
        if config.runs_dir != usual.runs_dir:
            where += f" --runs-dir {shlex.quote(config.runs_dir)}"
        return where

    def _stopped(self) -> None:
        """Leave the terminal to people, after all that Scrapy has to say."""
        if self._eraser in logging.getLogger().handlers:
            logging.getLogger().handlers.remove(self._eraser)
            sys.stderr.write(ERASE + self._told)


def speedometer(bench: Workbench) -> Speedometer:
    """Return a speedometer for a crawl that begins, or goes on, now."""
    return Speedometer(
        time.monotonic(),
        max_pages=bench.config.max_pages,
        max_seconds=60 * bench.config.max_minutes,
        before=bench.frontier.pages,
    )


def outcomes(crawler: Crawler) -> dict[str, int]:
    """Return what became of the pages so far."""
    stats = crawler.stats
    return {kind: int(stats.get_value(f"treasure/pages/{kind}", 0)) for kind in OUTCOMES}


class _Eraser(logging.Handler):
    """Takes the live line away before a line of the log is written where it stands."""

    def emit(self, record: logging.LogRecord) -> None:
        """Erase; the next tick shows the line again."""
        sys.stderr.write(ERASE)
