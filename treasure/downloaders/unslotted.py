"""UnslottedDownloader: Scrapy's downloader without its queues of hosts.

Scrapy's lets requests wait for the turn of their host. Ours have waited already: the frontier gives
no link whose host must not be asked yet. So they go straight to the download handler, which saves
a task, a deferred and several calls for each. Requests that did not come from the frontier, such
as those for robots.txt, go Scrapy's way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.utils.defer import deferred_from_coro

from treasure.items import LEASE

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from twisted.internet.defer import Deferred


class UnslottedDownloader(Downloader):
    """Fetches what the frontier gave at once."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        """Return what comes of a request, after all middlewares."""
        if LEASE not in request.meta:
            return super().fetch(request)
        self.active.add(request)
        fetched = deferred_from_coro(self.middleware.download_async(self._downloaded, request))
        # Not before the engine has what came of it, or it may find nothing to do and close.
        return fetched.addBoth(self._ended, request)

    def _ended(self, outcome: Any, request: Request) -> Any:
        self.active.remove(request)
        return outcome

    async def _downloaded(self, request: Request) -> Response:
        self._tell(signals.request_reached_downloader, request)
        try:
            response = await self.handlers.download_request_async(request)
            self._tell(signals.response_downloaded, request, response=response)
            return response
        finally:
            self._tell(signals.request_left_downloader, request)

    def _tell(self, signal: object, request: Request, **news: Any) -> None:
        self.signals.send_catch_log(signal, request=request, spider=self.crawler.spider, **news)
