"""``scrapy crawl``, with the exit codes of the ``treasure`` command.

2 is a user's mistake, 1 a crawl that something else kept from its work: it may be tried again.
"""

from __future__ import annotations

import argparse
import sys

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler

from treasure.addon import CONFIGURATION_ERROR
from treasure.stopping import HINDERED, in_words


class Command(ScrapyCrawl):
    """Scrapy's command, and its exit code."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl, and say with the exit code how it ended."""
        super().run(args, opts)
        if self._ran is None:
            return
        reason = self._ran.stats.get_value("finish_reason", "")
        # Once more, where nobody has to look for it among Scrapy's own lines.
        if reason == CONFIGURATION_ERROR:
            self.exitcode = 2
            print(f"treasure: {self._ran.stats.get_value('treasure/error')}", file=sys.stderr)
        elif reason in HINDERED:
            self.exitcode = 1
            print(f"treasure: the crawl stopped: {in_words(reason)}.", file=sys.stderr)

    _ran: Crawler | None = None

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._ran = super()._create_crawler(spidercls)
        return self._ran
