"""Manners of a real crawl: what servers saw of us."""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import crawl, summary
from tests.crawl.sites import Answer, Site, gap

STARS = (
    "The telescope shows stars, planets and galaxies. Astronomers measure the orbit of a comet "
    "around the sun, and the light of a distant supernova in the constellation of Orion. "
)
LOCAL = ("topic=astronomy", "allowed_networks=127.0.0.0/8", "job=j", "host_delay_seconds=0.2")


def page(*links: str, head: str = "") -> str:
    anchors = "".join(f'<p>{STARS}<a href="{link}">stars and planets</a></p>' for link in links)
    body = f"<h1>Stars</h1><p>{STARS * 3}</p>{anchors}"
    return f"<html><head><title>Stars</title>{head}</head><body>{body}"


def rows(runs: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(runs / "treasure.db") as database:
        return database.execute(query).fetchall()


class Busy:
    """Refuses twice, then answers."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Answer:
        self.calls += 1
        if self.calls < 3:
            return 429, {"Retry-After": "1", "Content-Type": "text/html"}, b"later"
        return 200, {"Content-Type": "text/html"}, page().encode()


class Sick:
    """A robots.txt that fails once."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Answer:
        self.calls += 1
        if self.calls == 1:
            return 503, {}, b"down"
        return 200, {}, b"User-agent: *\nDisallow: /closed\nCrawl-delay: 0.5\n"


@pytest.fixture(scope="module")
def polite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, Site], Any]]:
    html = {"Content-Type": "text/html"}
    huge = b"User-agent: *\nDisallow: /secret\n" + b"Disallow: /" + b"x" * 30 + b"\n"
    busy = Site({"/robots.txt": (404, {}, b""), "/": Busy()})
    large = Site(
        {
            "/robots.txt": (200, {"Content-Type": "text/plain"}, huge + b"# filler\n" * 1_500_000),
            "/": page("/secret", "/open"),
            "/open": page(),
        }
    )
    sick = Site({"/robots.txt": Sick(), "/": page("/closed", "/a", "/b"), "/a": page()})
    rubbish = Site({"/robots.txt": (200, {}, bytes(range(256)) * 400), "/": page()})
    moved = Site({"/rules": (200, {}, b"User-agent: *\nDisallow: /no\n")})
    moved.pages |= {"/robots.txt": (301, {"Location": "/rules"}, b""), "/": page("/no")}
    main = Site({})
    names = "".join(f"<url><loc>{main.url}/{name}</loc></url>" for name in ("mapped", "private/y"))
    child = gzip.compress(f"<urlset>{names}</urlset>".encode())
    index = f"<sitemapindex><sitemap><loc>{main.url}/child.xml.gz</loc></sitemap></sitemapindex>"
    main.pages = {
        "/robots.txt": (
            200,
            {},
            f"User-agent: treasure\nDisallow: /private\nSitemap: {main.url}/map.xml".encode(),
        ),
        "/map.xml": (200, {"Content-Type": "text/xml"}, index.encode()),
        "/child.xml.gz": (200, {"Content-Type": "application/gzip"}, child),
        "/mapped": page(),
        "/": page(
            "/private/x", "/tagged", "/meta", f"{busy.url}/", f"{large.url}/", f"{rubbish.url}/",
            f"{moved.url}/", f"{sick.url}/",
        ),
        "/tagged": (200, html | {"X-Robots-Tag": "none"}, page("/behind-tag").encode()),
        "/meta": page("/behind-meta", head='<meta name="robots" content="noindex,nofollow">'),
    }  # fmt: skip
    runs = tmp_path_factory.mktemp("runs")
    sites = {"main": main, "busy": busy, "large": large, "rubbish": rubbish, "moved": moved}
    sites["sick"] = sick
    with main, busy, large, rubbish, moved, sick:
        contact = "contact=https://example.org/bot"
        done = crawl(runs, *LOCAL, f"seeds={main.url}/", contact, "retry_seconds=0.1")
        yield runs, sites, done


def test_the_crawl_ends_well(polite: tuple[Path, dict[str, Site], Any]) -> None:
    _, _, done = polite
    assert summary(done)["stopped"] == "finished"
    assert "Traceback" not in done.stderr


def test_robots_come_first_and_forbid(polite: tuple[Path, dict[str, Site], Any]) -> None:
    runs, sites, _ = polite
    for site in sites.values():
        assert site.paths[0] == "/robots.txt"
        assert site.paths.count("/robots.txt") == (2 if site is sites["sick"] else 1)
    asked = sites["main"].paths
    assert not [path for path in asked if path.startswith("/private")]
    refused = rows(runs, "select failure from pages where url like '%/private/%'")
    assert refused == [("robots.txt forbids it",)] * 2
    assert "/no" not in sites["moved"].paths


def test_huge_and_broken_robots(polite: tuple[Path, dict[str, Site], Any]) -> None:
    _, sites, _ = polite
    assert "/open" in sites["large"].paths
    assert "/secret" not in sites["large"].paths
    assert "/" in sites["rubbish"].paths


def test_every_request_keeps_the_delay(polite: tuple[Path, dict[str, Site], Any]) -> None:
    _, sites, _ = polite
    for name, site in sites.items():
        if name != "moved":  # a redirect of robots.txt is followed at once
            assert gap(site) >= 0.19, name


def test_a_robots_txt_that_fails_is_waited_for(
    polite: tuple[Path, dict[str, Site], Any],
) -> None:
    _, sites, _ = polite
    visits = sites["sick"].visits
    assert [visit.path for visit in visits[:3]] == ["/robots.txt", "/robots.txt", "/"]
    assert visits[1].time - visits[0].time >= 9.9
    assert "/closed" not in sites["sick"].paths
    crawled = [visit.time for visit in visits if visit.path != "/robots.txt"]
    assert len(crawled) == 3
    assert min(b - a for a, b in pairwise(crawled)) >= 0.49  # its Crawl-delay


def test_retry_after(polite: tuple[Path, dict[str, Site], Any]) -> None:
    runs, sites, _ = polite
    asked = [visit for visit in sites["busy"].visits if visit.path == "/"]
    assert len(asked) == 3
    assert asked[1].time - asked[0].time >= 1
    assert rows(runs, f"select status from pages where url = '{sites['busy'].url}/'") == [(200,)]


def test_sitemaps_lead_to_pages(polite: tuple[Path, dict[str, Site], Any]) -> None:
    runs, sites, _ = polite
    assert {"/map.xml", "/child.xml.gz", "/mapped"} <= set(sites["main"].paths)
    assert rows(runs, "select on_topic from pages where url like '%/mapped'") == [(1,)]
    assert not rows(runs, "select 1 from pages where url like '%.xml%'")


def test_sitemaps_do_not_count_as_pages(tmp_path: Path) -> None:
    listed = [f"/page/{number}" for number in range(9)]
    with Site({path: page() for path in listed}) as site:
        names = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in listed)
        site.pages |= {
            "/": page(*listed),
            "/robots.txt": f"Sitemap: {site.url}/one.xml\nSitemap: {site.url}/two.xml\n",
            "/one.xml": f"<urlset>{names}</urlset>",
            "/two.xml": f"<urlset>{names}</urlset>",
        }
        arguments = (*LOCAL, f"seeds={site.url}/", "max_pages=5", "host_delay_seconds=0")
        told = summary(crawl(tmp_path, *arguments))
        again = summary(crawl(tmp_path, *arguments))
    assert {"/one.xml", "/two.xml"} <= set(site.paths)
    assert (told["pages"], told["stopped"]) == (5, "max_pages")
    assert (again["pages"], again["stopped"]) == (0, "max_pages")


def test_a_page_that_is_tried_again_fails_once(tmp_path: Path) -> None:
    with Site({"/": page("/broken"), "/broken": (500, {}, b"")}) as site:
        done = crawl(tmp_path, *LOCAL, f"seeds={site.url}/", "retry_seconds=0")
        assert site.paths.count("/broken") == 3
    assert (summary(done)["pages"], summary(done)["failed"]) == (2, 1)


def test_noindex_and_nofollow(polite: tuple[Path, dict[str, Site], Any]) -> None:
    runs, sites, _ = polite
    paths = sites["main"].paths
    assert "/tagged" in paths
    assert "/meta" in paths
    assert "/behind-tag" not in paths
    assert "/behind-meta" not in paths
    kept = {url for (url,) in rows(runs, "select url from pages where on_topic")}
    assert not [url for url in kept if url.endswith(("/tagged", "/meta"))]


def test_the_user_agent_names_a_contact(polite: tuple[Path, dict[str, Site], Any]) -> None:
    _, sites, _ = polite
    agents = {visit.agent for site in sites.values() for visit in site.visits}
    assert len(agents) == 1
    assert agents.pop().endswith("(+https://example.org/bot)")


def test_the_live_web_needs_a_contact(tmp_path: Path) -> None:
    done = crawl(tmp_path, "topic=astronomy", "seeds=https://example.org/", check=False)
    assert done.returncode == 2
    assert "TREASURE_CONTACT" in done.stderr
    assert "Traceback" not in done.stderr


def test_pages_that_wait_for_robots_or_redirect_do_not_use_up_max_pages(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        leaves = [
            stack.enter_context(Site({"/": (302, {"Location": "/a"}, b""), "/a": page()}))
            for _ in range(6)
        ]
        index = stack.enter_context(Site({"/": page(*(f"{leaf.url}/" for leaf in leaves))}))
        done = crawl(tmp_path, *LOCAL, f"seeds={index.url}/", "max_pages=5")
    assert summary(done)["stopped"] == "max_pages"
    assert rows(tmp_path, "select count(*) from pages where status = 200") == [(5,)]
