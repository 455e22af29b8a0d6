"""PolitenessMiddleware: keeps the manners of one job among all jobs, and hears *not now*.

The frontier keeps this job's delays. Here the other jobs of the machine come in (the host clock),
and what servers answer: 429, 503 and Retry-After hold the host. A request that must wait gives its
link back, so that it takes up no room while others could run.

Somebody else's spider cannot be told that: its errback would take it for a failure. Its requests
wait here, all of them, since Scrapy's redirects and retries and what a project downloads besides
(images, logins) are requests to the host as well. For that the middleware stands behind those two.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from scrapy import signals

from treasure.addon import is_native, workbench_of
from treasure.downloaders.patience import GivenUp, patience_of
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
LOOK_OFTEN_SECONDS = 0.1
"""The same for a request that waits here, mostly for one of its own job."""

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
        self.ours = is_native(crawler)
        self._patience = patience_of(crawler)
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Who waits for a host, first come, first served; kept while anybody does."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        """Wait for other jobs that are at the same host."""
        if not self.ours:
            return self._turn_of(request)
        if LEASE in request.meta:
            self._enter(request)
        return None

    def _enter(self, request: Request) -> None:
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

    async def _turn_of(self, request: Request) -> None:
        """Wait for the turn of somebody else's request."""
        if workbench_of(self.crawler) is None or not request.url.startswith("http"):
            return
        self._leave(request)  # made of one that never ended: a middleware took its place
        host, manners = host_of(request.url), manners_of(self.crawler)
        queue = self._queues.setdefault(host, asyncio.Lock())
        async with queue:
            while (wait := manners.enter(host)) > 0:
                if self._patience.is_over:
                    raise GivenUp("the crawl ends")
                await asyncio.sleep(min(wait, LOOK_OFTEN_SECONDS))
        request.meta[ENTERED] = host

    def process_response(self, request: Request, response: Response) -> Response:
        """Free the host; leave it alone when it asks for that."""
        if workbench_of(self.crawler) is None:
            return response
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
