"""One middleware in place of four of Scrapy's: requests and stats must be what those make."""

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from treasure.middlewares.ordinary import OrdinaryMiddleware

SCRAPYS = (
    DownloadTimeoutMiddleware,
    DefaultHeadersMiddleware,
    UserAgentMiddleware,
    DownloaderStats,
)
SETTINGS = {
    "USER_AGENT": "Treasure (+mailto:me@example.org)",
    "DOWNLOAD_TIMEOUT": 60,
    "DEFAULT_REQUEST_HEADERS": {"accept-language": "en", "Accept": "text/html", "X-None": None},
}


def passed(middlewares, request):
    """Send *request* through *middlewares*; return it and the stats."""
    crawler = get_crawler(settings_dict=SETTINGS)
    built = [middleware.from_crawler(crawler) for middleware in middlewares]
    for middleware in built:
        assert middleware.process_request(request) is None
    response = Response(request.url, headers={"Server": "s", "Set-Cookie": ["a", "b"]}, body=b"xyz")
    for middleware in built:
        if hasattr(middleware, "process_response"):
            assert middleware.process_response(request, response) is response
        if hasattr(middleware, "process_exception"):
            assert middleware.process_exception(request, TimeoutError()) is None
    return request, crawler.stats.get_stats()


@pytest.mark.parametrize(
    ("headers", "meta"),
    [
        ({}, {}),
        ({"Accept": "text/plain"}, {"download_timeout": 5}),
        ({"user-agent": "another"}, {}),
    ],
)
def test_it_does_what_those_it_stands_for_do(headers, meta):
    def request():
        return Request("http://a.example.org:81/b/c?d=e", headers=headers, meta=meta, body=b"f")

    theirs, counted = passed(SCRAPYS, request())
    ours, ourselves = passed([OrdinaryMiddleware], request())
    assert ours.headers == theirs.headers
    assert ours.meta == theirs.meta
    assert ourselves["downloader/request_bytes"] == counted["downloader/request_bytes"]
    size = "downloader/response_bytes"
    assert ourselves.pop(size) == pytest.approx(counted.pop(size), abs=40)  # the status line
    assert ourselves == counted


def test_a_request_may_change_its_headers_alone():
    middleware = OrdinaryMiddleware(get_crawler(settings_dict=SETTINGS))
    first, second = Request("http://a.example.org/"), Request("http://a.example.org/")
    middleware.process_request(first)
    first.headers.appendlist("Accept", "x")
    middleware.process_request(second)
    assert second.headers.getlist("Accept") == [b"text/html"]
