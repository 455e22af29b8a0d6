"""SpeedExtension: holds the whole crawl to its hours, ceilings and back-off."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals

from treasure.addon import workbench_of
from treasure.scheduler import FrontierScheduler
from treasure.speed import Backoff, Speed, parse_windows

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_speeds: WeakKeyDictionary[Crawler, Speed] = WeakKeyDictionary()


def speed_of(crawler: Crawler) -> Speed | None:
    """Return the speed control of this crawl; None where Scrapy keeps the order."""
    return _speeds.get(crawler)


class SpeedExtension:
    """Puts a Speed in front of the scheduler and tells it what arrives."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SpeedExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        return extension

    def _opened(self) -> None:
        bench, scheduler = workbench_of(self.crawler), self.crawler.engine.scheduler
        if bench is None or not isinstance(scheduler, FrontierScheduler):
            return
        config = bench.config
        backoff = Backoff(config.latency_backoff) if config.latency_backoff else None
        speed = _speeds[self.crawler] = Speed(
            parse_windows(config.speed_windows),
            pages_per_second=config.max_pages_per_second,
            bytes_per_second=config.max_bytes_per_second,
            backoff=None if config.web else backoff,
        )
        self._speed, self._clock = speed, bench.clock
        scheduler.gates.append(speed)
        self.crawler.signals.connect(self._downloaded, signal=signals.response_downloaded)

    def _downloaded(self, response: Response, request: Request) -> None:
        latency = float(request.meta.get("download_latency", 0.0))
        self._speed.landed(self._clock(), len(response.body), latency)
