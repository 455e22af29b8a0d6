"""``scrapy crawl``, with the exit codes of the ``treasure`` command.

2 is a user's mistake, 1 a crawl that something else kept from its work: it may be tried again.
"""

from __future__ import annotations

import argparse
import sys

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError

from treasure.addon import CONFIGURATION_ERROR
from treasure.errors import did_you_mean
from treasure.stopping import HINDERED, in_words


class Command(ScrapyCrawl):
    """Scrapy's command, and its exit code."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, and say with the exit code how it ended."""
        super().run(args, opts)
        if self._ran is None:
            return
        stats = self._ran.stats
        # A crawl that was asked to stop may have met something else on its way out.
        reason = stats.get_value("treasure/stopped") or stats.get_value("finish_reason", "")
        if reason != CONFIGURATION_ERROR and reason not in HINDERED:
            return
        self.exitcode = 2 if reason == CONFIGURATION_ERROR else 1
        error = stats.get_value("treasure/error")
        # Once more, where nobody has to look for it among Scrapy's own lines.
        told = error or f"the crawl stopped: {in_words(reason)}."
        print(f"treasure: {told}", file=sys.stderr)

    _ran: Crawler | None = None

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        try:
            self._ran = super()._create_crawler(spidercls)
        except KeyError:
            assert self.crawler_process is not None
            known = sorted(self.crawler_process.spider_loader.list())
            raise UsageError(
                f"There is no spider {spidercls!r}.{did_you_mean(str(spidercls), known)}"
                f" Known: {', '.join(known)}.",
                print_help=False,
            ) from None
        return self._ran
