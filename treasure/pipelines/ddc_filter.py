"""DdcFilterPipeline: keeps pages on topic.

The verdict is the shared judge's: the scoring middleware may have asked before. What is off topic
leaves the pipelines here; its measurements still go to the repository, its content does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from treasure.addon import workbench_of
from treasure.items import PageItem
from treasure.pipelines.writer import writer_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class DdcFilterPipeline:
    """Drops what is off topic, and what is no page."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DdcFilterPipeline:
        """Build the pipeline for one crawl."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Pass on a page on topic with its verdict; drop the rest."""
        bench = workbench_of(self.crawler)
        if not isinstance(item, PageItem) or bench is None:
            return item
        stats = self.crawler.stats
        draft = item.draft
        writer = writer_of(self.crawler)
        if draft.page is None:
            if writer.add(draft, None):
                kind = "failed" if draft.failure else "redirected"
                stats.inc_value(f"treasure/pages/{kind}")
            raise DropItem(draft.failure or "redirect", log_level="DEBUG")
        verdict = bench.crawl.judge.verdict(draft.page)
        if not verdict.on_topic:
            stats.inc_value("treasure/pages/off_topic")
            writer.add(draft, verdict)
            raise DropItem("off topic", log_level="DEBUG")
        if draft.page.robots & {"noindex", "none"}:
            stats.inc_value("treasure/pages/noindex")
            writer.add(draft, replace(verdict, on_topic=False, reason="the site forbids indexing"))
            raise DropItem("noindex", log_level="DEBUG")
        stats.inc_value("treasure/pages/on_topic")
        item.topic = verdict.topic
        item.relevance = verdict.relevance
        item.numbers = list(verdict.numbers)
        item.language = draft.page.language
        item.text = draft.page.main_text
        return item
