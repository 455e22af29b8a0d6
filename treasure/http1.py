"""HTTP/1.1 on one connection: a request is written, and its answer read as the web writes it.

As much of the protocol as a crawler needs: GET and HEAD, one request at a time, bodies of a known
length, in chunks, or up to the end of the connection. Lines may end in LF alone, headers that are
none are passed over, and what comes after the announced length is cut off, as browsers do. Whatever
leaves a doubt where the next answer begins ends the connection.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Hashable, Iterable
from typing import NamedTuple, cast

from treasure.errors import TreasureError

MOST_HEAD_BYTES = 1_000_000
MOST_WAITING_BYTES = 1 << 18
"""What may wait to be read before the sender is made to wait."""
IDLE_SECONDS = 30.0
"""How long a connection is kept for the next page of its host."""
MOST_IDLE = 500

_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/(\d\.\d) +(\d{3})(?!\d)")
_LENGTH = re.compile(rb"\d{1,18}")
_CHUNK = re.compile(rb"\s*([0-9A-Fa-f]{1,15})\s*(?:;.*)?")


class ClosedError(TreasureError):
    """The connection ended before an answer began: on one that had been idle, no wonder."""


class BadAnswerError(TreasureError):
    """What came is no HTTP."""


class ShortBodyError(TreasureError):
    """The body ended before it was complete."""


class Head(NamedTuple):
    """Status and headers of an answer, as they came."""

    version: bytes
    status: int
    headers: list[tuple[bytes, bytes]]

    def words(self, name: bytes) -> set[bytes]:
        """Return what the header *name* lists, all in lower case; empty where there is none."""
        values = [value for key, value in self.headers if key.lower() == name]
        return {word.strip() for word in b",".join(values).lower().split(b",")} - {b""}


class Connection(asyncio.Protocol):
    """A connection to a server, and what has come over it."""

    def __init__(self) -> None:
        self._came = bytearray()
        self._ended = self._paused = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.idle_since = 0.0
        self.reusable = False
        """Whether the last answer ended where the next one can begin."""

    # -- what asyncio tells us

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclasses

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self._came += data
        if len(self._came) > MOST_WAITING_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that nothing more will come."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self._ended, self._error = True, exc
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- asking and reading

    @property
    def alive(self) -> bool:
        """Whether a request can be written: still open, and nothing came unasked."""
        return not (self._ended or self._came or self._transport.is_closing())

    @property
    def peer(self) -> str:
        """The address at the other end."""
        name = self._transport.get_extra_info("peername")
        return str(name[0]).partition("%")[0]

    def close(self) -> None:
        """End the connection; at once where there is more to come."""
        if self.reusable:
            self._transport.close()
        else:
            self._transport.abort()

    async def ask(self, request: bytes) -> Head:
        """Send *request* and return the head of its answer; close the connection if none comes."""
        self.reusable = False
        self._transport.write(request)
        try:
            head = _parsed(await self._head())
            while 100 <= head.status < 200:  # more is to come
                head = _parsed(await self._head())
        except BaseException:
            self.close()
            raise
        return head

    async def body(self, method: str, head: Head) -> AsyncIterator[bytes]:
        """Give the body piece by piece; raise ShortBodyError when some of it is missing."""
        lengths = head.words(b"content-length")
        if method == "HEAD" or head.status in {204, 304}:
            pass
        elif b"chunked" in head.words(b"transfer-encoding"):
            async for piece in self._chunks():
                yield piece
        elif lengths:
            length = lengths.pop()
            if lengths or not _LENGTH.fullmatch(length):
                raise BadAnswerError("the length of the body is not one number")
            async for piece in self._exactly(int(length)):
                yield piece
        else:
            async for piece in self._rest():
                yield piece
            return
        self.reusable = head.version == b"1.1" and b"close" not in head.words(b"connection")

    async def _head(self) -> bytes:
        """Return everything up to the first empty line."""
        looked = 0
        while True:
            while self._came.startswith((b"\r", b"\n")):
                del self._came[:1]
            found = _END_OF_HEAD.search(self._came, looked)
            looked = found.start() if found else max(len(self._came) - 3, 0)
            if looked > MOST_HEAD_BYTES:
                raise BadAnswerError(f"more than {MOST_HEAD_BYTES} bytes of headers")
            if found:
                head = self._take(found.end())
                return head[: found.start()]
            if not await self._more():
                if self._came:
                    raise BadAnswerError("the connection ended within the headers")
                raise ClosedError(str(self._error or "the connection was closed"))

    async def _exactly(self, length: int) -> AsyncIterator[bytes]:
        while length:
            if not self._came and not await self._more():
                raise ShortBodyError(f"{length} bytes are missing")
            piece = self._take(length)
            length -= len(piece)
            yield piece

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            size = _CHUNK.fullmatch(await self._line())
            if size is None:
                raise ShortBodyError("a chunk without a size")
            if not int(size[1], 16):
                break
            async for piece in self._exactly(int(size[1], 16)):
                yield piece
            await self._line()
        while await self._line():  # headers after the body, which nobody needs
            pass

    async def _rest(self) -> AsyncIterator[bytes]:
        while self._came or await self._more():
            yield self._take(len(self._came))
        # Many servers do not take leave of TLS.
        if self._error is not None and not isinstance(self._error, ssl.SSLError):
            raise ShortBodyError(str(self._error))

    async def _line(self) -> bytes:
        """Return a line within a chunked body, without its end."""
        while (end := self._came.find(b"\n")) < 0:
            if len(self._came) > MOST_HEAD_BYTES or not await self._more():
                raise ShortBodyError("the body ended between two chunks")
        line = bytes(self._came[:end])
        del self._came[: end + 1]
        return line.rstrip(b"\r")

    def _take(self, most: int) -> bytes:
        piece = bytes(self._came[:most])
        del self._came[:most]
        return piece

    async def _more(self) -> bool:
        """Wait until something comes; return False when nothing will."""
        size = len(self._came)
        while len(self._came) == size and not self._ended:
            if self._paused:
                self._paused = False
                self._transport.resume_reading()
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return len(self._came) > size


class Pool:
    """Open connections that wait for the next request to their place."""

    def __init__(self) -> None:
        self._idle: dict[Connection, Hashable] = {}
        self._at: dict[Hashable, list[Connection]] = {}

    def take(self, place: Hashable) -> Connection | None:
        """Return a connection to *place*, the one used last, or None."""
        while connections := self._at.get(place):
            connection = connections[-1]
            self._forget(connection)
            if connection.alive:
                return connection
            connection.close()
        return None

    def give(self, place: Hashable, connection: Connection) -> None:
        """Keep *connection* for the next one where that is possible; close those idle for long."""
        now = time.monotonic()
        if connection.reusable and connection.alive:
            connection.idle_since = now
            self._idle[connection] = place
            self._at.setdefault(place, []).append(connection)
        else:
            connection.close()
        while self._idle:
            oldest = next(iter(self._idle))
            if len(self._idle) <= MOST_IDLE and now - oldest.idle_since < IDLE_SECONDS:
                break
            self._forget(oldest)
            oldest.close()

    def close(self) -> None:
        """Close all."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        self._at.clear()

    def _forget(self, connection: Connection) -> None:
        place = self._idle.pop(connection)
        connections = self._at[place]
        connections.remove(connection)
        if not connections:
            del self._at[place]


def written(method: str, target: str, host: str, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return a request without a body as it is sent."""
    if re.search(r"[^!-~]", target + host):
        raise ValueError(f"{host}{target} has letters that no address may have")
    lines = [b"%b %b HTTP/1.1" % (method.encode(), target.encode()), b"Host: " + host.encode()]
    lines += [b"%b: %b" % header for header in headers]
    return b"\r\n".join([*lines, b"", b""])


def _parsed(head: bytes) -> Head:
    lines = head.split(b"\n")
    found = _STATUS.match(lines[0])
    if found is None:
        raise BadAnswerError(f"no status line but {lines[0][:50]!r}")
    headers: list[tuple[bytes, bytes]] = []
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t") and headers:  # goes on with the line before
            name, value = headers.pop()
            headers.append((name, b"%b %b" % (value, line.strip())))
            continue
        name, colon, value = line.partition(b":")
        if colon and name.strip():
            headers.append((name.strip(), value.strip()))
    return Head(found[1], int(found[2]), headers)
