"""Somebody else's Scrapy project becomes focused by a few lines of settings."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.sites import Answer, Site, gap
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
MANY_WAYS = """
import scrapy
from scrapy.exceptions import IgnoreRequest
from scrapy.http import JsonRequest


class Refuse:
    def process_response(self, request, response):
        if "/refused" in response.url:
            raise IgnoreRequest("not this one")
        return response


class WaysSpider(scrapy.Spider):
    name = "ways"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {"books.spiders.ways.Refuse": 943},
        "ROBOTSTXT_OBEY": True,
        "RETRY_TIMES": 1,
    }

    async def start(self):
        names = "/moved", "/away", "/loop", "/flaky", "/down", "/busy", "/refused", "/gone", "/file"
        for path in names:
            yield self.ask(path, cb_kwargs={"way": path})
        yield self.ask("/file", cb_kwargs={"way": "twice"})
        for word in ("one", "two"):
            yield self.ask("/same", dont_filter=True, cb_kwargs={"way": word})
        yield scrapy.Request("data:,x", self.parse, errback=self.failed, cb_kwargs={"way": "data"})
        yield JsonRequest(self.start_url + "api", self.api, data={"page": 1})

    def ask(self, path, **more):
        url = self.start_url + path[1:]
        return scrapy.Request(url, self.parse, errback=self.failed, **more)

    def parse(self, response, way):
        yield {"way": way, "status": response.status}

    def api(self, response):
        page = response.json()["page"]
        yield {"way": f"api {page}"}
        if page < 3:
            # The meta of the last one with it, as many spiders have it.
            url, data = response.url, {"page": page + 1}
            yield JsonRequest(url, self.api, data=data, meta=response.meta)

    def failed(self, failure):
        way = failure.request.cb_kwargs["way"]
        yield {"way": way, "failed": failure.type.__name__}
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
    (folder / "books" / "spiders" / "ways.py").write_text(MANY_WAYS)
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


def run(
    project: Path, site: Site, job: str, order: str, spider: str = "books"
) -> list[dict[str, str]]:
    items = project / f"{job}.jsonl"
    line = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"start_url={site.url}/"]
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
    # What is stored can be searched and explained, as of a crawl of our own.
    assert rows(
        runs, "select depth, anchor from pages where job='ours' and url like '%/stars/1'"
    ) == [(2, "stars and planets")]
    assert json.loads(treasure(runs, "search", "telescope job:ours", "--json"))["total"] > 0
    told = treasure(runs, "explain", f"{site.url}/stars/1", "--job", "ours")
    assert f"{site.url}/stars" in told.partition("taken")[0]


class Times:
    """Answers with *first* so many times, then with a page."""

    def __init__(self, count: int, first: Answer) -> None:
        self.count, self.first = count, first

    def __call__(self) -> Answer:
        self.count -= 1
        return self.first if self.count >= 0 else (200, HTML, page().encode())


HTML = {"Content-Type": "text/html"}


def test_requests_of_every_kind_come_through(project: Path) -> None:
    sent = itertools.count(1)
    with Site({}) as other, Site({}) as site:
        site.pages = {
            "/robots.txt": (404, {}, b""),
            "/moved": (301, {"Location": "/there"}, b""),
            "/away": (302, {"Location": f"{other.url}/there"}, b""),
            "/loop": (302, {"Location": "/loop"}, b""),
            "/flaky": Times(1, (503, HTML, b"later")),
            "/down": (503, HTML, b"later"),
            "/busy": Times(1, (429, HTML | {"Retry-After": "1"}, b"later")),
            "/file": (200, {"Content-Type": "application/pdf"}, bytes(range(256))),
            "/api": lambda: (200, {}, json.dumps({"page": next(sent)}).encode()),
            "/refused": page(),
            "/there": page(),
            "/same": page(),
        }
        other.pages = {"/there": page()}
        found = run(project, site, "ways", "treasure", "ways")
        came = sorted(item["way"] for item in found if "failed" not in item)
        assert came == sorted(
            ["/moved", "/away", "/flaky", "/busy", "/file", "one", "two", "api 1", "api 2", "api 3"]
        )
        failed = {item["way"]: item["failed"] for item in found if "failed" in item}
        assert failed == dict.fromkeys(
            ("/loop", "/refused", "data"), "IgnoreRequest"
        ) | dict.fromkeys(("/down", "/gone"), "HttpError")
        assert len(found) == len(came) + len(failed)  # nobody was told twice
        assert site.paths.count("/down") == 2  # RETRY_TIMES = 1
        busy = [visit.time for visit in site.visits if visit.path == "/busy"]
        assert busy[1] - busy[0] > 0.9
        assert gap(site) > 0.19
        kept = dict(
            rows(project / "data" / "runs", "select url, failure from pages where failure <> ''")
        )
        assert {url.removeprefix(site.url): failure for url, failure in kept.items()} == {
            "/loop": "max redirections reached",
            "/refused": "not this one",
            "/gone": "HTTP status 404",
            "/down": "HTTP status 503",
            "/file": "content type application/pdf",
        }
        # Everything is done: the job that goes on asks for nothing again.
        site.visits.clear()
        again = run(project, site, "ways", "treasure", "ways")
        assert [item["way"] for item in again] == ["data"]
        assert site.paths == []


def ours_stars(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("/stars/")]


def ours_food(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("/food/")]
