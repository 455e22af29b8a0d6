"""LandingMiddleware: tells the frontier when a download ended, well or not.

It is the outermost downloader middleware, so it sees what comes of a request after all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treasure.scheduler import LEASE, FrontierScheduler

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LandingMiddleware:
    """Frees the host of each download that ends."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LandingMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Note that the response is here."""
        self._landed(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that there will be no response."""
        self._landed(request)

    def _landed(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        scheduler = self.crawler.engine.scheduler
        if lease is not None and isinstance(scheduler, FrontierScheduler):
            scheduler.landed(lease)
