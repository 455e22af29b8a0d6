"""HttpDownloadHandler: what our own spider fetches from the live web.

Scrapy's own handler works on Twisted's agent, and does TLS through pyOpenSSL. This one has HTTP/1.1
on asyncio (``treasure.http1``), which takes half the time for a page, and for a new HTTPS
connection (docs/decisions/088-download-handler.md). Signals, errors and the settings that a crawl
needs are the same. What is rare is left to Scrapy's: proxies, addresses of our own to bind to,
methods other than GET and HEAD.

Connections go to the addresses that the address guard has found good for a host, one after the
other until one answers.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy import signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.ssl import _make_ssl_context
from twisted.python.failure import Failure

from treasure.downloaders.patience import patience_of
from treasure.http1 import (
    BadAnswerError,
    ClosedError,
    Connection,
    Head,
    Pool,
    ShortBodyError,
    written,
)
from treasure.middlewares.address_guard import AddressGuardMiddleware

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ANSWER_SECONDS = 10.0
"""How long a host's address has to answer before the next one is tried; the last has all time."""
REQUEST_TIMEOUT = 408
_OLD_SERVERS = 0x4
"""``ssl.OP_LEGACY_SERVER_CONNECT`` of Python 3.12, which Scrapy's handler sets too."""
_HOPS = frozenset(
    b"connection keep-alive proxy-connection te trailers transfer-encoding upgrade".split()
)
"""Headers that speak of the connection and not of the page: left out, as by Scrapy's handler."""
_PARTS = re.compile(r"(?i)https?://(?:[^/?#]*@)?([^/?#]*)([^#]*)")


class HttpDownloadHandler(HTTP11DownloadHandler):
    """Fetches pages over HTTP and HTTPS."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._tls = _make_ssl_context(settings)
        self._tls.options |= _OLD_SERVERS
        self._seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._largest = settings.getint("DOWNLOAD_MAXSIZE")
        self._whole = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._bound = bool(settings.get("DOWNLOAD_BIND_ADDRESS"))
        self._connections = Pool()
        self._patience = patience_of(crawler)

    async def close(self) -> None:
        """Close all connections."""
        self._connections.close()
        await super().close()

    async def download_request(self, request: Request) -> Response:
        """Fetch one page, first byte to last in the time that the request has."""
        seconds = float(request.meta.get("download_timeout") or self._seconds)
        try:
            async with self._patience.limit(seconds):
                if self._is_rare(request):
                    return await super().download_request(request)
                return await self._fetch(request)
        except TimeoutError:
            raise DownloadTimeoutError(f"{request.url} took longer than {seconds:g} s") from None
        except (socket.gaierror, UnicodeError) as error:
            raise CannotResolveHostError(f"{request.url}: {error}") from error
        except ConnectionRefusedError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except ShortBodyError as error:
            raise ResponseDataLossError(str(error)) from error
        except (
            BadAnswerError,
            ClosedError,
            ConnectionError,
            PermissionError,
            ssl.SSLError,
        ) as error:
            raise DownloadFailedError(str(error)) from error

    def _is_rare(self, request: Request) -> bool:
        meta = request.meta
        return bool(
            request.method not in {"GET", "HEAD"}
            or request.body
            or meta.get("proxy")
            or meta.get("bindaddress")
            or self._bound
        )

    async def _fetch(self, request: Request) -> Response:
        parts = urlparse_cached(request)
        secure = parts.scheme == "https"
        place = secure, parts.hostname or "", parts.port or (443 if secure else 80)
        began = time.monotonic()
        connection, head = await self._ask(place, as_sent(request))
        request.meta["download_latency"] = time.monotonic() - began
        try:
            return await self._read(request, connection, head)
        finally:
            self._connections.give(place, connection)

    async def _ask(self, place: tuple[bool, str, int], asked: bytes) -> tuple[Connection, Head]:
        """Send a request and return the head of its answer, and the connection it came over.

        A server may close a connection that was idle at the moment when we use it again, and may
        say so (408), or send the rest of the answer before: then the request goes over a new one.
        """
        connection = self._connections.take(place)
        if connection is not None:
            with suppress(ClosedError, BadAnswerError):
                head = await connection.ask(asked)
                if head.status != REQUEST_TIMEOUT:
                    return connection, head
                connection.close()
        secure, host, port = place
        guard = self.crawler.get_downloader_middleware(AddressGuardMiddleware)
        connection = await connect(guard, self._tls if secure else None, host, port)
        return connection, await connection.ask(asked)

    async def _read(self, request: Request, connection: Connection, head: Head) -> Response:
        headers = Headers([header for header in head.headers if header[0].lower() not in _HOPS])
        largest = int(request.meta.get("download_maxsize", self._largest))
        length = head.length(request.method)
        if largest and length is not None and length > largest:
            _too_large(request, length, largest)
        stop = self._tell(signals.headers_received, request, headers=headers, body_length=length)
        pieces: list[bytes] = []
        size, flags = 0, []
        try:
            if stop is None:
                async for piece in connection.body(request.method, head):
                    pieces.append(piece)
                    size += len(piece)
                    if largest and size > largest:
                        _too_large(request, size, largest)
                    stop = self._tell(signals.bytes_received, request, data=piece)
                    if stop is not None:
                        break
        except ShortBodyError:
            if request.meta.get("download_fail_on_dataloss", self._whole):
                raise
            flags.append("dataloss")
        if stop is not None:
            flags.append("download_stopped")
        elif length is None and not head.is_chunked():
            flags.append("partial")  # as Scrapy does: nobody knows whether that was all
        body = b"".join(pieces)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        response = kind(
            request.url.partition("#")[0],
            status=head.status,
            body=body,
            flags=flags,
            ip_address=ip_address(connection.peer),
            protocol=f"HTTP/{head.version.decode()}",
        )
        response.headers = headers  # given at once, each would be spelled a second time
        if stop is not None and stop.fail:
            stop.response = response
            raise stop
        return response

    def _tell(self, signal: object, request: Request, **news: Any) -> StopDownload | None:
        """Tell who wants to know; return what somebody raised to end the download."""
        told = self.crawler.signals.send_catch_log(
            signal, request=request, spider=self.crawler.spider, **news
        )
        for _, result in told:
            if isinstance(result, Failure) and isinstance(result.value, StopDownload):
                return result.value
        return None


def as_sent(request: Request) -> bytes:
    """Return what goes over the connection for *request*."""
    found = _PARTS.match(request.url)
    assert found is not None
    host, target = found.groups()
    headers = []
    for name, values in dict.items(request.headers):
        if name == b"Host":
            host = values[0].decode("latin-1")
        else:
            headers += [(name, value) for value in values]
    return written(request.method, target if target[:1] == "/" else f"/{target}", host, headers)


async def connect(
    guard: AddressGuardMiddleware | None, tls: ssl.SSLContext | None, host: str, port: int
) -> Connection:
    """Open a connection to *host*, at the first of the guard's addresses that answers."""
    if guard is None:
        return await _connect(host, tls, host, port)
    addresses = await guard.addresses(host)
    for address in addresses:
        guard.policy.check(host, address)
    *others, last = addresses
    for address in others:
        with suppress(OSError):
            async with asyncio.timeout(ANSWER_SECONDS):
                return await _connect(address, tls, host, port)
        if addresses[0] == address:
            addresses.append(addresses.pop(0))  # the next page need not wait for it
    return await _connect(last, tls, host, port)


async def _connect(address: str, tls: ssl.SSLContext | None, host: str, port: int) -> Connection:
    name = host.rstrip(".") if tls else None
    _, connection = await asyncio.get_running_loop().create_connection(
        Connection, address, port, ssl=tls, server_hostname=name
    )
    return connection


def _too_large(request: Request, size: int, largest: int) -> NoReturn:
    raise DownloadCancelledError(f"{request.url} has {size} bytes or more; {largest} are allowed")
