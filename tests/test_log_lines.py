from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from treasure.extensions.log_lines import LogLines
from treasure.spiders.treasure import TreasureSpider

ADDONS = {"treasure.addon.TreasureAddon": 500}
REQUEST = Request("http://a.test/")
RESPONSE = Response("http://a.test/", request=REQUEST)


def made(level: Any, exception: BaseException) -> list[bool]:
    """Return whether there are lines for a page that was crawled, scraped and dropped."""
    crawler = get_crawler(Spider, {"LOG_LEVEL": level})
    spider = crawler._create_spider("any")
    lines = LogLines.from_crawler(crawler)
    return [
        lines.crawled(REQUEST, RESPONSE, spider) is not None,
        lines.scraped({}, RESPONSE, spider) is not None,
        lines.dropped({}, exception, RESPONSE, spider) is not None,
    ]


@pytest.mark.parametrize("level", ["DEBUG", "NOTSET", logging.DEBUG, "MINE"])
def test_all_lines_are_made_where_they_are_logged(level: Any) -> None:
    assert made(level, DropItem("off topic", log_level="DEBUG")) == [True, True, True]


@pytest.mark.parametrize("level", ["INFO", logging.INFO])
def test_lines_below_the_level_are_not_made(level: Any) -> None:
    assert made(level, DropItem("off topic", log_level="DEBUG")) == [False, False, False]
    assert made(level, DropItem("broken")) == [False, False, True]


def test_other_spiders_keep_their_lines() -> None:
    class Theirs(Spider):
        name = "theirs"

    for spider, ours in ((TreasureSpider, True), (Theirs, False)):
        crawler = get_crawler(spider, {"ADDONS": ADDONS})
        crawler._apply_settings()
        assert isinstance(crawler.logformatter, LogLines) is ours
