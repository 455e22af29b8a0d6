"""BrowserMiddleware: has a browser render the pages that need one (scrapy-playwright).

A browser is fifty times slower than a plain request and loads whatever a page names. So it gets
only pages of hosts that are listed, or those that turned out to be an empty shell with scripts: the
shell's link goes back to the frontier and comes again, in its turn, for the browser. Delays,
robots.txt, budgets and explanations are the same, since it is the same link. Of what a page loads
besides, only scripts and data pass, and only from addresses the crawl may talk to.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import IgnoreRequest, NotConfigured

from treasure.addresses import AddressPolicy
from treasure.errors import ConfigError
from treasure.failures import TOO_LARGE
from treasure.items import LEASE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from treasure.frontier.base import Lease

logger = logging.getLogger(__name__)

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
WANTED = frozenset({"document", "script", "xhr", "fetch"})
RENDER_SECONDS = 20.0
MOST_SHELLS = 100_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class BrowserMiddleware:
    """Marks the requests that a browser makes."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.hosts = frozenset(crawler.settings.getlist("TREASURE_BROWSER_HOSTS"))
        self.render_shells = crawler.settings["TREASURE_BROWSER"] == "shells"
        self._shells: set[int] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BrowserMiddleware:
        """Build the middleware; without the setting there is none."""
        if not wanted(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    def is_shell(self, lease: Lease) -> bool:
        """Take in that the plain page of *lease* is an empty shell; tell whether to render it."""
        if not self.render_shells or lease.key in self._shells:
            return False
        if len(self._shells) >= MOST_SHELLS:
            self._shells.clear()
        self._shells.add(lease.key)
        return True

    def process_request(self, request: Request) -> None:
        """Hand the request to the browser when it is for one."""
        lease = request.meta.get(LEASE)
        if lease is None:
            return
        name = urlsplit(request.url).hostname or ""
        listed = name in self.hosts or any(
            host.startswith(".") and f".{name}".endswith(host) for host in self.hosts
        )
        if listed or lease.key in self._shells:
            self.crawler.stats.inc_value("treasure/browser/pages")
            request.meta["playwright"] = True
            request.meta["playwright_page_goto_kwargs"] = {
                "wait_until": "networkidle",
                "timeout": RENDER_SECONDS * 1000,
            }

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep the limit of size: a browser does not know it."""
        limit = self.crawler.settings.getint("DOWNLOAD_MAXSIZE")
        if request.meta.get("playwright") and limit and len(response.body) > limit:
            raise IgnoreRequest(TOO_LARGE)
        return response


class Refuse:
    """Says which of a page's own requests the browser does not make (True is no)."""

    def __init__(self, networks: list[str]) -> None:
        self._policy = AddressPolicy(networks)
        self._allowed: dict[str, bool] = {}

    async def __call__(self, request: Any) -> bool:
        """Refuse pictures, styles, fonts and the like, and forbidden addresses."""
        parts = urlsplit(request.url)
        if request.resource_type not in WANTED or parts.scheme not in ("http", "https"):
            return True
        host = parts.hostname or ""
        if host not in self._allowed:
            self._allowed[host] = await self._check(host)
        return not self._allowed[host]

    async def _check(self, host: str) -> bool:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except OSError:
            return False
        return all(self._policy.allows(str(address[4][0])) for address in found)


def wanted(settings: BaseSettings) -> bool:
    """Tell whether a crawl uses a browser at all."""
    return settings.get("TREASURE_BROWSER", "off") not in ("off", "", None)


def bring_in(settings: BaseSettings) -> None:
    """Set up scrapy-playwright; raise ConfigError when it is not there."""
    try:
        import scrapy_playwright  # noqa: F401
    except ImportError:
        raise ConfigError(
            "TREASURE_BROWSER needs scrapy-playwright: pip install 'treasure-crawler[browser]'."
        ) from None
    settings.set("DOWNLOAD_HANDLERS", {"http": HANDLER, "https": HANDLER}, priority="addon")
    settings.set("PLAYWRIGHT_ABORT_REQUEST", Refuse(_networks(settings)), priority="addon")
    settings.set("PLAYWRIGHT_MAX_PAGES_PER_CONTEXT", 4, priority="addon")
    launch: dict[str, Any] = {"headless": True, "timeout": 60_000}
    if (path := next(filter(None, map(shutil.which, BROWSERS)), None)) is not None:
        launch["executable_path"] = path
    if os.getuid() == 0:  # Chromium's sandbox refuses root
        launch["args"] = ["--no-sandbox"]
    settings.set("PLAYWRIGHT_LAUNCH_OPTIONS", launch, priority="addon")


def _networks(settings: BaseSettings) -> list[str]:
    try:
        AddressPolicy(settings.getlist("TREASURE_ALLOWED_NETWORKS"))
    except ConfigError:  # told when the workbench is built
        return []
    return settings.getlist("TREASURE_ALLOWED_NETWORKS")
