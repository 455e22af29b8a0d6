"""The stall meter: work in the event loop counts, waiting does not."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from treasure.extensions.stall_meter import StallMeter

SECONDS = 0.05


def figures(block: Any) -> dict[str, Any]:
    """Return what the meter says when the event loop is kept by *block*."""
    crawler: Any = SimpleNamespace(settings=Settings())
    crawler.stats = MemoryStatsCollector(crawler)

    async def crawl() -> None:
        meter = StallMeter(crawler)
        meter.start()
        await asyncio.sleep(SECONDS)
        block()
        await asyncio.sleep(SECONDS)
        meter.stop()

    asyncio.run(crawl())
    return crawler.stats.get_stats()


def compute() -> None:
    until = time.thread_time() + SECONDS
    while time.thread_time() < until:
        pass


def test_what_the_loop_computes_is_a_stall() -> None:
    found = figures(compute)
    assert found["treasure/loop/stalls"] == 1
    assert found["treasure/loop/longest_stall_seconds"] > SECONDS / 2


def test_waiting_for_the_machine_is_none() -> None:
    found = figures(lambda: time.sleep(SECONDS))
    assert "treasure/loop/stalls" not in found
    assert found["treasure/loop/longest_stall_seconds"] < SECONDS / 2
