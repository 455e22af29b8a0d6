"""HTTP/1.1 as the web writes it, against a server that sends what it is told to, byte by byte."""

import asyncio
import socket
import struct
import threading
import time

import pytest

from treasure import http1
from treasure.http1 import BadAnswerError, ClosedError, Connection, Pool, ShortBodyError, written

ASKED = written("GET", "/", "a.test", [])
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
STAYS = object()
"""Instead of an end: the server waits for the next request."""
RESETS = object()


def talk(*answers, script, at_once=True):
    """Run *script* with a function that connects to a server that gives *answers* in turn."""

    async def run():
        told = list(answers)

        async def serve(reader, writer):
            try:
                while told:
                    await reader.readuntil(b"\r\n\r\n")
                    pieces, end = told.pop(0)
                    for piece in (
                        [pieces] if at_once else [pieces[n : n + 1] for n in range(len(pieces))]
                    ):
                        writer.write(piece)
                        await writer.drain()
                        await asyncio.sleep(0)
                    if end is RESETS:
                        linger = struct.pack("ii", 1, 0)
                        peer = writer.get_extra_info("socket")
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        writer.transport.abort()
                        return
                    if end is not STAYS:
                        return
                await reader.read()  # until the other side goes
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        opened = []

        async def connect():
            loop = asyncio.get_running_loop()
            opened.append((await loop.create_connection(Connection, "127.0.0.1", port))[1])
            return opened[-1]

        async with server:
            try:
                return await asyncio.wait_for(script(connect), 20)
            finally:
                for connection in opened:
                    connection.close()
                await asyncio.sleep(0.05)

    return asyncio.run(run())


async def fetched(connection, method="GET", asked=ASKED):
    head = await connection.ask(asked)
    body = b"".join([piece async for piece in connection.body(method, head)])
    return head, body


async def used_once(connect):
    """Return a pool, and the connection in it that has brought one answer."""
    pool, connection = Pool(), await connect()
    await fetched(connection)
    pool.give("place", connection)
    return pool, connection


def fetch(answer, end=STAYS, method="GET", at_once=True):
    """Return head, body, and whether the connection can be used again."""

    async def script(connect):
        connection = await connect()
        head, body = await fetched(connection, method)
        return head, body, connection.reusable and connection.alive

    return talk((answer, end), script=script, at_once=at_once)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "byte by byte"])
@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HELLO, b"hello"),
        (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", b"hello"),
        (b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-length:5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 200\r\nContent-Length: 5, 5\r\n\r\nhello", b"hello"),
        (b"\xef\xbb\xbfhttp/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + HELLO, b"hello"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 3\r\n\r\n"
            b"2\r\nhe\r\n003;note=x\r\nllo\r\n0\r\nTrailer: x\r\n\r\n",
            b"hello",
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \nhello\n0\n\n", b"hello"),
        (b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", b""),
        (b"HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    ],
)
def test_a_body_that_says_where_it_ends(answer, body, at_once):
    head, came, reusable = fetch(answer, at_once=at_once)
    assert came == body
    assert head.status in {200, 204, 304}
    assert reusable


def test_lengths_of_bodies():
    def length(method, status, *headers):
        return http1.Head(b"1.1", status, [(b"Content-Length", each) for each in headers]).length(
            method
        )

    assert (
        length("GET", 200, b"99999999") == length("GET", 200, b"99999999", b"99999999") == 99999999
    )
    assert length("HEAD", 200, b"99999999") == length("GET", 304, b"99999999") == 0
    assert length("GET", 200) is None
    with pytest.raises(BadAnswerError):
        length("GET", 200, b"9" * 5_000)


def test_the_answer_to_head_has_no_body():
    _, body, reusable = fetch(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method="HEAD")
    assert (body, reusable) == (b"", True)


def test_a_body_without_a_length_ends_with_the_connection():
    _, body, reusable = fetch(b"HTTP/1.1 200 OK\r\n\r\nall of it", end=None)
    assert (body, reusable) == (b"all of it", False)


@pytest.mark.parametrize(
    "answer",
    [
        HELLO.replace(b"200 OK", b"200 OK\r\nConnection: Close"),
        HELLO.replace(b"1.1", b"1.0"),
        HELLO + b" and more than announced",
    ],
)
def test_a_connection_in_doubt_is_not_used_again(answer):
    _, body, reusable = fetch(answer)
    assert (body, reusable) == (b"hello", False)


def test_headers_as_they_come():
    head, _, _ = fetch(
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie:  b=2 \r\nX-Long: one\r\n two\r\n"
        b"no header at all\r\n: nameless\r\nContent-Length: 5\r\n\r\nhello"
    )
    assert head.headers == [
        (b"Set-Cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"X-Long", b"one two"),
        (b"Content-Length", b"5"),
    ]
    assert head.version == b"1.1"


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n", STAYS),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n", STAYS),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n", STAYS),
    ],
)
def test_a_body_that_breaks_off_is_no_body(answer, end):
    with pytest.raises(ShortBodyError):
        fetch(answer, end)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: banana\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (http1.MOST_HEAD_BYTES + 10) + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: ends in the mid",
    ],
)
def test_what_is_no_http_is_refused(answer):
    with pytest.raises(BadAnswerError):
        fetch(answer, end=None)


FOLDED = b"HTTP/1.1 200 OK\r\nX-Long: a" + b"\n b" * 300_000 + b"\nContent-Length: 5\n\nhello"


def test_a_header_of_very_many_lines_is_one_header():
    head, body, _ = fetch(FOLDED)
    assert body == b"hello"
    assert head.headers[0] == (b"X-Long", b"a" + b" b" * 300_000)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 30 + HELLO, BadAnswerError),
        (b"\r\n" * http1.MOST_HEAD_BYTES + HELLO, BadAnswerError),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
            + b"X: y\r\n" * (http1.MOST_HEAD_BYTES // 4),
            ShortBodyError,
        ),
    ],
    ids=["hints", "empty lines", "trailers"],
)
def test_nothing_goes_on_for_ever(answer, error):
    with pytest.raises(error):
        fetch(answer)


def test_very_many_small_chunks_let_others_run():
    chunks = b"1\r\nx\r\n" * 20_000
    turns = 0

    async def script(connect):
        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        connection = await connect()
        head = await connection.ask(ASKED)
        await asyncio.sleep(0.3)
        counting = asyncio.create_task(count())
        body = b"".join([piece async for piece in connection.body("GET", head)])
        counting.cancel()
        return body

    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    assert talk((answer, STAYS), script=script) == b"x" * 20_000
    assert turns >= 20_000 // http1.CHUNKS_AT_ONCE


def test_what_came_while_nobody_read_is_not_the_next_answer():
    """So much of a head that the sender had to wait: what follows it is still on its way."""
    long = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 600_000 + b"\r\nContent-Length: 5\r\n\r\nhello"

    async def script(connect):
        pool, connection = await used_once(connect)
        assert connection._paused == (pool.take("place") is None)

    talk((long + HELLO, STAYS), script=script)


@pytest.mark.parametrize("late", [b" and more", b"HTTP/1.1 408 Too late\r\n\r\n", b""])
def test_what_came_while_the_event_loop_was_busy_is_not_the_next_answer(late):
    async def script(connect):
        pool, connection = await used_once(connect)
        assert connection.alive
        await asyncio.to_thread(more.wait, 10)
        time.sleep(0.1)  # what the server sends now is here before anybody is told
        assert pool.take("place") is None

    more = threading.Event()

    def serve(listening):
        peer, _ = listening.accept()
        with peer:
            peer.recv(10_000)
            peer.sendall(HELLO)
            time.sleep(0.1)
            more.set()
            peer.sendall(late)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()

        async def connect():
            loop = asyncio.get_running_loop()
            return (await loop.create_connection(Connection, *listening.getsockname()))[1]

        asyncio.run(script(connect))
        thread.join()


def test_an_old_connection_is_not_used_again(monkeypatch):
    async def script(connect):
        pool, connection = await used_once(connect)
        connection.idle_since -= http1.IDLE_SECONDS
        assert pool.take("place") is None
        assert not connection.alive

    talk((HELLO, STAYS), script=script)


@pytest.mark.parametrize("end", [None, RESETS])
def test_no_answer_at_all(end):
    with pytest.raises(ClosedError):
        fetch(b"", end)


def test_a_body_without_a_length_ends_with_a_reset_as_well():
    async def script(connect):
        connection = await connect()
        head = await connection.ask(ASKED)
        pieces = connection.body("GET", head)
        assert await anext(pieces) == b"all of it"
        await asyncio.sleep(0.2)
        assert [piece async for piece in pieces] == []

    talk((b"HTTP/1.1 200 OK\r\n\r\nall of it", RESETS), script=script)


def test_a_sender_waits_while_nobody_reads():
    body = b"x" * 20_000_000

    async def script(connect):
        connection = await connect()
        head = await connection.ask(ASKED)
        await asyncio.sleep(0.5)
        waiting = len(connection._came)
        came = b"".join([piece async for piece in connection.body("GET", head)])
        return waiting, came

    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n" + body
    waiting, came = talk((answer, STAYS), script=script)
    assert waiting < 3 * http1.MOST_WAITING_BYTES
    assert came == body


def test_a_connection_is_used_again_and_forgotten_when_it_ends():
    async def script(connect):
        pool = Pool()
        first = await connect()
        await fetched(first)
        pool.give("place", first)
        assert pool.take("elsewhere") is None
        again = pool.take("place")
        assert again is first
        assert pool.take("place") is None
        await fetched(again)  # the server closes after this one
        pool.give("place", again)
        await asyncio.sleep(0.2)
        assert pool.take("place") is None
        assert not pool._at

    talk((HELLO, STAYS), (HELLO, None), script=script)


def test_idle_connections_are_few_and_not_old(monkeypatch):
    monkeypatch.setattr(http1, "MOST_IDLE", 2)

    async def script(connect):
        pool = Pool()
        connections = [await connect() for _ in range(3)]
        for place, connection in enumerate(connections):
            await fetched(connection)
            pool.give(place, connection)
        assert pool.take(0) is None
        assert not connections[0].alive
        assert pool.take(1) is connections[1]
        monkeypatch.setattr(http1, "IDLE_SECONDS", 0.0)
        pool.give(1, connections[1])
        assert pool.take(1) is pool.take(2) is None
        assert not any(connection.alive for connection in connections)
        pool.close()

    talk(*[(HELLO, STAYS)] * 3, script=script)


def test_closing_the_pool_closes_connections():
    async def script(connect):
        pool, connection = await used_once(connect)
        pool.close()
        assert pool.take("place") is None
        assert not connection.alive

    talk((HELLO, STAYS), script=script)


def test_a_request_as_it_is_sent():
    assert b"\r\nETag: a X: y\r\n" in written("GET", "/", "a.test", [(b"ETag", b"a\rX: y")])
    assert written("GET", "/a?b=c", "a.test:8080", [(b"Accept", b"*/*"), (b"X", b"y")]) == (
        b"GET /a?b=c HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\nX: y\r\n\r\n"
    )


@pytest.mark.parametrize("target", ["/a b", "/a\r\nHost: evil", "/\x00", "/ä"])
def test_an_address_cannot_bring_headers_along(target):
    with pytest.raises(ValueError, match="letters"):
        written("GET", target, "a.test", [])
