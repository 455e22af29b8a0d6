"""TreasureSpider: response -> page and links.

    scrapy crawl treasure -a topic=astronomy -a seeds=seeds.txt -a max_pages=1000

Every ``-a name=value`` sets ``TREASURE_NAME``; ``seeds`` is a file or a comma list of URLs.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from treasure import failures
from treasure.config import PREFIX, TreasureConfig
from treasure.errors import ConfigError, UnreadablePageError, UserError, did_you_mean
from treasure.extract import decode, read_page
from treasure.frontier.base import Entry, Lease
from treasure.items import LEASE, ORIGIN, Draft, LinkBatch, PageItem
from treasure.seeds import read_seeds
from treasure.urls import canonical, join

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

MAX_HOPS = 5
"""Redirects in a row that we follow."""


class TreasureSpider(Spider):
    """Reads pages, hands on their links, yields them as items."""

    name = "treasure"
    treasure_native = True
    """Tells the add-on that this spider does retries, redirects and filtering itself."""

    seeds: list[str]
    mistake: UserError | None
    """What is wrong with the arguments; reported when the spider opens, without a traceback."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> TreasureSpider:
        """Turn spider arguments into settings; a wrong one closes the spider with a clear line."""
        spider = super().from_crawler(crawler, *args)
        spider.seeds = []
        spider.mistake = None
        try:
            spider.seeds = read_seeds(kwargs.pop("seeds")) if kwargs.get("seeds") else []
            kwargs.pop("_job", None) if kwargs.get("job") else _rename(kwargs, "_job", "job")
            names = TreasureConfig.names()
            for argument, value in kwargs.items():
                name = PREFIX + argument.upper()
                if name not in names:
                    known = ["seeds", *(full[len(PREFIX) :].lower() for full in names)]
                    raise ConfigError(
                        f"There is no spider argument {argument!r}.{did_you_mean(argument, known)}"
                    )
                crawler.settings.set(name, value, priority="cmdline")
        except UserError as error:
            spider.mistake = error
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Yield the seeds."""
        for seed in self.seeds:
            yield Request(seed, dont_filter=True)

    def parse_page(self, response: Response) -> Iterator[Any]:
        """Read a response: its links first, so that they are queued before the page is done."""
        lease: Lease = response.meta[LEASE]
        draft = self._draft(response, lease)
        if 300 <= response.status < 400:
            self._redirected(response, lease, draft)
        elif response.status == 200:
            try:
                self._read(response, draft)
            except UnreadablePageError as error:
                draft.failure = str(error)
        else:
            draft.failure = failures.of_status(response.status)
        if draft.page is not None:
            yield LinkBatch(draft.page, draft.page.links, lease)
        yield self._item(draft, lease)

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Record a download that gave no response."""
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        error = failure.value or RuntimeError("unknown")
        draft = Draft(lease, time.time(), failure=failures.of_exception(error))
        yield self._item(draft, lease)

    def _draft(self, response: Response, lease: Lease) -> Draft:
        headers = {
            name.decode("latin-1"): b", ".join(values).decode("latin-1")
            for name, values in response.headers.items()
        }
        return Draft(
            lease,
            time.time(),
            final_url=response.url,
            status=response.status,
            headers=headers,
            seconds=float(response.meta.get("download_latency", 0.0)),
            body=response.body,
        )

    def _read(self, response: Response, draft: Draft) -> None:
        content_type = draft.headers.get("Content-Type", "")
        kind = content_type.partition(";")[0].strip().lower()
        if kind and kind not in self.crawler.settings.getlist(
            "TREASURE_CONTENT_TYPES", ["text/html", "application/xhtml+xml"]
        ):
            draft.failure = f"content type {kind}"
            return
        if isinstance(response, TextResponse):
            html = response.text
        else:
            html = decode(response.body, content_type)
        limit = self.crawler.settings.getint("TREASURE_MAX_LINKS_PER_PAGE", 5_000)
        draft.page = read_page(response.url, html, max_links=limit)

    def _redirected(self, response: Response, lease: Lease, draft: Draft) -> None:
        """Queue where a redirect leads with the score of the link that led here."""
        location = (response.headers.get("Location") or b"").decode("latin-1")
        target = canonical(join(response.url, location)) if location else ""
        hops = int(lease.entry.meta.get("hops", 0)) + 1
        if not target:
            draft.failure = "redirect without a usable address"
        elif hops > MAX_HOPS:
            draft.failure = f"more than {MAX_HOPS} redirects in a row"
        else:
            entry = lease.entry
            meta = {ORIGIN: entry.meta.get(ORIGIN, entry.url), "hops": hops}
            self.crawler.engine.scheduler.push(  # type: ignore[union-attr]
                [
                    Entry(
                        target,
                        lease.score,
                        entry.depth,
                        entry.url,
                        entry.anchor,
                        entry.context,
                        meta,
                    )
                ]
            )

    def _item(self, draft: Draft, lease: Lease) -> PageItem:
        entry = lease.entry
        item = PageItem(
            url=draft.final_url or entry.url,
            title=draft.page.title if draft.page is not None else "",
            depth=entry.depth,
            referrer=entry.referrer,
            score=lease.score,
            fetched_at=draft.fetched_at,
        )
        item.draft = draft
        return item


def _rename(mapping: dict[str, Any], old: str, new: str) -> None:
    if old in mapping:
        mapping[new] = mapping.pop(old)
