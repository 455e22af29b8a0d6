"""OrdinaryMiddleware: what Scrapy's small middlewares do to every request, in one step.

Default headers, user agent, time limit and statistics are a middleware each in Scrapy, and each
takes longer to call than to do its work. For our own spider this one does it all, under the same
settings and the same names of stats; bytes are counted without writing the request down once more,
and may differ by the few of a status line. It stands where the statistics of Scrapy stand, next to
the downloader: bodies are counted as they came, still compressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Headers
from scrapy.utils.python import global_object_name, without_none_values

from treasure.urls import name_of

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
        # "GET /path HTTP/1.1", "Host: name", the headers, an empty line, and the body.
        _, _, host, path = request.url.split("/", 3)
        size = len(request.method) + len(path) + len(name_of(host)) + len(request.body) + 23
        self._count("downloader/request_bytes", size + _size(headers))
        self._count("downloader/request_count")
        self._count(f"downloader/request_method_count/{request.method}")

    def process_response(self, request: Request, response: Response) -> Response:
        """Count what came."""
        self._count("downloader/response_count")
        self._count(f"downloader/response_status_count/{response.status}")
        self._count("downloader/response_bytes", _size(response.headers) + len(response.body))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count what did not come."""
        self._count("downloader/exception_count")
        name = global_object_name(type(exception))
        self._count(f"downloader/exception_type_count/{name}")


def _size(headers: Headers) -> int:
    """Return how many bytes *headers* take on their way."""
    lines = dict.items(headers)
    return sum(len(name) + len(value) + 4 for name, values in lines for value in values)
