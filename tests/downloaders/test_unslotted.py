"""What the frontier gave is fetched at once, and everybody is told what Scrapy would tell."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from scrapy import Request
from twisted.internet.defer import Deferred

from tests.crawl.sites import Site
from tests.downloaders.test_http import OURS, fetch, pages
from treasure.downloaders import unslotted
from treasure.downloaders.unslotted import UnslottedDownloader
from treasure.items import LEASE

UNSLOTTED = "treasure.downloaders.unslotted.UnslottedDownloader"


def test_what_comes_and_what_is_told_are_what_scrapys_downloader_brings() -> None:
    with Site(pages()) as site:
        asked = [{"url": f"{site.url}{path}", "meta": {LEASE: 1}} for path in pages()]
        asked += [{"url": url, "meta": {LEASE: 1}} for url in ("http://127.0.0.1:1/", "ftp://x.y/")]
        asked += [{"url": f"{site.url}/", "meta": {}}]  # not from the frontier
        by_scrapy = fetch(OURS, asked)
        assert fetch(OURS, asked, UNSLOTTED) == by_scrapy
    reached = "request_reached_downloader"
    assert by_scrapy[0]["signals"] == [
        reached, "response_downloaded", "request_left_downloader", "response_received",
    ]  # fmt: skip
    refused = by_scrapy[len(pages())]
    assert refused["failure"] == "DownloadConnectionRefusedError"
    assert refused["signals"] == [reached, "request_left_downloader"]


def test_a_request_is_active_until_the_engine_has_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise an engine that looks in between finds nothing to do, and closes the spider."""
    handed_on: Deferred[Any] = Deferred()

    def ended(coroutine: Coroutine[Any, Any, Any]) -> Deferred[Any]:
        asyncio.run(coroutine)
        return handed_on

    monkeypatch.setattr(unslotted, "deferred_from_coro", ended)
    downloader: Any = UnslottedDownloader.__new__(UnslottedDownloader)
    downloader.active = set()
    downloader.middleware = SimpleNamespace(download_async=AsyncMock())
    request = Request("https://example.org/", meta={LEASE: 1})
    downloader.fetch(request)
    assert downloader.active == {request}
    handed_on.callback("page")
    assert not downloader.active
