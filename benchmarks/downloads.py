"""What it takes to download a page: our handler against Scrapy's own, on Twisted's agent.

    python benchmarks/downloads.py [--quick] [--json] [--pages 1600] [--rounds 3]

CPU ms a page of 26 kB from the loopback network, from the request to the response, eight at a time
from eight hosts; the server is a process of its own. Both handlers take turns, each time in a new
process. "new" means a connection for each page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

HANDLERS = {
    "ours": "treasure.downloaders.http.HttpDownloadHandler",
    "Scrapy's": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
}
KINDS = ("http", "https", "https, new")
HOSTS = AT_A_TIME = 8
WARM_UP = 20
BODY = b"<p>A page of ordinary size, " * 930


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="400 pages, one round")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", type=int, default=1_600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child == "serve":
        asyncio.run(serve())
        return 0
    if args.child:
        fetch(**json.loads(args.child))
        return 0
    if args.quick:
        args.pages, args.rounds = 400, 1
    found = compare(args.pages, args.rounds)
    if args.json:
        print(json.dumps(found, indent=1))
        return 0
    for kind, row in found.items():
        figures = ", ".join(f"{name} {row[name]:.2f}" for name in HANDLERS)
        print(f"{kind:12} {figures} ms a page; ours takes {row['ratio']:.2f} times as long")
    return 0


def compare(pages: int, rounds: int) -> dict[str, Any]:
    """Return the medians, by kind of connection."""
    cores = sorted(os.sched_getaffinity(0))
    line = [sys.executable, __file__, "--child"]
    server = subprocess.Popen([*line, "serve"], stdout=subprocess.PIPE, text=True)
    os.sched_setaffinity(server.pid, {cores[-1]})
    assert server.stdout is not None
    ports = dict(zip(KINDS, json.loads(server.stdout.readline()), strict=True))
    taken: dict[str, dict[str, list[float]]] = {kind: {n: [] for n in HANDLERS} for kind in KINDS}
    try:
        for _ in range(rounds):
            for kind in KINDS:
                for name, handler in HANDLERS.items():
                    task = {
                        "handler": handler,
                        "scheme": kind.partition(",")[0],
                        "port": ports[kind],
                        # Of each connection something is left behind that waits for a minute.
                        "pages": pages // 4 if "new" in kind else pages,
                    }
                    done = subprocess.run(
                        [*line, json.dumps(task)], check=True, capture_output=True, text=True
                    )
                    taken[kind][name].append(float(done.stdout.splitlines()[-1]))
    finally:
        server.terminate()
        server.wait(10)
    found: dict[str, Any] = {}
    for kind, by_name in taken.items():
        row = {name: statistics.median(figures) for name, figures in by_name.items()}
        found[kind] = {**row, "ratio": row["ours"] / row["Scrapy's"], "all": by_name}
    return found


# -- in the process that downloads


def fetch(handler: str, scheme: str, port: int, pages: int) -> None:
    """Print the CPU ms a page."""
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    async def run() -> None:
        try:
            print(await _fetched(handler, scheme, port, pages))
        finally:
            reactor.stop()

    tasks: list[Any] = []
    loop = asyncio.get_event_loop()
    reactor.callWhenRunning(lambda: tasks.append(loop.create_task(run())))
    reactor.run()
    tasks[0].result()


async def _fetched(handler: str, scheme: str, port: int, pages: int) -> float:
    from scrapy import Request
    from scrapy.utils.misc import build_from_crawler, load_object
    from scrapy.utils.test import get_crawler

    crawler = get_crawler(settings_dict={"CONCURRENT_REQUESTS_PER_DOMAIN": AT_A_TIME})
    crawler.spider = crawler._create_spider()
    crawler.get_downloader_middleware = lambda _: None
    made = build_from_crawler(load_object(handler), crawler)
    headers = {"User-Agent": "benchmark", "Accept": "text/html", "Accept-Encoding": "gzip, br"}

    async def some(worker: int, count: int) -> None:
        for number in range(count):
            url = f"{scheme}://127.0.0.{worker % HOSTS + 1}:{port}/{worker}/{number}.html"
            response = await made.download_request(Request(url, headers=headers))
            assert len(response.body) == len(BODY)

    async def all_of_them(count: int) -> None:
        await asyncio.gather(*[some(worker, count) for worker in range(AT_A_TIME)])

    await all_of_them(WARM_UP)
    began = time.process_time()
    await all_of_them(pages // AT_A_TIME)
    spent = time.process_time() - began
    await made.close()
    return 1000 * spent / (pages // AT_A_TIME * AT_A_TIME)


# -- in the process that serves


async def serve() -> None:
    """Serve the same page at a port for each kind of connection; print the ports."""
    from tests.hostile.server import bad_certificate

    loop, tls = asyncio.get_running_loop(), bad_certificate()
    ports = []
    for kind in KINDS:
        closes = "new" in kind
        server = await loop.create_server(
            lambda closes=closes: _Answers(closes),
            "0.0.0.0",
            0,
            ssl=tls if kind.startswith("https") else None,
        )
        ports.append(server.sockets[0].getsockname()[1])
    print(json.dumps(ports), flush=True)
    await asyncio.Event().wait()


class _Answers(asyncio.Protocol):
    def __init__(self, closes: bool) -> None:
        self.closes, self.asked = closes, b""
        self.answer = (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: benchmark\r\n"
            b"%bContent-Length: %d\r\n\r\n%b"
            % (b"Connection: close\r\n" if closes else b"", len(BODY), BODY)
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *asked, self.asked = (self.asked + data).split(b"\r\n\r\n")
        for _ in asked:
            self.transport.write(self.answer)
            if self.closes:
                self.transport.close()


if __name__ == "__main__":
    sys.exit(main())
