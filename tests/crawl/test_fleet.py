"""Real worker processes on one frontier (Redis) and one repository (PostgreSQL)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy

from tests.crawl.crawling import ROOT, command
from tests.crawl.sites import Site
from tests.crawl.small_web import addresses, served, visits
from tests.servers import RedisServer

DELAY = 0.2
CLOCK_SECONDS = 0.05
"""What the workers' ideas of the server's time may differ by."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_workers_share_a_crawl(
    workers: int, redis_server: RedisServer, postgres_url: str, tmp_path: Path
) -> None:
    """Every page once, each host's delay kept by all, and one of four killed on the way."""
    job = f"fleet-{workers}-{os.getpid()}-{time.time_ns()}"
    with served(8, 12) as web:
        line = _line(tmp_path, web, job, redis_server.url, postgres_url)
        logs = [tmp_path / f"worker-{number}.log" for number in range(workers)]
        fleet = [_start(line, log) for log in logs]
        if workers == 4:
            _wait_for(lambda: len(visits(web)) >= 20)
            killed = fleet.pop()
            killed.kill()
            killed.wait()
            logs.pop()
        for worker in fleet:
            worker.wait(300)
        tails = [log.read_text()[-1_500:] for log in logs]
        assert [worker.returncode for worker in fleet] == [0] * len(fleet), tails
        urls = [url for _, url in visits(web)]
        pages = addresses(web)
        assert set(urls) == pages
        # What the one that was killed had in flight: one page a host at most.
        assert len(urls) - len(pages) <= (len(web) if workers == 4 else 0)
        assert min(map(_gap, web.values())) >= DELAY - CLOCK_SECONDS
        assert _stored(postgres_url, job) == sorted(pages)
    if workers == 2:
        told = [log.read_text().count("[treasure.summary]") for log in logs]
        assert told == [1, 1], tails


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_workers_count_to_max_pages_together(
    redis_server: RedisServer, postgres_url: str, tmp_path: Path
) -> None:
    """As many pages as were asked for, whoever fetches them and although one is killed."""
    job = f"fleet-limit-{os.getpid()}-{time.time_ns()}"
    with served(8, 12) as web:
        line = _line(tmp_path, web, job, redis_server.url, postgres_url, "max_pages=60")
        fleet = [_start(line, tmp_path / f"worker-{number}.log") for number in range(3)]
        _wait_for(lambda: len(visits(web)) >= 30)
        fleet[0].kill()
        for worker in fleet:
            worker.wait(300)
        assert [worker.returncode for worker in fleet[1:]] == [0, 0]
        assert len(_stored(postgres_url, job)) == 60
        again = _start(line, tmp_path / "again.log")
        assert again.wait(300) == 0
        assert len(_stored(postgres_url, job)) == 60


def _line(runs: Path, web: dict[str, Site], job: str, frontier: str, repository: str, *more: str):
    return command(
        runs,
        "topic=astronomy",
        f"seeds={next(iter(web))}/0",
        "allowed_networks=127.0.0.0/8",
        f"job={job}",
        f"host_delay_seconds={DELAY}",
        "repository_batch_seconds=0.2",
        f"frontier={frontier}",
        "frontier_lease_seconds=4",
        f"repository={repository}",
        *more,
    )


def _start(line: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(line, cwd=ROOT, stdout=output, stderr=output)


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


def _gap(site: Site) -> float:
    """Return the shortest time between two pages; robots.txt is each worker's own business."""
    times = sorted(visit.time for visit in site.visits if visit.path[1:].isdigit())
    return min(later - earlier for earlier, later in pairwise(times))


def _stored(url: str, job: str) -> list[str]:
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        found = connection.execute(
            sqlalchemy.text("SELECT url FROM pages WHERE job = :job"), {"job": job}
        )
        urls = sorted(row[0] for row in found)
    engine.dispose()
    return urls
