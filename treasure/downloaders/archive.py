"""ArchiveDownloadHandler: the web is a WARC file (``-a web=``); the network is never touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from treasure.addon import workbench_of

if TYPE_CHECKING:
    from scrapy import Request


class ArchiveDownloadHandler(BaseDownloadHandler):
    """Answers from the crawl's virtual web; what is not archived is a 404."""

    lazy = True

    async def download_request(self, request: Request) -> Response:
        """Return the archived response."""
        bench = workbench_of(self.crawler)
        assert bench is not None
        assert bench.web is not None
        archived = bench.web.get(request.url)
        if archived is None:
            return Response(request.url, status=404, request=request)
        headers = Headers()
        for name, value in archived.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=archived.body[:4096])
        return kind(
            request.url,
            status=archived.status,
            headers=headers,
            body=archived.body,
            request=request,
        )
