"""LandingDownloader: Scrapy's downloader, which tells of all requests that end without response.

A middleware of a project, or Scrapy's own for redirects, may refuse a response that has come.
Scrapy then asks no other middleware, and the frontier would wait for that request for ever. So
somebody else's spider has this downloader: what it sees is what came of a request in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader import Downloader

from treasure.middlewares.landing import LandingMiddleware
from treasure.middlewares.politeness import PolitenessMiddleware

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure


class LandingDownloader(Downloader):
    """Tells our middlewares what they cannot see themselves."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        """Return what comes of a request, after all middlewares."""
        fetched: Deferred[Response | Request] = super().fetch(request)
        return fetched.addErrback(self._failed, request)

    def _failed(self, failure: Failure, request: Request) -> Failure:
        error = failure.value
        if not isinstance(error, Exception):
            return failure
        if politeness := self.crawler.get_downloader_middleware(PolitenessMiddleware):
            politeness.process_exception(request, error)
        if landing := self.crawler.get_downloader_middleware(LandingMiddleware):
            landing.failed(request, error)
        return failure
