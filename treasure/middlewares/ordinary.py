"""OrdinaryMiddleware: what Scrapy's small middlewares do to every request, in one step.

Default headers, user agent, time limit and statistics are a middleware each in Scrapy, and each
takes longer to call than to do its work. For our own spider this one does it all, under the same
settings and the same names of stats, but for ``downloader/request_bytes``, which would need the
whole request to be written down once more. It stands where the statistics of Scrapy stand, next to
the downloader: bodies are counted as they came, still compressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Headers
from scrapy.utils.python import global_object_name, without_none_values

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class OrdinaryMiddleware:
    """Completes requests, and counts them and their answers."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._count = crawler.stats.inc_value
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        headers = Headers(without_none_values(settings["DEFAULT_REQUEST_HEADERS"]))
        if settings["USER_AGENT"]:
            headers.setdefault("User-Agent", settings["USER_AGENT"])
        self._headers = list(headers.items())

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> OrdinaryMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Add what the request lacks."""
        headers = request.headers
        for name, values in self._headers:
            # Past Headers' own method, which would spell the name once more.
            dict.setdefault(headers, name, list(values))
        request.meta.setdefault("download_timeout", self._timeout)
        self._count("downloader/request_count")
        self._count(f"downloader/request_method_count/{request.method}")

    def process_response(self, request: Request, response: Response) -> Response:
        """Count what came."""
        head = sum(
            len(name) + len(value) + 4
            for name, values in dict.items(response.headers)
            for value in values
        )
        self._count("downloader/response_count")
        self._count(f"downloader/response_status_count/{response.status}")
        self._count("downloader/response_bytes", head + len(response.body))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count what did not come."""
        self._count("downloader/exception_count")
        name = global_object_name(type(exception))
        self._count(f"downloader/exception_type_count/{name}")
