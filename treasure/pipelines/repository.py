"""RepositoryPipeline: writes pages on topic, with everything that was measured.

From the first page on topic on, a process beside the crawl finishes what is stored: main text,
language, duplicates, search index.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from treasure.addon import workbench_of
from treasure.downloaders.patience import told_to_end
from treasure.items import PageItem
from treasure.pipelines.writer import writer_of
from treasure.repository.helper import WAIT_SECONDS, Helper
from treasure.workbench import repository_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


HURRIED_SECONDS = 2.0
"""How long the helper has when the process was told to end."""


class RepositoryPipeline:
    """Hands pages to the crawl's writer and closes it."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.helper: Helper | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RepositoryPipeline:
        """Build the pipeline for one crawl."""
        return cls(crawler)

    def open_spider(self) -> None:
        """Have the writer listen from the first page on: it records what goes wrong, too."""
        if workbench_of(self.crawler) is not None:
            writer_of(self.crawler)

    def process_item(self, item: Any) -> Any:
        """Queue the page for the next transaction."""
        bench = workbench_of(self.crawler)
        if isinstance(item, PageItem) and bench is not None and item.draft.page is not None:
            writer_of(self.crawler).add(item.draft, bench.crawl.judge.verdict(item.draft.page))
            self.finish_beside()
        return item

    def finish_beside(self) -> None:
        """Have a process beside the crawl finish what is stored, unless one does already."""
        bench = workbench_of(self.crawler)
        if self.helper is None and bench is not None and bench.config.main_text != "later":
            self.helper = Helper(repository_url(bench.config), bench.config.main_text)

    async def close_spider(self) -> None:
        """Write what still waits, and give the helper a while to finish it."""
        if workbench_of(self.crawler) is not None:
            await writer_of(self.crawler).close()
        if self.helper is None:
            return
        seconds = HURRIED_SECONDS if told_to_end(self.crawler) else WAIT_SECONDS
        if not await asyncio.to_thread(self.helper.close, seconds):
            logger.info("Not all stored pages are indexed yet: `treasure refresh` does the rest.")
