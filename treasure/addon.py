"""TreasureAddon: brings Treasure into a Scrapy project.

``ADDONS = {"treasure.addon.TreasureAddon": 500}`` in anybody's settings gives the project our
spiders, scheduler, middlewares, pipelines and extensions. The order below is the order in which a
page meets them. ``TREASURE_ORDER = "scrapy"`` leaves the order of requests to Scrapy and still
judges and stores, for comparison.

The domain objects of a crawl are built once, by ``workbench_of``; a user's mistake in doing so
closes the spider with the reason ``configuration_error`` and one line in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.settings import BaseSettings, default_settings

from treasure import log_hygiene, workbench
from treasure.config import TreasureConfig
from treasure.contact import AGENT, check_contact, with_contact
from treasure.errors import ConfigError, UnavailableError, UserError
from treasure.middlewares import browser
from treasure.workbench import Workbench

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

CONFIGURATION_ERROR = "configuration_error"
UNAVAILABLE = "unavailable"

SCHEDULER = "treasure.scheduler.FrontierScheduler"
DOWNLOADER = "treasure.downloaders.unslotted.UnslottedDownloader"
PROJECT_DOWNLOADER = "treasure.downloaders.landing.LandingDownloader"
LOG_FORMATTER = "treasure.extensions.log_lines.LogLines"
SPIDER_MIDDLEWARES = {"treasure.middlewares.tgraph_scoring.TGraphScoringMiddleware": 950}
DOWNLOADER_MIDDLEWARES = {
    "treasure.middlewares.landing.LandingMiddleware": 1,
    "treasure.middlewares.address_guard.AddressGuardMiddleware": 60,
}
DOWNLOAD_HANDLERS = dict.fromkeys(
    ("http", "https"), "treasure.downloaders.http.HttpDownloadHandler"
)
ITEM_PIPELINES = {
    "treasure.pipelines.ddc_filter.DdcFilterPipeline": 100,
    "treasure.pipelines.repository.RepositoryPipeline": 200,
}
POLITE_DOWNLOADER_MIDDLEWARES = {
    "treasure.middlewares.given.GivenMiddleware": 50,
    "treasure.middlewares.politeness.PolitenessMiddleware": 90,
    "treasure.middlewares.robots.RobotsMiddleware": 100,
    "treasure.middlewares.browser.BrowserMiddleware": 110,
}
"""Only with our scheduler: they go by what was taken from the frontier, or give it back."""
BEHIND_REDIRECTS = {"treasure.middlewares.politeness.PolitenessMiddleware": 650}
"""Where a project's spider has it, whose redirects and retries are Scrapy's."""
EXTENSIONS = {
    "treasure.extensions.progress.ProgressExtension": 500,
    "treasure.extensions.speed.SpeedExtension": 510,
    "treasure.extensions.throttle.FrontierThrottle": 520,
    "treasure.extensions.steering.SteeringExtension": 530,
    "treasure.extensions.status.StatusExtension": 540,
    "treasure.extensions.score_log.ScoreLogExtension": 550,
    "treasure.extensions.metrics.MetricsExtension": 560,
    "treasure.extensions.report.ReportExtension": 570,
    "treasure.extensions.stall_meter.StallMeter": 580,
    "treasure.extensions.keeping.KeepingExtension": 580,
}

REPLACED_DOWNLOADER_MIDDLEWARES = ["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"]
REPLACED_EXTENSIONS = ["scrapy.extensions.throttle.AutoThrottle"]

# What Treasure's own spider does itself or does not need; it costs a third of Scrapy's time a page.
UNNEEDED_DOWNLOADER_MIDDLEWARES = [
    f"scrapy.downloadermiddlewares.{name}"
    for name in (
        "offsite.OffsiteMiddleware",
        "httpauth.HttpAuthMiddleware",
        "retry.RetryMiddleware",
        "redirect.MetaRefreshMiddleware",
        "redirect.RedirectMiddleware",
        "cookies.CookiesMiddleware",
    )
]
ORDINARY_DOWNLOADER_MIDDLEWARES = [
    f"scrapy.downloadermiddlewares.{name}"
    for name in (
        "downloadtimeout.DownloadTimeoutMiddleware",
        "defaultheaders.DefaultHeadersMiddleware",
        "useragent.UserAgentMiddleware",
        "stats.DownloaderStats",
    )
]
IN_THEIR_PLACE = {"treasure.middlewares.ordinary.OrdinaryMiddleware": 850}
UNNEEDED_SPIDER_MIDDLEWARES = [
    f"scrapy.spidermiddlewares.{name}"
    for name in (
        "start.StartSpiderMiddleware",
        "httperror.HttpErrorMiddleware",
        "referer.RefererMiddleware",
        "urllength.UrlLengthMiddleware",
        "depth.DepthMiddleware",
        "metacopy.MetaCopyDetectionMiddleware",
    )
]

_workbenches: WeakKeyDictionary[Crawler, Workbench | None] = WeakKeyDictionary()


def is_native(crawler: Crawler) -> bool:
    """Tell Treasure's own spider, which does retries, redirects and filtering, from a project's."""
    return bool(getattr(crawler.spidercls, "treasure_native", False))


def workbench_of(crawler: Crawler) -> Workbench | None:
    """Return the workbench of this crawl; None when the user must mend something first."""
    try:
        return _workbenches[crawler]
    except KeyError:
        pass
    try:
        _workbenches[crawler] = _build(crawler)
    except (UserError, UnavailableError) as error:
        mistake = isinstance(error, UserError)
        refuse(crawler, error, CONFIGURATION_ERROR if mistake else UNAVAILABLE)
        _workbenches[crawler] = None
    return _workbenches[crawler]


def _build(crawler: Crawler) -> Workbench:
    mistake = getattr(crawler.spider, "mistake", None)
    if mistake is not None:
        raise mistake
    config = TreasureConfig.read(crawler.settings)
    if config.order == "scrapy" and is_native(crawler):
        raise ConfigError(
            "TREASURE_ORDER=scrapy is for spiders of your own project. The order of ours is"
            " its strategy: for comparison give -a strategy=breadth-first."
        )
    seeds = getattr(crawler.spider, "seeds", ())
    bench = workbench.build(config, seeds, seeds_needed=is_native(crawler))
    try:
        starts = seeds or getattr(crawler.spider, "start_urls", ())
        check_contact(crawler.settings["USER_AGENT"], config, starts)
    except UserError:
        bench.close()
        raise
    return bench


def refuse(crawler: Crawler, error: Exception, reason: str = CONFIGURATION_ERROR) -> None:
    """Close the spider as soon as it is open, with one line that says why."""
    logger.error("%s", error)

    def close() -> None:
        raise CloseSpider(reason)

    crawler.signals.connect(close, signal=signals.spider_opened, weak=False)
    crawler.stats.set_value("treasure/error", str(error))


class TreasureAddon:
    """Puts Treasure's components into a project's settings."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TreasureAddon:
        """Build the add-on for one crawl."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Let ``scrapy crawl treasure`` find our spiders beside those of the project."""
        modules = settings.getlist("SPIDER_MODULES")
        if "treasure.spiders" not in modules:
            # A project's own value has a higher priority than an add-on's.
            priority = settings.getpriority("SPIDER_MODULES") or 0
            settings.set("SPIDER_MODULES", [*modules, "treasure.spiders"], priority=priority)

    def update_settings(self, settings: BaseSettings) -> None:
        """Bring in scheduler, middlewares, pipelines and extensions, and safe defaults."""
        log_hygiene.install()
        ours = is_native(self.crawler)
        if settings.get("TREASURE_ORDER", "treasure") != "scrapy":
            if not ours:
                _add(settings, "DOWNLOADER_MIDDLEWARES", BEHIND_REDIRECTS)
            _take_over_order(settings)
            if ours:
                settings.set("DOWNLOADER", DOWNLOADER, priority="addon")
        _add(settings, "SPIDER_MIDDLEWARES", SPIDER_MIDDLEWARES)
        _add(settings, "DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES)
        _add(settings, "ITEM_PIPELINES", ITEM_PIPELINES)
        _add(settings, "EXTENSIONS", EXTENSIONS)
        if not ours:
            settings.set("DOWNLOADER", PROJECT_DOWNLOADER, priority="addon")
        else:
            _leave_out(settings, "DOWNLOADER_MIDDLEWARES", UNNEEDED_DOWNLOADER_MIDDLEWARES)
            _leave_out(settings, "DOWNLOADER_MIDDLEWARES", ORDINARY_DOWNLOADER_MIDDLEWARES)
            _add(settings, "DOWNLOADER_MIDDLEWARES", IN_THEIR_PLACE)
            _leave_out(settings, "SPIDER_MIDDLEWARES", UNNEEDED_SPIDER_MIDDLEWARES)
            settings.set("LOG_FORMATTER", LOG_FORMATTER, priority="addon")
        if settings.get("TREASURE_WEB"):
            _stand_on_archive(settings)
        elif browser.wanted(settings):
            self._open_browser(settings)
        elif ours:
            _add(settings, "DOWNLOAD_HANDLERS", DOWNLOAD_HANDLERS)
        _introduce_ourselves(settings)
        # Scrapy starts so many workers for every page; our spider gives one item a page.
        settings.set("CONCURRENT_ITEMS", 1 if ours else 4, priority="addon")
        _close_doors(settings)
        # The whole download, first byte to last: a server that drips keeps a place no longer.
        settings.set("DOWNLOAD_TIMEOUT", 60, priority="addon")
        largest = settings.getint("TREASURE_MAX_PAGE_BYTES", TreasureConfig().max_page_bytes)
        settings.set("DOWNLOAD_MAXSIZE", largest, priority="addon")

    def _open_browser(self, settings: BaseSettings) -> None:
        try:
            browser.bring_in(settings)
        except UserError as error:
            refuse(self.crawler, error)


def _add(settings: BaseSettings, name: str, components: Mapping[str, int | str]) -> None:
    """Add *components*; where the project has its own place for one, that counts."""
    for key, value in components.items():
        settings[name].setdefault(key, value)


def _leave_out(settings: BaseSettings, name: str, components: Iterable[str]) -> None:
    for path in components:
        settings[name][path] = None


def _take_over_order(settings: BaseSettings) -> None:
    """Let the frontier say which request is next, and keep the delays of hosts."""
    settings.set("SCHEDULER", SCHEDULER, priority="addon")
    settings.set("CONCURRENT_REQUESTS", 32, priority="addon")
    # Pages that wait to be read were chosen before those ahead of them were learned from,
    # and are fetched again when a crawl is killed: a few are enough to keep it busy.
    settings.set("SCRAPER_SLOT_MAX_ACTIVE_SIZE", 250_000, priority="addon")
    _take_over_politeness(settings)
    _add(settings, "DOWNLOADER_MIDDLEWARES", POLITE_DOWNLOADER_MIDDLEWARES)
    _leave_out(settings, "DOWNLOADER_MIDDLEWARES", REPLACED_DOWNLOADER_MIDDLEWARES)
    _leave_out(settings, "EXTENSIONS", REPLACED_EXTENSIONS)


def _stand_on_archive(settings: BaseSettings) -> None:
    """Take a WARC file for the web: nothing to be polite to, and the same order every run."""
    archive = "treasure.downloaders.archive.ArchiveDownloadHandler"
    settings.set("DOWNLOAD_HANDLERS", {"http": archive, "https": archive}, priority="addon")
    # One page at a time, the next chosen when the last is read.
    settings.set("CONCURRENT_REQUESTS", 1, priority="addon")
    settings.set("SCRAPER_SLOT_MAX_ACTIVE_SIZE", 0, priority="addon")
    settings.set("TREASURE_HOST_DELAY_SECONDS", 0, priority="addon")
    # An archive gives the same answer again, and when the second try came would be chance.
    settings.set("TREASURE_RETRY_TIMES", 0, priority="addon")
    # What crawlers were asked not to follow when it was archived troubles nobody now.
    settings.set("TREASURE_OBEY_NOFOLLOW", False, priority="addon")


def _close_doors(settings: BaseSettings) -> None:
    """Have Scrapy listen for nobody, unless the project says so."""
    settings.set("TELNETCONSOLE_ENABLED", False, priority="addon")
    settings.set("REMOTE_CONTROL_ENABLED", False, priority="addon")
    if not settings.getbool("REMOTE_CONTROL_ENABLED"):
        # Scrapy imports it all the same, and aiohttp with it: 0.2 s.
        settings["EXTENSIONS_BASE"].pop("scrapy.extensions.remote_control.RemoteControl", None)


def _introduce_ourselves(settings: BaseSettings) -> None:
    """Put the contact into the user agent; Scrapy's own name would send webmasters to Scrapy."""
    agent, contact = str(settings["USER_AGENT"]), str(settings.get("TREASURE_CONTACT") or "")
    if agent == default_settings.USER_AGENT:
        agent = AGENT
    settings.set("USER_AGENT", with_contact(agent, contact), priority="cmdline")


def _take_over_politeness(settings: BaseSettings) -> None:
    """Give the frontier what the project says of delays: a second queue would blur its order."""
    delay = settings.getfloat("DOWNLOAD_DELAY")
    if delay and "TREASURE_HOST_DELAY_SECONDS" not in settings:
        settings.set("TREASURE_HOST_DELAY_SECONDS", delay, priority="addon")
    settings.set("DOWNLOAD_DELAY", 0, priority="cmdline")
    settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 1_000, priority="cmdline")
