"""Fetches addresses with a given download handler, and downloader, and prints what came.

python -m tests.downloaders.fetching HANDLER '[{"url": ..., "method": ..., "meta": {...}}, ...]' ...
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import StopDownload

SIGNALS = (
    "request_reached_downloader", "response_downloaded", "request_left_downloader",
    "response_received",
)  # fmt: skip


class Fetching(Spider):
    """One request after the other; what each gave ends up in ``told``."""

    name = "fetching"
    asked: list[dict[str, Any]]
    told: list[dict[str, Any]]

    async def start(self) -> Any:
        self.heard: dict[int, list[str]] = {}
        self.crawler.signals.connect(self.received, signal=signals.bytes_received)
        for name in SIGNALS:
            self.crawler.signals.connect(
                self.listener(name), signal=getattr(signals, name), weak=False
            )
        for number, asked in enumerate(self.asked):
            meta = {"dont_redirect": True, "handle_httpstatus_all": True, "number": number}
            yield Request(
                asked["url"], method=asked.get("method", "GET"), body=asked.get("body", ""),
                headers=asked.get("headers", {}), meta=meta | asked.get("meta", {}),
                dont_filter=True, callback=self.came, errback=self.failed,
            )  # fmt: skip

    def listener(self, name: str) -> Callable[[Request], None]:
        def hear(request: Request) -> None:
            self.heard.setdefault(request.meta.get("number", -1), []).append(name)

        return hear

    def received(self, data: bytes, request: Request) -> None:
        if request.meta.get("enough"):
            raise StopDownload(fail=request.meta["enough"] == "fail")

    def came(self, response: Any) -> None:
        headers = {
            name.decode(): [value.decode("latin-1") for value in values]
            for name, values in response.headers.items()
            if name not in {b"Date", b"Server"}
        }
        self.told.append(
            {
                "number": response.meta["number"],
                "signals": self.heard.get(response.meta["number"], []),
                "url": response.url,
                "status": response.status,
                "headers": headers,
                "size": len(response.body),
                "start": response.body[:100].decode("latin-1"),
                "flags": response.flags,
                "kind": type(response).__name__,
                "address": str(response.ip_address),
                "waited": response.meta["download_latency"] > 0,
            }
        )

    def failed(self, failure: Any) -> None:
        number = failure.request.meta["number"]
        heard = self.heard.get(number, [])
        told = {"number": number, "signals": heard, "failure": type(failure.value).__name__}
        self.told.append(told)


def main(handler: str, asked: str, downloader: str = "") -> None:
    told: list[dict[str, Any]] = []
    settings = {
        "LOG_LEVEL": "ERROR",
        "RETRY_ENABLED": False,
        "DOWNLOAD_TIMEOUT": 3,
        "DOWNLOAD_MAXSIZE": 1_000_000,
        "DOWNLOAD_WARNSIZE": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), handler),
    }
    if downloader:
        settings["DOWNLOADER"] = downloader
    process = AsyncCrawlerProcess(settings)
    process.crawl(Fetching, asked=json.loads(asked), told=told)
    process.start()
    print(json.dumps(sorted(told, key=lambda row: row["number"])))


if __name__ == "__main__":
    main(*sys.argv[1:])
