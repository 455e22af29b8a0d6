"""HTTP/1.1 on one connection: a request is written, and its answer read as the web writes it.

As much of the protocol as a crawler needs: GET and HEAD, one request at a time, bodies of a known
length, in chunks, or up to the end of the connection, however that ends. Lines may end in LF alone,
headers that are none are passed over, and what comes after the announced length is cut off, as
browsers do. Whatever leaves a doubt where the next answer begins ends the connection.
"""

from __future__ import annotations

import asyncio
import re
import select
import time
from collections.abc import AsyncIterator, Hashable, Iterable
from itertools import count
from typing import NamedTuple, cast

from treasure.errors import TreasureError

MOST_HEAD_BYTES = 1_000_000
MOST_WAITING_BYTES = 1 << 18
"""What may wait to be read before the sender is made to wait."""
IDLE_SECONDS = 30.0
"""How long a connection is kept for the next page of its host."""
MOST_IDLE = 500
MOST_HEADS = 20
"""Heads that put the answer off (``100 Continue``) before it must come."""
CHUNKS_AT_ONCE = 500
"""Chunks of a body after which others may run: two bytes each, many fit into what came at once."""

_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_STATUS = re.compile(rb"(?i).{0,4}?HTTP/(\d\.\d) +(\d{3})(?!\d)")
"""Up to four bytes before it, a byte order mark for one, are passed over, as browsers do."""
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

    def is_chunked(self) -> bool:
        """Tell whether the body comes in chunks, each with its size."""
        return b"chunked" in self.words(b"transfer-encoding")

    def length(self, method: str) -> int | None:
        """Return the length of the body, None where only its end will tell."""
        if method == "HEAD" or self.status in {204, 304}:
            return 0
        lengths = self.words(b"content-length")
        if not lengths or self.is_chunked():
            return None
        length = lengths.pop()
        if lengths or not _LENGTH.fullmatch(length):
            raise BadAnswerError("the length of the body is not one number")
        return int(length)


class Connection(asyncio.Protocol):
    """A connection to a server, and what has come over it."""

    def __init__(self) -> None:
        self._came = bytearray()
        self._ended = self._paused = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.peer = ""
        """The address at the other end."""
        self.idle_since = 0.0
        self.reusable = False
        """Whether the last answer ended where the next one can begin."""

    # -- what asyncio tells us

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclasses
        name = transport.get_extra_info("peername")  # gone when the connection is
        self.peer = str(name[0]).partition("%")[0] if name else ""

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
        if self._ended or self._came or self._paused or self._transport.is_closing():
            return False
        # Something may have come while the event loop was busy, and nobody was told yet.
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """End the connection at once: TLS might wait half a minute for the other side's leave."""
        self._transport.abort()

    async def ask(self, request: bytes) -> Head:
        """Send *request* and return the head of its answer; close the connection if none comes."""
        self.reusable = False
        self._transport.write(request)
        try:
            for _ in range(MOST_HEADS):
                head = _parsed(await self._head())
                if not 100 <= head.status < 200:  # else more is to come
                    return head
            raise BadAnswerError("the answer is put off for ever")
        except BaseException:
            self.close()
            raise

    async def body(self, method: str, head: Head) -> AsyncIterator[bytes]:
        """Give the body piece by piece; raise ShortBodyError when some of it is missing."""
        length = head.length(method)
        if length is not None:
            async for piece in self._exactly(length):
                yield piece
        elif head.is_chunked():
            async for piece in self._chunks():
                yield piece
        else:
            async for piece in self._rest():
                yield piece
            return
        self.reusable = head.version == b"1.1" and b"close" not in head.words(b"connection")

    async def _head(self) -> bytes:
        """Return everything up to the first empty line."""
        looked = blank = 0
        while True:
            if not looked:
                empty = len(self._came) - len(self._came.lstrip(b"\r\n"))
                del self._came[:empty]
                blank += empty
            found = _END_OF_HEAD.search(self._came, looked)
            looked = found.start() if found else max(len(self._came) - 3, 0)
            if looked + blank > MOST_HEAD_BYTES:
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
        for number in count(1):
            if not number % CHUNKS_AT_ONCE:
                await asyncio.sleep(0)
            size = _CHUNK.fullmatch(await self._line())
            if size is None:
                raise ShortBodyError("a chunk without a size")
            if not int(size[1], 16):
                break
            async for piece in self._exactly(int(size[1], 16)):
                yield piece
            if await self._line():
                raise ShortBodyError("a chunk longer than it said")
        passed = 0
        while line := await self._line():  # headers after the body, which nobody needs
            passed += len(line) + 1
            if passed > MOST_HEAD_BYTES:
                raise ShortBodyError("the headers after the body have no end")

    async def _rest(self) -> AsyncIterator[bytes]:
        while self._came or await self._more():
            yield self._take(len(self._came))

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
            if connection.alive and time.monotonic() - connection.idle_since < IDLE_SECONDS:
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
    lines += [b"%b: %b" % (name, b" ".join(value.splitlines())) for name, value in headers]
    return b"\r\n".join([*lines, b"", b""])


def _parsed(head: bytes) -> Head:
    lines = _FOLDED.sub(b" ", head).split(b"\n")
    found = _STATUS.match(lines[0])
    if found is None:
        raise BadAnswerError(f"no status line but {lines[0][:50]!r}")
    headers: list[tuple[bytes, bytes]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if colon and name.strip():
            headers.append((name.strip(), value.strip()))
    return Head(found[1], int(found[2]), headers)
