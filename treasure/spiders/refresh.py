"""RefreshSpider: looks at stored pages that are due, again and again (the database checker).

    scrapy crawl refresh -a repository=sqlite:///data/runs/treasure.db -a max_pages=1000

Run it by cron or Scrapyd; each run looks at what is due by then. ``treasure refresh`` runs it too,
and mends the repository besides. Requests are conditional: an unchanged page costs a line. Order,
retries, redirects and robots.txt are Scrapy's own here, since nothing waits in a frontier.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from treasure import addon, failures
from treasure.config import PREFIX, TreasureConfig, settings_of
from treasure.contact import check_contact
from treasure.errors import RepositoryUnavailable, UnavailableError, UserError
from treasure.items import headers_of
from treasure.repository.freshness import DAY_SECONDS, Policy
from treasure.repository.helper import Helper
from treasure.repository.judges import JobJudges
from treasure.repository.store import Store
from treasure.repository.visits import Look, Visit, Visits
from treasure.stopping import REPOSITORY_UNAVAILABLE
from treasure.workbench import repository_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

VISIT = "treasure_visit"
"""Key in ``request.meta``: the Visit that the request makes."""
MOST_VISITS = 10_000
"""Looks of one run where no limit is given."""


class RefreshSpider(Spider):
    """Asks for pages that are due and tells the repository what came back."""

    name = "refresh"
    custom_settings = {
        "TREASURE_ORDER": "scrapy",
        "HTTPERROR_ALLOW_ALL": True,
        "RETRY_TIMES": 1,
        "SPIDER_MIDDLEWARES": dict.fromkeys(addon.SPIDER_MIDDLEWARES),
        "ITEM_PIPELINES": dict.fromkeys(addon.ITEM_PIPELINES),
        "EXTENSIONS": dict.fromkeys(addon.EXTENSIONS),
        "DOWNLOADER_MIDDLEWARES": {"treasure.middlewares.landing.LandingMiddleware": None},
    }

    store: Store | None = None
    mistake: Exception | None = None

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Be as polite as a crawl is."""
        super().update_settings(settings)
        default = TreasureConfig()
        delay = settings.get(PREFIX + "HOST_DELAY_SECONDS", default.host_delay_seconds)
        at_once = settings.get(PREFIX + "HOST_CONCURRENCY", default.host_concurrency)
        settings.set("DOWNLOAD_DELAY", delay, priority="spider")
        settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", at_once, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> RefreshSpider:
        """Turn spider arguments into settings; a wrong one closes the spider with a clear line."""
        spider = super().from_crawler(crawler, *args)
        spider.found = Counter()
        spider.jobs = {}
        spider.given = {}
        spider.turn = asyncio.Lock()
        crawler.signals.connect(spider.slow_down, signal=signals.robots_parsed)
        try:
            # Scrapyd adds the number of its own job, which is no job of ours.
            spider.given = settings_of({k: v for k, v in kwargs.items() if k != "_job"})
            for name, value in spider.given.items():
                crawler.settings.set(name, value, priority="cmdline")
            spider.config = TreasureConfig.read(crawler.settings)
            spider.store = Store.open(repository_url(spider.config))
        except (UserError, UnavailableError) as error:
            spider.mistake = error
            crawler.signals.connect(spider.refuse, signal=signals.spider_opened)
        return spider

    found: Counter[str]
    jobs: dict[str, Counter[str]]
    given: Mapping[str, Any]
    config: TreasureConfig
    turn: asyncio.Lock

    def refuse(self) -> None:
        """Close at once, with one line that says why."""
        logger.error("%s", self.mistake)
        self.crawler.stats.set_value("treasure/error", str(self.mistake))
        raise CloseSpider(addon.CONFIGURATION_ERROR)

    def slow_down(self, robotparser: Any, request: Request) -> None:
        """Wait between requests as long as a robots.txt asks for; Scrapy reads it and does not."""
        delay = robotparser.crawl_delay(self.settings["USER_AGENT"]) or 0.0
        downloader = self.crawler.engine.downloader
        slot = downloader.slots.get(downloader.get_slot_key(request))
        if slot is not None:
            slot.delay = max(slot.delay, min(delay, self.config.crawl_delay_max_seconds))

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each page that is due, the most promising first."""
        if self.store is None:
            return
        method = "trafilatura" if self.config.main_text == "later" else self.config.main_text
        self.helper = Helper(repository_url(self.config), method)
        policy = Policy(
            least_seconds=self.config.refresh_least_days * DAY_SECONDS,
            most_seconds=self.config.refresh_most_days * DAY_SECONDS,
        )
        self.visits = Visits(self.store, JobJudges(self.store, self.given), policy)
        limit = self.config.max_pages or MOST_VISITS
        job = self.config.job or None
        due = await asyncio.to_thread(self.visits.due, time.time(), limit, job)
        logger.info("%d pages are due.", len(due))
        if due:
            try:
                check_contact(self.settings["USER_AGENT"], self.config, [v.url for v in due])
            except UserError as error:
                self.mistake = error
                self.refuse()
        self.ends = time.monotonic() + 60 * self.config.max_minutes
        for rank, visit in enumerate(due):
            yield Request(
                visit.url,
                headers=visit.conditions,
                callback=self.arrived,
                errback=self.failed,
                dont_filter=True,
                priority=-rank,
                meta={VISIT: visit},
            )

    async def arrived(self, response: Response) -> None:
        """Tell the repository what came back."""
        look = Look(
            time=time.time(),
            status=response.status,
            url=response.url,
            headers=headers_of(response),
            body=response.body,
            failure="" if response.status in (200, 304) else failures.of_status(response.status),
            seconds=float(response.meta.get("download_latency", 0.0)),
        )
        await self._looked(response.meta[VISIT], look)

    async def failed(self, failure: Failure) -> None:
        """Tell the repository that nothing came back."""
        visit: Visit = failure.request.meta[VISIT]  # type: ignore[attr-defined]
        error = failure.value or Exception()
        look = Look(time=time.time(), failure=failures.of_exception(error))
        await self._looked(visit, look)

    async def _looked(self, visit: Visit, look: Look) -> None:
        try:
            async with self.turn:  # one at a time: judges and vocabulary are of one thread
                outcome = await asyncio.to_thread(self.visits.looked, visit, look)
        except RepositoryUnavailable as error:
            logger.error("%s", error)
            raise CloseSpider(REPOSITORY_UNAVAILABLE) from None
        self.found[outcome] += 1
        self.jobs.setdefault(visit.job, Counter())[outcome] += 1
        self.crawler.stats.inc_value(f"treasure/refresh/{outcome}")
        if self.config.max_minutes and time.monotonic() > self.ends:
            raise CloseSpider("max_minutes")

    async def closed(self, reason: str) -> None:
        """Write what was found into the journals of the jobs, and wait for the helper."""
        if self.store is None or not hasattr(self, "helper"):
            return
        await asyncio.to_thread(self.helper.close)
        try:
            for job, found in self.jobs.items():
                self.store.log(job, "refresh", summary(found), dict(found))
        except RepositoryUnavailable as error:
            logger.error("%s", error)
        finally:
            self.store.close()
        logger.info("Looked at %s.", summary(self.found))


def summary(found: Mapping[str, int]) -> str:
    """Return what a run found, in words."""
    parts = [f"{count:,} {outcome}" for outcome, count in sorted(found.items())]
    return f"{sum(found.values()):,} pages" + (f": {', '.join(parts)}" if parts else "")


def run(settings: Mapping[str, Any], arguments: Mapping[str, str]) -> dict[str, Any]:
    """Run the spider in this process, for ``treasure refresh``; return its stats."""
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.utils.project import get_project_settings

    project = get_project_settings()
    if addon.TreasureAddon.__module__ + ".TreasureAddon" not in project.getdict("ADDONS"):
        project.setmodule("treasure.settings", priority="project")
    project.update(settings, priority="cmdline")
    process = AsyncCrawlerProcess(project)
    crawler = process.create_crawler(RefreshSpider)
    process.crawl(crawler, **arguments)
    process.start()
    return dict(crawler.stats.get_stats())
