"""HttpDownloadHandler: what our own spider fetches from the live web, by aiohttp.

Scrapy's default is Twisted's agent, which reads HTTP in Python and does TLS through pyOpenSSL. Here
both are done in C: half the time of a new HTTPS connection, two thirds of that of a page
(docs/decisions/088-download-handler.md). Settings, signals and errors are those of Scrapy's
handlers.

Connections go to the address that the address guard has found good for a host, and are checked
once more where the socket is made.
"""

from __future__ import annotations

import socket
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.ssl import _make_ssl_context
from twisted.python.failure import Failure
from yarl import URL

from treasure.middlewares.address_guard import AddressGuardMiddleware

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

IDLE_SECONDS = 30.0
"""How long a connection is kept for the next page of its host."""
LONGEST_HEADER = 32_768
"""Some sites send headers of 10 kB and more; what is longer is refused."""
_OLD_SERVERS = 0x4
"""``ssl.OP_LEGACY_SERVER_CONNECT`` of Python 3.12; Scrapy's own handler has it too."""
_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp would add by itself."""
_SECRET = b"Proxy-Authorization"


class HttpDownloadHandler(BaseDownloadHandler):
    """Fetches pages over HTTP and HTTPS."""

    lazy = False  # to import aiohttp takes 0.1 s, for which no page should wait

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._tls = _make_ssl_context(settings)
        self._tls.options |= _OLD_SERVERS
        self._largest = settings.getint("DOWNLOAD_MAXSIZE")
        self._seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._whole = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        """The open connections; made when the event loop runs."""
        guard = self.crawler.get_downloader_middleware(AddressGuardMiddleware)
        connector = aiohttp.TCPConnector(
            limit=0,  # the downloader sees to how many there are
            keepalive_timeout=IDLE_SECONDS,
            resolver=_Resolver(guard) if guard is not None else None,
            socket_factory=_checked_socket(guard) if guard is not None else None,
            use_dns_cache=False,  # the guard remembers
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_OURS,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )

    async def close(self) -> None:
        """Close all connections."""
        if "_session" in self.__dict__:
            await self._session.close()

    async def download_request(self, request: Request) -> Response:
        """Fetch one page, first byte to last in the time that the request has."""
        seconds = float(request.meta.get("download_timeout") or self._seconds)
        began = time.monotonic()
        try:
            async with self._session.request(
                request.method,
                URL(request.url, encoded=True),  # as it is: nobody spells it anew
                data=request.body or None,
                headers=_headers(request),
                timeout=aiohttp.ClientTimeout(total=seconds),
                ssl=self._tls,
                allow_redirects=False,
                proxy=request.meta.get("proxy"),
                proxy_headers=_proxy_headers(request),
            ) as answer:
                request.meta["download_latency"] = time.monotonic() - began
                return await self._read(request, answer)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{request.url} took longer than {seconds:g} s") from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(str(error)) from error
        except aiohttp.ClientSSLError as error:
            raise DownloadFailedError(f"TLS: {error}") from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(str(error)) from error

    async def _read(self, request: Request, answer: aiohttp.ClientResponse) -> Response:
        headers = Headers(answer.raw_headers)
        largest = int(request.meta.get("download_maxsize", self._largest))
        announced = answer.content_length
        if largest and announced is not None and announced > largest:
            _too_large(request, announced, largest)
        stopped = self._stopped(
            signals.headers_received, request, headers=headers, body_length=announced
        )
        pieces: list[bytes] = []
        size, flags = 0, []
        try:
            while stopped is None and (piece := await answer.content.readany()):
                pieces.append(piece)
                size += len(piece)
                if largest and size > largest:
                    _too_large(request, size, largest)
                stopped = self._stopped(signals.bytes_received, request, data=piece)
        except aiohttp.ClientPayloadError as error:
            if request.meta.get("download_fail_on_dataloss", self._whole):
                raise ResponseDataLossError(str(error)) from error
            flags.append("dataloss")
        body = b"".join(pieces)
        if stopped is not None:
            flags.append("download_stopped")
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        response = kind(request.url, status=answer.status, headers=headers, body=body, flags=flags)
        if stopped is not None and stopped.fail:
            stopped.response = response
            raise stopped
        return response

    def _stopped(self, signal: object, request: Request, **news: Any) -> StopDownload | None:
        """Tell who wants to know; return what somebody raised to end the download."""
        told = self.crawler.signals.send_catch_log(
            signal, request=request, spider=self.crawler.spider, **news
        )
        for _, result in told:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None


class _Resolver(AbstractResolver):
    """Gives the address that the guard has checked."""

    def __init__(self, guard: AddressGuardMiddleware) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        address = await self._guard.address_of(host)
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=kind, proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]  # fmt: skip

    async def close(self) -> None:
        """Nothing is kept open."""


def _checked_socket(guard: AddressGuardMiddleware) -> Any:
    """Return what makes sockets, for allowed addresses only."""

    def make(address: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, place = address
        guard.check_connection(place[0])
        return socket.socket(family, kind, protocol)

    return make


def _headers(request: Request) -> list[tuple[str, str]]:
    """Return the request's headers as aiohttp takes them."""
    return [
        (name.decode("latin-1"), value.decode("utf-8", "surrogateescape"))
        for name, values in dict.items(request.headers)
        for value in values
        if name != _SECRET or not _tunnelled(request)
    ]


def _proxy_headers(request: Request) -> dict[str, str] | None:
    """Return what goes to the proxy alone, when it is asked for a tunnel."""
    secret = request.headers.get(_SECRET) if _tunnelled(request) else None
    return {_SECRET.decode(): secret.decode("latin-1")} if secret else None


def _tunnelled(request: Request) -> bool:
    """Whether a proxy, if any, sees nothing of the request but the host."""
    return request.url.startswith("https:")


def _too_large(request: Request, size: int, largest: int) -> NoReturn:
    raise DownloadCancelledError(f"{request.url} has {size} bytes or more, {largest} are allowed")
