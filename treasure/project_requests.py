"""ProjectRequests: what somebody else's spider asks for, as links of the frontier and back.

A frontier keeps plain values, so that a crawl may go on in another process: a request becomes a
dict. What only this process can hold, an object in ``meta`` or a function that is no method of the
spider, is kept here besides; a crawl that goes on after a restart gets what is left of it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy import Request
from scrapy.utils.request import request_from_dict

from treasure.frontier.base import Entry, Lease
from treasure.items import FOUND, SCORE
from treasure.plain import plain, plain_part, restored
from treasure.urls import url_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REQUEST = "request"
"""Key in an entry's meta: the request, as a dict."""


class ProjectRequests:
    """The requests of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._live: dict[int, Request] = {}
        """Requests that JSON cannot hold, by the key of their entry."""
        self._starts: Counter[int] = Counter()

    def entry(self, request: Request, url: str, score: float) -> tuple[Entry, int]:
        """Return *request*, whose canonical address is *url*, as a link, and the link's key."""
        found = request.meta.pop(FOUND, {})
        key = self._key(request, url)
        return Entry(url, score, meta={REQUEST: self._packed(request, key)}, **found), key

    def request(self, lease: Lease) -> Request | None:
        """Return the request of a link that was taken; None when it is none of these."""
        packed = lease.entry.meta.get(REQUEST)
        if packed is None:
            return None
        live = self._live.pop(lease.key, None)
        if live is not None:
            return live
        return request_from_dict(restored(packed), spider=self.crawler.spider)

    def _key(self, request: Request, url: str) -> int:
        """Return the key of a request.

        It is that of its address, as for links. What is more than a look at an address (a form that
        is sent) has one of its own, and so has what shall not be filtered. Of these, a request of
        the spider's start has the same key in each run: a crawl that goes on does not repeat it.
        """
        fingerprint = self.crawler.request_fingerprinter.fingerprint
        found = fingerprint(request)
        key = url_key(url)
        if found != fingerprint(Request(request.url)):
            key = int.from_bytes(found[:8], "big", signed=True)
        if not request.dont_filter:
            return key
        if SCORE in request.meta or not request.meta.get("is_start_request"):
            return url_key(f"{key} {uuid4()}")
        self._starts[key] += 1
        return url_key(f"{key} {self._starts[key]}") if self._starts[key] > 1 else key

    def _packed(self, request: Request, key: int) -> dict[str, Any]:
        spider = self.crawler.spider
        try:
            packed: dict[str, Any] = plain(request.to_dict(spider=spider))
        except (TypeError, ValueError):
            self._live[key] = request
            rest = request.replace(callback=None, errback=None).to_dict(spider=spider)
            parts = {name: plain_part(rest.pop(name, {})) for name in ("meta", "cb_kwargs")}
            packed = plain_part(rest) | parts
        return packed
