"""Somebody else's Scrapy project becomes focused by a few lines of settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.sites import Site
from tests.crawl.test_politeness import page, rows
from tests.crawl.test_seeing import FOOD, treasure

SPIDER = """
import scrapy

class BookSpider(scrapy.Spider):
    name = "books"

    async def start(self):
        yield scrapy.Request(self.start_url, callback=self.parse, meta={"mine": 1})

    def parse(self, response):
        yield {"address": response.url, "heading": response.css("h1::text").get()}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.parse, cb_kwargs={})
"""
SETTINGS = """
BOT_NAME = "books"
SPIDER_MODULES = ["books.spiders"]
ITEM_PIPELINES = {"books.pipelines.Stamp": 300}
ROBOTSTXT_OBEY = False
ADDONS = {"treasure.addon.TreasureAddon": 500}
TREASURE_TOPIC = "astronomy"
TREASURE_ALLOWED_NETWORKS = ["127.0.0.0/8"]
TREASURE_CONTACT = "books@example.org"
TREASURE_HOST_DELAY_SECONDS = 0.2
TREASURE_STRATEGY = "best-first"
"""
PIPELINE = """
class Stamp:
    def process_item(self, item):
        item["stamp"] = "ours"
        return item
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "books" / "spiders").mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = books.settings\n")
    for name in ("__init__.py", "spiders/__init__.py"):
        (folder / "books" / name).write_text("")
    (folder / "books" / "settings.py").write_text(SETTINGS)
    (folder / "books" / "pipelines.py").write_text(PIPELINE)
    (folder / "books" / "spiders" / "books.py").write_text(SPIDER)
    return folder


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {
        "/": "<h1>Start</h1>" + FOOD + '<a href="/food">food</a> <a href="/stars">stars</a>',
        "/stars": page(*(f"/stars/{i}" for i in range(8))),
        "/food": f"<h1>Food</h1>{FOOD}" + "".join(f'<a href="/food/{i}">x</a>' for i in range(8)),
    }
    pages |= {f"/stars/{i}": page() for i in range(8)}
    pages |= {f"/food/{i}": f"<h1>Food</h1>{FOOD}" for i in range(8)}
    with Site(dict(pages)) as opened:
        yield opened


def run(project: Path, site: Site, job: str, order: str) -> list[dict[str, str]]:
    items = project / f"{job}.jsonl"
    line = [sys.executable, "-m", "scrapy", "crawl", "books", "-a", f"start_url={site.url}/"]
    line += ["-s", f"TREASURE_JOB={job}", "-s", f"TREASURE_ORDER={order}", "-O", str(items)]
    environment = {k: v for k, v in os.environ.items() if k != "SCRAPY_SETTINGS_MODULE"}
    done = subprocess.run(
        line, cwd=project, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    return [json.loads(text) for text in items.read_text().splitlines()]


def test_one_line_switches_the_order(project: Path, site: Site) -> None:
    found = run(project, site, "ours", "treasure")
    assert len(found) == 19
    assert all(item["stamp"] == "ours" for item in found)
    ours = list(site.paths)
    site.visits.clear()
    assert len(run(project, site, "theirs", "scrapy")) == 19
    assert sorted(set(site.paths)) == sorted(set(ours))
    runs = project / "data" / "runs"
    counts = dict(rows(runs, "select job, sum(on_topic) from pages group by job"))
    assert counts == {"ours": 9, "theirs": 9}
    # The stars were read before the food's own links, in our order only.
    assert max(map(ours.index, ours_stars(ours))) < min(map(ours.index, ours_food(ours)))
    told = json.loads(treasure(runs, "compare", "theirs", "ours", "--json"))
    assert [job["pages"] for job in told["jobs"]] == [19, 19]
    assert json.loads(treasure(runs, "status", "theirs", "--json"))["state"] == "ended"


def ours_stars(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("/stars/")]


def ours_food(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("/food/")]
