"""FrontierThrottle: Scrapy's AutoThrottle, with our frontier keeping the delays it finds.

AutoThrottle lets requests wait inside the downloader, where a slow host fills the room of all
others. Its rule is kept (its settings too); the delay goes to the frontier, which has not taken
the link yet.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.extensions.throttle import AutoThrottle

from treasure.addon import workbench_of
from treasure.middlewares.politeness import manners_of
from treasure.scheduler import FrontierScheduler
from treasure.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class FrontierThrottle(AutoThrottle):
    """Fits each host's delay to its latency (``AUTOTHROTTLE_ENABLED``)."""

    _delays: dict[str, Any]

    def _spider_opened(self, spider: Spider) -> None:
        bench = workbench_of(self.crawler)
        self.mindelay = bench.config.host_delay_seconds if bench is not None else 0.0
        self.maxdelay = self._max_delay()
        self._delays = {}

    def _response_downloaded(self, response: Response, request: Request, spider: Spider) -> None:
        latency, host = request.meta.get("download_latency"), host_of(request.url)
        ours = isinstance(self.crawler.engine.scheduler, FrontierScheduler)
        if not ours or latency is None or request.meta.get("autothrottle_dont_adjust_delay"):
            return
        slot = self._delays.setdefault(host, SimpleNamespace(delay=self._start_delay()))
        self._adjust_delay(slot, latency, response)
        manners_of(self.crawler).wish(host, "throttle", slot.delay)
