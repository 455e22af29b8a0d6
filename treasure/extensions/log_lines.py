"""LogLines: no line is made of a page that nobody will read.

Scrapy makes the lines of each page (crawled, scraped, dropped) and lets the handler throw them away
by its level, which takes as long as to write them. The line of a dropped item also ends up in a
circle with its exception, which keeps the page in memory until the next look for garbage.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure


class LogLines(LogFormatter):
    """Scrapy's lines, from the level on that is logged (``LOG_LEVEL``)."""

    def __init__(self, level: int) -> None:
        self.level = level

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LogLines:
        """Build the formatter for one crawl."""
        level = crawler.settings["LOG_LEVEL"]
        return cls(
            logging.getLevelNamesMapping().get(level, 0) if isinstance(level, str) else level
        )

    def crawled(  # type: ignore[override]  # the engine logs nothing then
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        """Tell of a response."""
        return super().crawled(request, response, spider) if self.level <= logging.DEBUG else None

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        """Tell of an item."""
        return super().scraped(item, response, spider) if self.level <= logging.DEBUG else None

    def dropped(  # type: ignore[override]
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult | None:
        """Tell of an item that was dropped, at the level that the exception names."""
        line = super().dropped(item, exception, response, spider)
        return line if line["level"] >= self.level else None
