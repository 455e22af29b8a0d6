"""PolitenessMiddleware: keeps the manners of one job among all jobs, and hears *not now*.

The frontier keeps this job's delays. Here the other jobs of the machine come in (the host clock),
and what servers answer: 429, 503 and Retry-After hold the host. A request that must wait gives its
link back, so that it takes up no room while others could run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals

from treasure.addon import workbench_of
from treasure.items import LEASE
from treasure.politeness import Manners
from treasure.scheduler import FrontierScheduler, GivenBack
from treasure.urls import host_of
from treasure.workbench import open_host_clock

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

ENTERED = "treasure_entered"
"""Key in ``request.meta``: the host that the request reserved among all jobs."""
LOOK_AGAIN_SECONDS = 1.0
"""A host that another job is busy with is asked for again after this long."""

_manners: WeakKeyDictionary[Crawler, Manners] = WeakKeyDictionary()


def steady_time() -> Callable[[], float]:
    """Return a wall clock that does not follow when somebody sets the machine's clock."""
    ahead = time.time() - time.monotonic()
    return lambda: ahead + time.monotonic()


def manners_of(crawler: Crawler) -> Manners:
    """Return the manners of this crawl."""
    manners = _manners.get(crawler)
    if manners is None:
        bench, scheduler = workbench_of(crawler), crawler.engine.scheduler
        assert bench is not None
        assert isinstance(scheduler, FrontierScheduler)
        config = bench.config
        manners = _manners[crawler] = Manners(
            scheduler,
            delay=config.host_delay_seconds,
            alone=config.host_concurrency == 1,
            max_hold=config.retry_after_max_seconds,
            time=steady_time(),
            clock=open_host_clock(config),
        )
        crawler.signals.connect(manners.close, signal=signals.spider_closed, weak=False)
    return manners


class PolitenessMiddleware:
    """Reserves hosts before requests, frees them after, and holds those that refuse."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Wait for other jobs that are at the same host."""
        if LEASE not in request.meta:
            return
        host = host_of(request.url)
        wait = manners_of(self.crawler).enter(host)
        if wait > 0:
            pause = min(wait, LOOK_AGAIN_SECONDS)
            scheduler = self.crawler.engine.scheduler
            assert isinstance(scheduler, FrontierScheduler)
            scheduler.hold(host, pause)
            self.crawler.stats.inc_value("treasure/hosts/shared_waits")
            raise GivenBack("another job is at this host", pause)
        request.meta[ENTERED] = host

    def process_response(self, request: Request, response: Response) -> Response:
        """Free the host; leave it alone when it asks for that."""
        self._leave(request)
        host = host_of(request.url)
        wish = (response.headers.get("Retry-After") or b"").decode("latin-1")
        pause = manners_of(self.crawler).answered(host, response.status, wish)
        if pause:
            self.crawler.stats.inc_value("treasure/hosts/held")
            logger.info("%s answers %d: left alone for %.0f s.", host, response.status, pause)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Free the host."""
        self._leave(request)

    def _leave(self, request: Request) -> None:
        host = request.meta.pop(ENTERED, None)
        if host is not None:
            manners_of(self.crawler).leave(host)
