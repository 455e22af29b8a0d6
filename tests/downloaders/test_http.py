"""Our download handler gives what Scrapy's own gives, from the same servers."""

import asyncio
import base64
import json
import socket
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from tests.crawl.crawling import ROOT
from tests.crawl.sites import Site
from tests.hostile.server import HostileServer
from treasure.addresses import ForbiddenAddressError
from treasure.downloaders.http import as_sent, connect
from treasure.middlewares.address_guard import AddressGuardMiddleware

OURS = "treasure.downloaders.http.HttpDownloadHandler"
SCRAPYS = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"


def fetch(handler, asked, *downloader):
    line = [sys.executable, "-m", "tests.downloaders.fetching", handler, json.dumps(asked)]
    line += downloader
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def pages():
    html = {"Content-Type": "text/html; charset=utf-8"}
    return {
        "/": "<p>Hello",
        "/two%20words?q=%C3%A4;x": "<p>Asked for as it was written",
        "/gone": (410, html, b"<p>Gone"),
        "/moved": (301, {**html, "Location": "/"}, b""),
        "/empty": (204, {}, b""),
        "/feed": (200, {"Content-Type": "application/xml"}, b"<feed/>"),
        "/large": (200, html, b"x" * 999_999),
        "/too-large": (200, html, b"x" * 1_000_001),
        "/umlauts": (200, {**html, "X-Name": "\u00fc"}, "<p>\u00fc".encode()),
    }


def test_what_comes_is_what_scrapys_handler_brings():
    with Site(pages()) as site:
        asked = [{"url": f"{site.url}{path}"} for path in pages()]
        asked += [
            {"url": f"{site.url}#top"},
            {"url": f"{site.url}?only=query"},
            {"url": f"{site.url}/", "method": "POST", "body": "a=1"},
            {"url": f"{site.url}/large", "meta": {"enough": "keep"}},
            {"url": f"{site.url}/large", "meta": {"enough": "fail"}},
            {"url": f"{site.url}/large", "meta": {"download_maxsize": 10}},
            {"url": "http://127.0.0.1:1/"},
            {"url": "http://nowhere.invalid/"},
        ]
        by_scrapy = fetch(SCRAPYS, asked)
        seen = site.paths[:]
        site.visits.clear()
        by_us = fetch(OURS, asked)
        assert sorted(site.paths) == sorted(seen)
    for theirs, ours in zip(by_scrapy, by_us, strict=True):
        for told in (theirs, ours):
            if "download_stopped" in told.get("flags", ()):  # how much came first is chance
                assert told.pop("size") < 999_999
        assert ours == theirs
    assert [told.get("status", told.get("failure")) for told in by_us] == [
        200, 200, 410, 301, 204, 200, 200, "DownloadCancelledError", 200, 200, 404, 200, 200,
        "StopDownload", "DownloadCancelledError", "DownloadConnectionRefusedError",
        "CannotResolveHostError",
    ]  # fmt: skip


def test_hostile_answers_are_taken_or_refused_as_by_scrapy():
    paths = [
        "/truncated", "/length-too-small", "/length-rubbish", "/chunks-broken",
        "/chunks-unfinished", "/huge", "/many-headers", "/reset-at-once", "/reset-in-head",
        "/no-http", "/status-rubbish", "/status-999", "/silent", "/slow-head", "/slow-loris",
    ]  # fmt: skip
    with HostileServer() as server:
        asked = [{"url": server.url(path)} for path in paths]
        asked += [{"url": server.url("/truncated"), "meta": {"download_fail_on_dataloss": False}}]
        asked += [{"url": server.url("/healthy/tls")}]
        by_scrapy, by_us = fetch(SCRAPYS, asked), fetch(OURS, asked)
    for one, theirs, ours in zip(asked, by_scrapy, by_us, strict=True):
        assert ours == theirs, one
    assert "dataloss" in by_us[-2]["flags"]
    assert by_us[-1]["status"] == 200


@contextmanager
def serving(serve):
    """A server that does *serve* on every connection; its host and port."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def run():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        places.append(server.sockets[0].getsockname()[1])
        ready.set()
        async with server:
            await asyncio.Event().wait()

    places: list[int] = []
    task = loop.create_task(run())
    thread = threading.Thread(target=lambda: loop.run_until_complete(asyncio.wait([task])))
    thread.start()
    assert ready.wait(10)
    try:
        yield f"127.0.0.1:{places[0]}"
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
        loop.close()


def test_a_proxy_is_asked_where_there_is_one():
    asked = []

    async def proxy(reader, writer):
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nproxy")
        writer.close()

    with serving(proxy) as place:
        secret = base64.b64encode(b"user:secret").decode()
        meta = {"proxy": f"http://user:secret@{place}"}
        (told,) = fetch(OURS, [{"url": "http://far.invalid/page", "meta": meta}])
    assert told["start"] == "proxy"
    assert asked[0].startswith("GET http://far.invalid/page HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {secret}" in asked[0]


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_page_that_ends_with_its_connection_is_a_page(end):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>All of it")
        await asyncio.sleep(0.2)
        if end == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    with serving(serve) as place:
        asked = [{"url": f"http://{place}/"}]
        (told,) = fetch(OURS, asked)
        assert [told] == fetch(SCRAPYS, asked)
    assert (told["start"], told["flags"]) == ("<p>All of it", ["partial"])


def test_a_408_on_a_connection_that_was_idle_is_no_answer():
    """It was on its way to nobody when our request came; on a new connection it is an answer."""

    async def serve(reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            for asked in range(2):
                head = await reader.readuntil(b"\r\n\r\n")
                if asked or b"/slow" in head:
                    writer.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
                    break
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    with serving(serve) as place:
        told = fetch(OURS, [{"url": f"http://{place}/{page}"} for page in ("1", "2", "3", "slow")])
    assert [one["status"] for one in told] == [200, 200, 200, 408]


def test_the_rest_of_an_answer_is_not_the_next_one():
    """A page longer than it said, whose rest comes when the next one was asked for."""

    async def serve(reader, writer):
        page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        with suppress(asyncio.IncompleteReadError):
            first = (await reader.readuntil(b"\r\n\r\n")).split()[1]
            writer.write(page + first)
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"the rest of " + first + page + b"mixed")
        writer.close()

    with serving(serve) as place:
        paths = [f"/no-{number}" for number in range(1, 6)]
        told = fetch(OURS, [{"url": f"http://{place}{path}"} for path in paths])
    assert [one.get("start") for one in told] == paths


@pytest.mark.parametrize(
    ("url", "headers", "sent"),
    [
        ("http://a.test/b?c#d", {}, b"GET /b?c HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        ("http://me:secret@a.test:81", {}, b"GET / HTTP/1.1\r\nHost: a.test:81\r\n\r\n"),
        ("https://[::1]?q", {}, b"GET /?q HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
        (
            "http://127.0.0.1/",
            {"Host": "a.test", "X-Two": ["1", "2"]},
            b"GET / HTTP/1.1\r\nHost: a.test\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n",
        ),
    ],
)
def test_a_request_as_it_is_sent(url, headers, sent):
    assert as_sent(Request(url, headers=headers)) == sent


def test_a_private_address_is_refused_where_we_connect():
    """Whatever led to it: here the guard itself has forgotten to look."""
    guard = AddressGuardMiddleware.from_crawler(get_crawler())

    async def careless(host):
        return ["127.0.0.1"]

    guard.addresses = careless
    with Site({"/": "secret"}) as inside:
        port = inside.url.rpartition(":")[2]
        with pytest.raises(ForbiddenAddressError):
            asyncio.run(connect(guard, None, "a.test", int(port)))
        assert inside.visits == []


def test_an_address_that_is_dead_leaves_the_next_one():
    guard = AddressGuardMiddleware.from_crawler(
        get_crawler(settings_dict={"TREASURE_ALLOWED_NETWORKS": "127.0.0.0/8"})
    )
    kept = ["127.0.0.3", "127.0.0.2", "127.0.0.1"]

    async def addresses(host):
        return kept

    guard.addresses = addresses

    async def peer(port):
        connection = await connect(guard, None, "a.test", port)
        connection.close()
        return connection.peer

    with Site({}) as site:
        port = int(site.url.rpartition(":")[2])
        assert asyncio.run(peer(port)) == "127.0.0.1"
    assert kept == ["127.0.0.1", "127.0.0.3", "127.0.0.2"]
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(peer(port))
