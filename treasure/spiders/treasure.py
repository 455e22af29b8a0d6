"""TreasureSpider: response -> page and links.

    scrapy crawl treasure -a topic=astronomy -a seeds=seeds.txt -a max_pages=1000

Every ``-a name=value`` sets ``TREASURE_NAME``; ``seeds`` is a file or a comma list of URLs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from treasure import failures
from treasure.addon import workbench_of
from treasure.config import settings_of
from treasure.downloaders.patience import GivenUp
from treasure.errors import UnreadablePageError, UserError
from treasure.extract import decode, read_page
from treasure.frontier.base import Entry, Lease
from treasure.items import HOPS, LEASE, ORIGIN, SITEMAP, Draft, LinkBatch, PageItem, headers_of
from treasure.middlewares.browser import BrowserMiddleware
from treasure.robots import directives
from treasure.scheduler import FrontierScheduler, GivenBack
from treasure.seeds import read_seeds
from treasure.sitemaps import listing, read_sitemap
from treasure.urls import canonical, join

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from treasure.workbench import Workbench

MAX_HOPS = 5
"""Redirects in a row that we follow."""
LISTING_LINKS = 250
"""Links of a sitemap that are scored at once, which takes 5 ms: the event loop waits."""
MAX_SITEMAPS = 50
"""Sitemaps of an index that we read, newest first."""
MAX_SITEMAP_LEVELS = 2
"""An index may name indexes; more levels than this are a trap."""


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
            if seeds := kwargs.pop("seeds", ""):
                spider.seeds = read_seeds(seeds)
            if (number := kwargs.pop("_job", "")) and not kwargs.get("job"):
                kwargs["job"] = number  # Scrapyd's number of the job
            for name, value in settings_of(kwargs, "seeds").items():
                crawler.settings.set(name, value, priority="cmdline")
        except UserError as error:
            spider.mistake = error
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Yield the seeds."""
        bench = workbench_of(self.crawler)
        for seed in self.seeds:
            if bench is not None and (rule := bench.admission.blocked(seed)):
                self.logger.warning("The seed %s is not fetched: %s is blocked.", seed, rule)
            else:
                yield Request(seed, dont_filter=True)

    async def parse_page(self, response: Response) -> AsyncIterator[Any]:
        """Read a response: its links first, so that they are queued before the page is done."""
        lease: Lease = response.meta[LEASE]
        draft = self._draft(response, lease)
        if SITEMAP in lease.entry.meta and response.status == 200:
            async for batch in self._sitemap(response, lease):
                yield batch
            return
        if 300 <= response.status < 400 and response.status != 304:
            self._redirected(response, lease, draft)
        elif response.status == 200:
            try:
                self._read(response, draft)
            except UnreadablePageError as error:
                draft.failure = str(error)
        else:
            draft.failure = failures.of_status(response.status)
        if draft.page is not None and draft.page.scripted_shell and self._rendered_later(lease):
            return
        if draft.page is not None:
            yield LinkBatch(draft.page, draft.page.links, lease)
        yield self._item(draft, lease)

    def failed(self, failure: Failure) -> Iterator[Any]:
        """Record a download that gave no response."""
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]
        if isinstance(failure.value, GivenUp):
            return
        if isinstance(failure.value, GivenBack):
            self._scheduler.give_back(lease, failure.value.seconds)
            return
        error = failure.value or RuntimeError("unknown")
        draft = Draft(lease, time.time(), failure=failures.of_exception(error))
        yield self._item(draft, lease)

    def _rendered_later(self, lease: Lease) -> bool:
        """Give an empty shell back for the browser, where there is one."""
        browser = self.crawler.get_downloader_middleware(BrowserMiddleware)
        if browser is None or not browser.is_shell(lease):
            return False
        self._scheduler.give_back(lease)
        return True

    @property
    def _scheduler(self) -> FrontierScheduler:
        scheduler = self.crawler.engine.scheduler
        assert isinstance(scheduler, FrontierScheduler)
        return scheduler

    def _bench(self) -> Workbench:
        """Return the workbench; no property, since feed exports read those before there is one."""
        bench = workbench_of(self.crawler)
        assert bench is not None
        return bench

    def _draft(self, response: Response, lease: Lease) -> Draft:
        return Draft(
            lease,
            time.time(),
            final_url=response.url,
            status=response.status,
            headers=headers_of(response),
            seconds=float(response.meta.get("download_latency", 0.0)),
            body=response.body,
        )

    def _read(self, response: Response, draft: Draft) -> None:
        config = self._bench().config
        content_type = draft.headers.get("Content-Type", "")
        kind = content_type.partition(";")[0].strip().lower()
        if kind and kind not in config.content_types:
            draft.failure = f"content type {kind}"
            return
        if isinstance(response, TextResponse):
            html = response.text
        else:
            html = decode(response.body, content_type)
        page = read_page(response.url, html, max_links=config.max_links_per_page)
        tags = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        if tags:
            wishes = directives(tags, self.settings["USER_AGENT"])
            page = replace(page, robots=page.robots | wishes)
        draft.page = page

    async def _sitemap(self, response: Response, lease: Lease) -> AsyncIterator[LinkBatch]:
        """Queue what a sitemap names: pages as links to be scored, sitemaps at half its score."""
        limit = self._bench().config.sitemap_max_links
        # In a thread: 10,000 links take 0.1 s.
        found = await asyncio.to_thread(read_sitemap, response.body, max_links=limit)
        self._scheduler.uncounted()
        self.crawler.stats.inc_value("treasure/sitemaps/read")
        self.crawler.stats.inc_value("treasure/sitemaps/links", len(found.pages))
        urls = [listed.url for listed in found.pages]
        for start in range(0, len(urls), LISTING_LINKS):
            page = listing(response.url, urls[start : start + LISTING_LINKS])
            yield LinkBatch(page, page.links, lease, listing=True)
        if int(lease.entry.meta[SITEMAP]) < MAX_SITEMAP_LEVELS:
            newest = sorted(found.sitemaps, key=lambda listed: -listed.lastmod)
            meta = {SITEMAP: int(lease.entry.meta[SITEMAP]) + 1}
            self._scheduler.push(
                [
                    Entry(listed.url, lease.score / 2, lease.entry.depth, response.url, meta=meta)
                    for listed in newest[:MAX_SITEMAPS]
                    if not self._bench().admission.off_limits(listed.url)
                ]
            )
        self._scheduler.done([lease.key])

    def _redirected(self, response: Response, lease: Lease, draft: Draft) -> None:
        """Queue where a redirect leads with the score of the link that led here."""
        location = (response.headers.get("Location") or b"").decode("latin-1")
        target = canonical(join(response.url, location)) if location else ""
        hops = int(lease.entry.meta.get(HOPS, 0)) + 1
        if not target:
            draft.failure = "redirect without a usable address"
        elif hops > MAX_HOPS:
            draft.failure = f"more than {MAX_HOPS} redirects in a row"
        elif rule := self._bench().admission.off_limits(target):
            draft.failure = f"redirect to where we do not go ({rule})"
        else:
            entry = lease.entry
            meta = {ORIGIN: entry.meta.get(ORIGIN, entry.url), HOPS: hops}
            self._scheduler.uncounted()
            came_by = entry.url, entry.anchor, entry.context
            self._scheduler.push([Entry(target, lease.score, entry.depth, *came_by, meta)])

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
