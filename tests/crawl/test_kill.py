"""kill -9 at any moment: nothing is lost, and nothing that was finished is fetched again.

In CI a crawl is killed 20 times; elsewhere a few times, or ``TREASURE_KILLS``.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crawl.crawling import ROOT, command, crawl, summary
from tests.crawl.small_web import addresses, served, visits
from tests.servers import RedisServer
from treasure.frontier.embedded import EmbeddedFrontier
from treasure.urls import url_key

KILLS = int(os.environ.get("TREASURE_KILLS") or (20 if os.environ.get("CI") else 3))
SITES = 8


def stored(runs: Path) -> set[str]:
    """Return the addresses whose result is in the repository."""
    if not (runs / "treasure.db").exists():
        return set()
    with sqlite3.connect(runs / "treasure.db") as database:
        return {url for (url,) in database.execute("SELECT url FROM pages WHERE job = 'k'")}


def unfinished_on_disk(runs: Path) -> Callable[[], tuple[set[int], set[int]]]:
    def look() -> tuple[set[int], set[int]]:
        if not (runs / "k" / "frontier" / "CURRENT").exists():
            return set(), set()
        frontier = EmbeddedFrontier(runs / "k" / "frontier")
        queued = {url_key(url) for url in frontier._shelf.all_urls()}  # those with a retry as well
        known = {key for url in ALL if frontier.seen(url) for key in [url_key(url)]}
        frontier.close()
        return known, queued

    return look


def unfinished_in_redis(server: RedisServer) -> Callable[[], tuple[set[int], set[int]]]:
    import redis

    def look() -> tuple[set[int], set[int]]:
        with redis.Redis.from_url(server.url) as client:
            queued = {int(key) for key in client.hkeys("treasure:{k}:links")}
            known = {
                int(key)
                for name in client.scan_iter(match="treasure:{k}:seen:*", count=1_000)
                for key in client.smembers(name)
            }
        return known, queued

    return look


ALL: set[str] = set()


@pytest.mark.slow
@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("home", ["embedded", "redis"])
def test_kill(home: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    draw = random.Random(home)
    with served(SITES, 10 + 3 * KILLS) as web:
        ALL.clear()
        ALL.update(addresses(web))
        arguments = [
            "topic=astronomy",
            f"seeds={next(iter(web))}/0",
            "allowed_networks=127.0.0.0/8",
            "job=k",
            "host_delay_seconds=0.1",
            "repository_batch_seconds=0.2",
            "frontier_lease_seconds=2",
        ]
        look = unfinished_on_disk(tmp_path)
        if home == "redis":
            server: RedisServer = request.getfixturevalue("own_redis_server")
            arguments.append(f"frontier={server.url}")
            look = unfinished_in_redis(server)
        finished: set[str] = set()
        for _ in range(KILLS):
            seen = len(visits(web))
            until = seen + draw.randrange(3 * SITES)
            _kill_after(
                command(tmp_path, *arguments),
                lambda until=until: len(visits(web)) >= until,
                draw.random() * 0.3,
            )
            again = {url for _, url in visits(web)[seen:]} & finished
            assert not again, "finished pages were fetched again"
            known, unfinished = look()
            finished = {url for url in ALL if url_key(url) in known - unfinished}
            assert finished <= stored(tmp_path), "done, but its result is not in the repository"
        seen = len(visits(web))
        last = crawl(tmp_path, *arguments)
        assert summary(last)["stopped"] == "finished"
        assert not {url for _, url in visits(web)[seen:]} & finished
        assert {url for _, url in visits(web)} == ALL, "pages were lost"
        assert stored(tmp_path) == ALL
        with sqlite3.connect(tmp_path / "treasure.db") as database:
            (twice,) = database.execute(
                "SELECT count(*) - count(DISTINCT url) FROM pages"
            ).fetchone()
        assert twice == 0


def _kill_after(line: list[str], reached: Callable[[], bool], seconds: float) -> None:
    """Start a crawl; kill it *seconds* after it has *reached* some point."""
    process = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not reached() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(seconds)
    process.kill()
    process.wait()
