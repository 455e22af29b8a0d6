"""RepositoryPipeline: writes pages on topic, with everything that was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treasure.addon import workbench_of
from treasure.items import PageItem
from treasure.pipelines.writer import writer_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RepositoryPipeline:
    """Hands pages to the crawl's writer and closes it."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RepositoryPipeline:
        """Build the pipeline for one crawl."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Queue the page for the next transaction."""
        bench = workbench_of(self.crawler)
        if isinstance(item, PageItem) and bench is not None and item.draft.page is not None:
            writer_of(self.crawler).add(item.draft, bench.crawl.judge.verdict(item.draft.page))
        return item

    async def close_spider(self) -> None:
        """Write what still waits."""
        if workbench_of(self.crawler) is not None:
            await writer_of(self.crawler).close()
