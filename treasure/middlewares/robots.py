"""RobotsMiddleware: asks each site for its rules before anything else (RFC 9309).

It takes the place of Scrapy's own, which does not know Crawl-delay, waiting, or that a request for
robots.txt is a request too: the page whose turn it was goes back to the frontier and comes again
after the host's delay. What the file says of sitemaps is queued like any link.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured, StopDownload
from scrapy.http.request import NO_CALLBACK

from treasure import robots
from treasure.addon import is_native, workbench_of
from treasure.downloaders.patience import GivenUp, patience_of
from treasure.frontier.base import Entry
from treasure.items import LEASE, SITEMAP
from treasure.middlewares.politeness import manners_of
from treasure.robots import Robots, Rules
from treasure.scheduler import FrontierScheduler, GivenBack
from treasure.urls import canonical, host_of, join

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

ASKS = "treasure_robots_bytes"
"""Key in ``request.meta``: this request is for a robots.txt; so many bytes have come."""
UNPACKED_BYTES = 8_000_000
"""Size at which we stop unpacking a compressed robots.txt."""
MAX_SITEMAPS = 20


class RobotsMiddleware:
    """Lets through what the site's robots.txt allows."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY") or settings.get("TREASURE_WEB"):
            raise NotConfigured
        self.crawler = crawler
        self.robots = Robots(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
        self._asking: dict[str, asyncio.Future[None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        """Refuse what is forbidden; ask for the rules where we do not know them."""
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith("http"):
            return None
        origin = robots.origin_of(request.url)
        rules = self.robots.rules(origin, time.monotonic())
        if rules is None:
            return self._ask_first(request, origin)
        self._check(rules, request)
        return None

    async def _ask_first(self, request: Request, origin: str) -> None:
        if not self.robots.closed(origin, time.monotonic()):
            await self._ask_once(request, origin)
        now, host = time.monotonic(), host_of(request.url)
        rules, manners = self.robots.rules(origin, now), manners_of(self.crawler)
        ours = is_native(self.crawler)
        if rules is None:
            if patience_of(self.crawler).is_over:
                raise GivenUp(robots.UNREACHABLE)
            wait = self.robots.wait(origin)
            if self.robots.closed(origin, now) or not (ours and wait):
                raise IgnoreRequest(robots.UNREACHABLE)
            manners.hold(host, wait)
            raise GivenBack(robots.UNREACHABLE, wait)
        self._check(rules, request)
        delay = manners.delay(host)
        if delay and ours:
            raise GivenBack("robots.txt was fetched first")
        if delay:
            await asyncio.sleep(delay)  # another spider's errback need not know of our detours

    async def _ask_once(self, request: Request, origin: str) -> None:
        """Fetch robots.txt, together with whoever else wants the same one."""
        asking = self._asking.get(origin)
        if asking is not None:
            await asking
            return
        if not self._asking:  # otherwise every piece of every page would be looked at
            self.crawler.signals.connect(self._received, signal=signals.bytes_received)
        asking = self._asking[origin] = asyncio.get_running_loop().create_future()
        try:
            await self._ask(request, origin)
        finally:
            del self._asking[origin]
            asking.set_result(None)
            if not self._asking:
                self.crawler.signals.disconnect(self._received, signal=signals.bytes_received)

    async def _ask(self, request: Request, origin: str) -> None:
        stats = self.crawler.stats
        stats.inc_value("robotstxt/request_count")
        try:
            response = await self._fetch(robots.robots_url(origin))
        except GivenUp:
            return
        except Exception as error:
            stats.inc_value(f"robotstxt/exception_count/{type(error).__name__}")
            logger.info("The robots.txt of %s cannot be had: %s", origin, error)
            # We refused it ourselves (it leads to a private address, it is a bomb): that stays so.
            refused = isinstance(error, IgnoreRequest)
            self.robots.unreachable(origin, time.monotonic(), ever=refused)
            return
        stats.inc_value("robotstxt/response_count")
        stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        rules = self.robots.answered(
            origin,
            response.status,
            response.body,
            time.monotonic(),
            cache_control=(response.headers.get("Cache-Control") or b"").decode("latin-1"),
        )
        if rules is not None:
            self._obey(request, origin, rules)

    async def _fetch(self, url: str) -> Response:
        for _ in range(robots.MAX_HOPS + 1):
            request = Request(
                url,
                callback=NO_CALLBACK,
                # No limit here: _received stops at 500 KiB and keeps them.
                meta={ASKS: 0, "dont_obey_robotstxt": True, "download_maxsize": 0},
                headers={"Accept": "text/plain,*/*;q=0.5"},
                dont_filter=True,
            )
            response = await self.crawler.engine.download_async(request)
            location = (response.headers.get("Location") or b"").decode("latin-1")
            if not (300 <= response.status < 400 and location):
                return response
            url = canonical(join(response.url, location))
            if not url:
                break
        return response.replace(status=404, body=b"")

    def _received(self, data: bytes, request: Request) -> None:
        """Take no more of a robots.txt than we read."""
        if ASKS in request.meta:
            request.meta[ASKS] += len(data)
            request.meta["download_maxsize"] = UNPACKED_BYTES
            if request.meta[ASKS] > robots.MAX_BYTES:
                raise StopDownload(fail=False)

    def _obey(self, request: Request, origin: str, rules: Rules) -> None:
        """Keep the site's delay, and queue its sitemaps."""
        bench, scheduler = workbench_of(self.crawler), self.crawler.engine.scheduler
        if bench is None or not isinstance(scheduler, FrontierScheduler):
            return
        if rules.delay:
            limit = bench.config.crawl_delay_max_seconds
            if rules.delay > limit:
                logger.info("%s asks for %.0f s; we keep %.0f s.", origin, rules.delay, limit)
            manners_of(self.crawler).wish(
                host_of(request.url), "crawl-delay", min(rules.delay, limit)
            )
        lease = request.meta.get(LEASE)
        ours = is_native(self.crawler)
        if bench.config.sitemaps and ours and lease is not None:
            addresses = [canonical(join(f"{origin}/", name)) for name in rules.sitemaps]
            scheduler.push(
                [
                    Entry(url, lease.score, lease.entry.depth, origin, meta={SITEMAP: 0})
                    for url in addresses[:MAX_SITEMAPS]
                    if url and not bench.admission.off_limits(url)
                ]
            )

    def _check(self, rules: Rules, request: Request) -> None:
        if not rules.allows(request.url):
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest(robots.FORBIDDEN)
