"""Somebody else's Scrapy project: a spider of theirs becomes focused by settings alone.

The project is made by ``scrapy startproject``; their spider knows nothing of us.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SPIDER = """
import scrapy
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class PagesSpider(CrawlSpider):
    name = "pages"
    start_urls = {seeds!r}
    rules = [Rule(LinkExtractor(), callback="parse_item", follow=True)]

    def parse_item(self, response):
        yield {{"url": response.url, "title": response.css("title::text").get()}}
"""
ADDON = """
ADDONS = {{"treasure.addon.TreasureAddon": 500}}
TREASURE_TOPIC = "astronomy"
TREASURE_WEB = {web!r}
TREASURE_RUNS_DIR = {runs!r}
TREASURE_MAX_PAGES = {pages}
"""
PAGES = 150


def scrapy(folder, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONWARNINGS": "default", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done


@pytest.fixture
def project(tmp_path, demo_folder, demo_topics):
    """A fresh project with their spider and our add-on."""
    scrapy(tmp_path, "startproject", "theirs")
    folder = tmp_path / "theirs"
    seeds = list(demo_topics["astronomy"].seeds)
    (folder / "theirs" / "spiders" / "pages.py").write_text(SPIDER.format(seeds=seeds))
    settings = folder / "theirs" / "settings.py"
    text = settings.read_text()
    web = str(demo_folder / "web.warc.gz")
    addon = ADDON.format(web=web, runs=str(tmp_path / "runs"), pages=PAGES)
    settings.write_text(text + addon)
    return folder


def items(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def harvest(found, topic):
    return len({item["url"] for item in found} & topic.targets)


def test_their_spider_becomes_focused(project, demo_topics):
    topic = demo_topics["astronomy"]
    focused = scrapy(project, "crawl", "pages", "-O", "ours.jsonl")
    scrapy(
        project, "crawl", "pages", "-O", "scrapys.jsonl", "-s", "TREASURE_ORDER=scrapy",
        "-s", f"CLOSESPIDER_PAGECOUNT={PAGES}", "-s", "DOWNLOAD_DELAY=0",
    )  # fmt: skip
    ours, scrapys = items(project, "ours.jsonl"), items(project, "scrapys.jsonl")
    assert "Traceback" not in focused.stderr
    assert "DeprecationWarning: treasure" not in focused.stderr
    assert 100 < len(ours) <= PAGES
    assert len(scrapys) > 100
    assert set(ours[0]) == {"url", "title"}
    assert harvest(ours, topic) > 40
    assert harvest(ours, topic) > 3 * harvest(scrapys, topic)


def test_our_spider_runs_there(project, demo_topics):
    seeds = ",".join(demo_topics["astronomy"].seeds)
    scrapy(project, "crawl", "treasure", "-a", f"seeds={seeds}", "-O", "found.jsonl")
    found = items(project, "found.jsonl")
    assert len(found) > 40
    assert {"url", "title", "relevance", "text"} <= set(found[0])
    assert harvest(found, demo_topics["astronomy"]) > 40
