"""``scrapy crawl``, with exit code 2 for a user's mistake, as the ``treasure`` command has it."""

from __future__ import annotations

import argparse

from scrapy.commands.crawl import Command as ScrapyCrawl

from treasure.addon import CONFIGURATION_ERROR


class Command(ScrapyCrawl):
    """Scrapy's command, and its exit code."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; remember the crawler, whose statistics say how it ended."""
        process = self.crawler_process
        super().run(args, opts)
        if process is None:
            return
        for crawler in getattr(self, "_crawlers", []):
            if crawler.stats.get_value("finish_reason") == CONFIGURATION_ERROR:
                self.exitcode = 2

    def _create_crawler(self, *args: object, **kwargs: object) -> object:
        crawler = super()._create_crawler(*args, **kwargs)
        self._crawlers = [crawler]
        return crawler
