"""LandingMiddleware: tells the frontier when a download ended, well or not.

It is the outermost downloader middleware, so it sees what comes of a request after all others. Our
own spider records failures itself; for somebody else's spider it is done here, since their errbacks
need not know of us.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.http.request import NO_CALLBACK

from treasure import failures
from treasure.addon import is_native, workbench_of
from treasure.downloaders.patience import GivenUp
from treasure.items import LEASE, Draft
from treasure.pipelines.writer import writer_of
from treasure.scheduler import FrontierScheduler
from treasure.urls import canonical

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LandingMiddleware:
    """Frees the host of each download that ends."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.ours = is_native(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LandingMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Note that the response is here."""
        self._landed(request)
        if not 200 <= response.status < 300:
            failure = failures.of_status(response.status)
            self._record(request, response.url, response.status, failure)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that there will be no response."""
        self._landed(request)

    def failed(self, request: Request, exception: Exception) -> None:
        """Record a request of somebody else's spider that gave no response (LandingDownloader)."""
        self._landed(request)
        if not isinstance(exception, GivenUp):
            self._record(request, request.url, 0, failures.of_exception(exception))

    def _landed(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        scheduler = self.crawler.engine.scheduler
        if lease is not None and isinstance(scheduler, FrontierScheduler):
            scheduler.landed(lease)

    def _record(self, request: Request, url: str, status: int, failure: str) -> None:
        if self.ours or workbench_of(self.crawler) is None:
            return
        if request.callback is NO_CALLBACK or not canonical(request.url):
            return  # a robots.txt, an image of a media pipeline, a file
        draft = Draft(request.meta.get(LEASE), time.time(), url, status, failure=failure)
        if writer_of(self.crawler).add(draft, None):
            self.crawler.stats.inc_value("treasure/pages/failed")
