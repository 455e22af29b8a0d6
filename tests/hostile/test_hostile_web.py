"""A crawl of the hostile web ends, within bounds, with every healthy page fetched."""

import resource
import sqlite3

import pytest

from tests.crawl.crawling import crawl, summary
from tests.hostile.server import HANDLERS, HEALTHY, HostileServer

PAGE = "a page"
EXPECTED = {
    "/truncated": "body shorter than announced",
    "/length-too-small": PAGE,
    "/chunks-broken": None,
    "/chunks-unfinished": "body shorter than announced",
    "/charset-lies": PAGE,
    "/charset-unknown": PAGE,
    "/invalid-utf8": PAGE,
    "/nul-bytes": PAGE,
    "/huge": "larger than allowed",
    "/endless": "larger than allowed",
    "/slow-loris": "timeout",
    "/slow-head": "timeout",
    "/silent": "timeout",
    "/bomb-gzip": "larger than allowed",
    "/bomb-deflate": "larger than allowed",
    "/bomb-brotli": "larger than allowed",
    "/bomb-zstd": "larger than allowed",
    "/deep": PAGE,
    "/many-links": PAGE,
    "/long-anchor": PAGE,
    "/redirect-loop": None,
    "/redirect-file": "redirect without a usable address",
    "/redirect-ftp": "redirect without a usable address",
    "/redirect-script": "redirect without a usable address",
    "/redirect-nowhere": "redirect without a usable address",
    "/redirect-rubbish": "redirect without a usable address",
    "/status-999": "HTTP status 999",
    "/status-500": "HTTP status 500",
    "/flaky": PAGE,
    "/image": "content type image/png",
    "/formula": PAGE,
    "/empty": PAGE,
    "/reset-at-once": "connection lost",
    "/reset-in-body": "body shorter than announced",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    runs = tmp_path_factory.mktemp("hostile")
    with HostileServer() as server:
        done = crawl(
            runs, "topic=astronomy", f"seeds={server.url()}", "job=hostile", "max_pages=1500",
            "strategy=breadth-first",  # traps are endless: the order must not depend on scores
            "host_delay_seconds=0", "host_concurrency=16", "allowed_networks=127.0.0.0/8",
            "retry_seconds=0.1", "max_page_bytes=3000000", "contact=test@example.org",
            DOWNLOAD_TIMEOUT=3, check=False,
        )  # fmt: skip
        assert (runs / "treasure.db").exists(), done.stderr[-3000:]
        with sqlite3.connect(runs / "treasure.db") as database:
            rows = database.execute("select url, status, failure, title from pages").fetchall()
        prefix = len(server.url("/")) - 1
        yield done, {url[prefix:]: row for url, *row in rows}, server


def test_the_crawl_ends_by_itself(crawled):
    done, _, _ = crawled
    assert done.returncode == 0, done.stderr[-3000:]
    assert summary(done)["stopped"] == "finished", "calendars and growing paths never ended"


def test_every_healthy_page_is_fetched(crawled):
    _, rows, _ = crawled
    assert {path for path in HEALTHY if rows.get(path, [0])[0] == 200} == set(HEALTHY)


@pytest.mark.parametrize("path", sorted(set(HANDLERS) - {"/", "/robots.txt"}))
def test_each_case_is_recorded(crawled, path):
    _, rows, _ = crawled
    assert path in rows, f"{path} was neither fetched nor recorded"
    status, failure, _ = rows[path]
    expected = EXPECTED.get(path)
    if expected == PAGE:
        assert (status, failure) == (200, "")
    elif expected:
        assert failure == expected


def test_private_addresses_were_never_asked(crawled):
    _, _, server = crawled
    with sqlite3.connect(":memory:"):
        assert not any("169.254" in path for path in server.hits)


def test_what_pages_say_reaches_no_log_line_raw(crawled):
    done, _, _ = crawled
    assert "\x1b[31m" not in done.stderr
    assert "\nforged log line" not in done.stderr


def test_memory_is_bounded(crawled):
    peak_kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak_kilobytes < 1_200_000
