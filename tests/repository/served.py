"""A site on loopback whose pages change when the test says so, with ETag and 304."""

from __future__ import annotations

import hashlib
import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from treasure.repository.visits import Look, Visit

Answer = tuple[int, dict[str, str], bytes]


def html(words: str, *, extra: str = "") -> bytes:
    """A page that says *words*; *extra* is markup that is no main text."""
    title = words.split(".")[0]
    return (
        f"<html lang=en><head><title>{title}</title></head>"
        f"<body><!-- {extra} --><p>{words}</p></body></html>"
    ).encode()


@dataclass
class Site:
    """What the server answers, and what it was asked."""

    pages: dict[str, Answer | bytes | Callable[[], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    base: str = ""

    def answer(self, path: str, condition: str | None) -> Answer:
        """Return status, headers and body."""
        page = self.pages.get(path)
        if page is None:
            return 404, {}, b"nothing here"
        if isinstance(page, tuple):
            return page
        body = page() if callable(page) else page
        etag = f'"{hashlib.md5(body).hexdigest()}"'
        headers = {"Content-Type": "text/html; charset=utf-8", "ETag": etag}
        return (304, headers, b"") if condition == etag else (200, headers, body)

    def fetch(self, visit: Visit, now: float) -> Look:
        """Look at a page as an adapter does, redirects aside."""
        address = self.base.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("GET", visit.url.removeprefix(self.base), headers=visit.conditions)
        response = connection.getresponse()
        look = Look(now, response.status, visit.url, dict(response.headers), response.read())
        connection.close()
        return look


@contextmanager
def served() -> Iterator[Site]:
    """Run a site until the block ends."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = site.answer(self.path, self.headers.get("If-None-Match"))
            site.asked.append((self.path, status))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
