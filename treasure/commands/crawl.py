"""``scrapy crawl``, with exit code 2 for a user's mistake, as the ``treasure`` command has it."""

from __future__ import annotations

import argparse
import sys

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler

from treasure.addon import CONFIGURATION_ERROR


class Command(ScrapyCrawl):
    """Scrapy's command, and its exit code."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; a crawl that could not start for a mistake of the user's exits with 2."""
        super().run(args, opts)
        if self._ran is None:
            return
        if self._ran.stats.get_value("finish_reason") == CONFIGURATION_ERROR:
            self.exitcode = 2
            # Once more, where nobody has to look for it among Scrapy's own lines.
            print(f"treasure: {self._ran.stats.get_value('treasure/error')}", file=sys.stderr)

    _ran: Crawler | None = None

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._ran = super()._create_crawler(spidercls)
        return self._ran
