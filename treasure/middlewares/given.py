"""GivenMiddleware: a page that was given as an example is at hand and need not be downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from treasure.addon import workbench_of
from treasure.items import LEASE
from treasure.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class GivenMiddleware:
    """Answers the first request for each example from its copy; max_pages does not count it."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GivenMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> Response | None:
        """Return the copy of a page that was given."""
        lease = request.meta.get(LEASE)
        bench = workbench_of(self.crawler)
        if lease is None or bench is None:
            return None
        given = bench.given.pop(lease.key, None)
        if given is None:
            return None
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)
        scheduler.uncounted()
        self.crawler.stats.inc_value("treasure/pages/given")
        headers = {"Content-Type": given.content_type}
        return HtmlResponse(request.url, headers=headers, body=given.body, request=request)
