"""StallMeter: how long the event loop was kept from its work.

A timer asks to be called every few milliseconds; whatever it comes late, everything else came late
too: downloads, politeness, the status. Lateness counts only as far as this thread was really
computing: on a busy machine a process also waits for its turn, which is none of our doing. What the
thread computed before the timer was due counts by mistake, so the timer is short while there is
much to do. Several pages that arrive together are one stall, as they are for whoever waits behind
them. Stats:

    treasure/loop/longest_stall_seconds     the longest
    treasure/loop/stalls                    how many were longer than ``STALL_SECONDS``
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

TICK_SECONDS = 0.01
BUSY_TICK_SECONDS = 0.002
STALL_SECONDS = 0.02


class StallMeter:
    """Measures the longest stretch of work that nothing could interrupt."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._timer: asyncio.TimerHandle | None = None
        self._due = self._worked = 0.0
        self._tick_seconds = TICK_SECONDS
        self._longest = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StallMeter:
        """Build the meter for one crawl."""
        meter = cls(crawler)
        crawler.signals.connect(meter.start, signal=signals.spider_opened)
        crawler.signals.connect(meter.stop, signal=signals.spider_closed)
        return meter

    def start(self) -> None:
        """Begin to measure."""
        self._wait(time.monotonic(), time.thread_time())

    def _wait(self, now: float, worked: float) -> None:
        self._due, self._worked = now + self._tick_seconds, worked
        self._timer = asyncio.get_running_loop().call_later(self._tick_seconds, self._tick)

    def stop(self) -> None:
        """End measuring."""
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        now, working = time.monotonic(), time.thread_time()
        late, worked = now - self._due, working - self._worked
        stall = min(late, worked)
        if stall > STALL_SECONDS:
            self.crawler.stats.inc_value("treasure/loop/stalls")
        if stall > self._longest:
            self._longest = stall
            self.crawler.stats.set_value("treasure/loop/longest_stall_seconds", round(stall, 3))
        busy = worked > self._tick_seconds / 2
        self._tick_seconds = BUSY_TICK_SECONDS if busy else TICK_SECONDS
        self._wait(now, working)
