"""A virtual web over HTTP on loopback, so that any crawler can crawl it.

The server is a forward proxy: a crawler that has ``http_proxy`` set asks it for
``http://any.host/path`` and gets the archived answer, so host names are real and nothing is ever
resolved. It also answers plain requests by their Host header. What the web does not have is a 404.

There is no certificate to show for somebody else's host, so ``https`` pages are served as ``http``:
links, Location headers and sitemaps are rewritten on the way, and ``served_url`` says how.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from urllib.parse import urlsplit

from treasure.evaluation.archived import Response
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.evaluation.web_writer import http_bytes

MAX_HEAD_BYTES = 65_536
IDLE_SECONDS = 60.0
LINGER_SECONDS = 2.0
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"}
)
_TEXT = ("text/", "application/xml", "application/xhtml+xml", "application/json")


def served_url(url: str) -> str:
    """Return the address under which *url* is served."""
    return "http://" + url[8:] if url.startswith("https://") else url


class WebServer:
    """Serves a virtual web; *log* hears of every answer: URL as archived or asked, and status."""

    def __init__(self, web: VirtualWeb, log: Callable[[str, int], None] | None = None) -> None:
        self.web = web
        self.log = log
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        secure = sorted({urlsplit(url).netloc for url in web.urls() if url.startswith("https:")})
        self._rewrites = [(f"https://{h}".encode(), f"http://{h}".encode()) for h in secure]

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; return the port."""
        self._server = await asyncio.start_server(
            self._connected, host, port, limit=MAX_HEAD_BYTES, backlog=512
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Listen no more, and hang up."""
        if self._server is not None:
            self._server.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await self._server.wait_closed()

    def answer(self, url: str) -> Response:
        """Return the response to a GET of *url*, rewritten where it must be."""
        archived = self.web.get(url)
        if archived is None and url.startswith("http://"):
            archived = self.web.get("https://" + url[7:])
        if archived is None:
            body = b"<title>Not found</title><p>The virtual web has no such page."
            return Response(url, 404, (("Content-Type", "text/html"),), body)
        headers = tuple(
            (name, served_url(value) if name.lower() == "location" else value)
            for name, value in archived.headers
            if name.lower() not in _HOP_BY_HOP
        )
        body = archived.body
        kind = archived.header("content-type").lower()
        if not archived.header("content-encoding") and kind.startswith(_TEXT):
            for secure, plain in self._rewrites:
                body = body.replace(secure, plain)
        return Response(archived.url, archived.status, headers, body)

    # -- one connection

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, TimeoutError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays open."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            await _refuse(reader, writer, 431, "The request's headers are too long.")
            return False
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        method, _, rest = lines[0].partition(" ")
        target, _, version = rest.rpartition(" ")
        url = _asked(target, headers)
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        if method not in {"GET", "HEAD"} or not url:
            await _refuse(reader, writer, *_why(method))
            return False
        response = self.answer(url)
        raw = http_bytes(response)
        writer.write(raw if method == "GET" else raw[: raw.index(b"\r\n\r\n") + 4])
        await writer.drain()
        if self.log is not None:
            self.log(response.url, response.status)
        return keep


def _asked(target: str, headers: dict[str, str]) -> str:
    """Return the URL of a request in absolute form, or of one for our own door by its Host."""
    if target.lower().startswith(("http://", "https://")):
        return target
    host = headers.get("host", "")
    return f"http://{host}{target}" if host and target.startswith("/") else ""


def _why(method: str) -> tuple[int, str]:
    if method == "CONNECT":
        return 501, "https pages of a virtual web are served as http; ask for http:// instead."
    if method not in {"GET", "HEAD"}:
        return 405, "A virtual web answers GET and HEAD."
    return 400, "Expected an absolute URL, or a path and a Host header."


async def _refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int, text: str
) -> None:
    """Say why not. A connection that is closed with bytes unread would be reset, and this lost."""
    headers = (("Content-Type", "text/plain"), ("Connection", "close"))
    writer.write(http_bytes(Response("", status, headers, text.encode() + b"\n")))
    await writer.drain()
    writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while await reader.read(MAX_HEAD_BYTES):
                pass
