"""Speed control in a real crawl: a ceiling, a schedule, AutoThrottle."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import crawl
from tests.crawl.sites import Answer, Site
from tests.crawl.test_politeness import page

LOCAL = ("topic=astronomy", "allowed_networks=127.0.0.0/8", "strategy=best-first", "job=j")


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Four hosts that link to each other: politeness to hosts does not limit the crawl."""
    opened = [Site({}) for _ in range(4)]
    for site in opened:
        links = [f"{other.url}/{i}" for other in opened for i in range(10)]
        site.pages = {"/robots.txt": (404, {}, b""), "/": page(*links)}
        site.pages |= {f"/{i}": page() for i in range(10)}
    with opened[0], opened[1], opened[2], opened[3]:
        yield opened


def test_the_ceiling_holds_over_all_hosts(sites: list[Site], tmp_path: Path) -> None:
    crawl(
        tmp_path, *LOCAL, f"seeds={sites[0].url}/", "host_delay_seconds=0", "max_pages=30",
        "max_pages_per_second=5", ROBOTSTXT_OBEY=False,
    )  # fmt: skip
    times = sorted(visit.time for site in sites for visit in site.visits)
    assert len(times) == 30
    for first, sixth in zip(times, times[5:], strict=False):
        assert sixth - first >= 0.95  # sent a second apart; the way takes its time


def test_a_schedule_that_says_stop(sites: list[Site], tmp_path: Path) -> None:
    done = crawl(
        tmp_path, *LOCAL, f"seeds={sites[0].url}/", "speed_windows=00:00-24:00 stop",
        "max_minutes=0.05",
    )  # fmt: skip
    assert not sites[0].visits
    assert '"stopped": "max_minutes"' in done.stderr


def test_a_wrong_window_is_one_line(tmp_path: Path) -> None:
    done = crawl(
        tmp_path, *LOCAL, "seeds=http://127.0.0.1/", "speed_windows=25:00-26:00 2/s", check=False
    )
    assert done.returncode == 2
    assert "'25:00-26:00 2/s' is no window" in done.stderr
    assert "Traceback" not in done.stderr


def test_autothrottle_feeds_the_frontier(tmp_path: Path) -> None:
    def slow() -> Answer:
        time.sleep(0.4)
        return 200, {"Content-Type": "text/html"}, page("/1", "/2", "/3", "/4").encode()

    with Site({"/robots.txt": (404, {}, b"")}) as site:
        site.pages |= dict.fromkeys(("/", "/1", "/2", "/3", "/4"), slow)
        crawl(
            tmp_path, *LOCAL, f"seeds={site.url}/", "host_delay_seconds=0.01",
            AUTOTHROTTLE_ENABLED=True, AUTOTHROTTLE_START_DELAY=0.1,
            AUTOTHROTTLE_TARGET_CONCURRENCY=0.5,
        )  # fmt: skip
        times = [visit.time for visit in site.visits if visit.path != "/robots.txt"]
    # Answers take 0.4 s; half a request at a time is one every 0.8 s after the last has ended.
    assert len(times) == 5
    assert min(b - a for a, b in itertools.pairwise(times)) >= 1.1
