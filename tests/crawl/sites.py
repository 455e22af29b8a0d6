"""Small sites on loopback for crawl tests: real servers that say what was asked of them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


class Visit(NamedTuple):
    """A request as the server saw it."""

    time: float
    path: str
    agent: str


class Site:
    """One server on its own port; *pages* are HTML, an Answer, or a function that gives one."""

    def __init__(self, pages: dict[str, str | Answer | Callable[[], Answer]]) -> None:
        self.pages = pages
        self.visits: list[Visit] = []
        self.unplugged = False
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def do_GET(self) -> None:
                if site.unplugged:
                    self.close_connection = True
                    return
                agent = self.headers.get("User-Agent", "")
                site.visits.append(Visit(time.monotonic(), self.path, agent))
                status, headers, body = site.answer(self.path)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:  # the crawler has seen enough
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Address without a final slash."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        """Everything that was asked for, in order."""
        return [visit.path for visit in self.visits]

    def answer(self, path: str) -> Answer:
        """Return the answer to a request."""
        page = self.pages.get(path)
        if page is None:
            return 404, {"Content-Type": "text/html"}, b"<p>There is no such page."
        if callable(page):
            return page()
        if isinstance(page, tuple):
            return page
        return 200, {"Content-Type": "text/html; charset=utf-8"}, page.encode()

    def unplug(self) -> None:
        """Answer nobody: every connection ends without a word."""
        self.unplugged = True

    def plug(self) -> None:
        """Answer again."""
        self.unplugged = False

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def gap(site: Site) -> float:
    """Return the shortest time between two visits."""
    times = [visit.time for visit in site.visits]
    return min(later - earlier for earlier, later in itertools.pairwise(times))
