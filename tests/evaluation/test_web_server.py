"""Any client can crawl a served web through the proxy, and by Host header."""

from __future__ import annotations

import asyncio
import re

import httpx2 as httpx

from treasure.evaluation.web_server import WebServer, served_url


def serve(web, talk):
    """Run *talk(port, log)* against a server of *web*."""

    async def session():
        log = []
        server = WebServer(web, lambda url, status: log.append((url, status)))
        port = await server.start()
        try:
            return await talk(port, log)
        finally:
            await server.stop()

    return asyncio.run(session())


async def raw(port, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()
    return answer


def test_a_client_with_a_proxy_sees_the_hosts(demo_web):
    async def talk(port, log):
        async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}") as client:
            page = await client.get("http://www.nightsky.example/")
            moved = await client.get("http://nightsky.example/")
            gone = await client.get("http://nowhere.example/")
            head = await client.head("http://www.nightsky.example/")
            error = await client.get("http://www.nightsky.example/cgi-bin/counter")
        assert page.status_code == 200
        assert page.content == demo_web.get("http://www.nightsky.example/").body
        assert (moved.status_code, moved.headers["location"]) == (
            301,
            "http://www.nightsky.example/",
        )
        assert gone.status_code == 404
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) == len(page.content)
        assert error.status_code == 500
        assert [status for _, status in log] == [200, 301, 404, 200, 500]

    serve(demo_web, talk)


def test_https_pages_are_served_as_http_with_their_links(demo_web):
    async def talk(port, log):
        async with httpx.AsyncClient(proxy=f"http://127.0.0.1:{port}") as client:
            page = await client.get("http://encyclopedia.example/")
            linking = await client.get("http://directory.example/")
        assert page.status_code == 200
        assert log[0] == ("https://encyclopedia.example/", 200)
        assert not re.search(r'href="https://', page.text + linking.text)
        assert 'href="http://encyclopedia.example/"' in linking.text

    assert b'href="https://encyclopedia.example/"' in demo_web.get("http://directory.example/").body
    serve(demo_web, talk)
    assert served_url("https://a.example/x") == "http://a.example/x"


def test_requests_by_host_header_and_several_on_one_connection(demo_web):
    request = b"GET /robots.txt HTTP/1.1\r\nHost: www.nightsky.example\r\n"

    async def talk(port, log):
        answer = await raw(port, request + b"\r\n" + request + b"Connection: close\r\n\r\n")
        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert answer.count(b"Disallow: /private/") == 2

    serve(demo_web, talk)


def test_what_it_cannot_do_is_said(demo_web):
    async def talk(port, log):
        tunnel = await raw(port, b"CONNECT encyclopedia.example:443 HTTP/1.1\r\n\r\n")
        post = await raw(port, b"POST http://a.example/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        lost = await raw(port, b"GET /page HTTP/1.1\r\n\r\n")
        long = await raw(port, b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert tunnel.startswith(b"HTTP/1.1 501")
        assert b"http://" in tunnel
        assert post.startswith(b"HTTP/1.1 405")
        assert lost.startswith(b"HTTP/1.1 400")
        assert long.startswith(b"HTTP/1.1 431")
        assert log == []

    serve(demo_web, talk)


def test_a_hundred_clients_at_once(demo_web):
    urls = [url for url in list(demo_web.urls())[:300] if url.startswith("http://")]

    async def talk(port, log):
        limits = httpx.Limits(max_connections=100)
        proxy = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(proxy=proxy, limits=limits, timeout=60) as client:
            answers = await asyncio.gather(*(client.get(url) for url in urls))
        assert [answer.status_code for answer in answers] == [
            demo_web.get(url).status for url in urls
        ]

    serve(demo_web, talk)
