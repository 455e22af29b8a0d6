"""Crawls of a small web that something happens to while they run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crawl.crawling import ROOT, command
from tests.crawl.small_web import visits
from treasure.repository.store import Store

SECONDS = 120.0
"""Longest wait for anything; a loaded machine is slow, and no test asserts a time."""


class RunningCrawl:
    """A crawl in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Wait until *reached*; fail when the crawl ends before."""
        deadline = time.monotonic() + SECONDS
        while not reached():
            assert self.process.poll() is None, f"ended before {what}: {self.log[-3000:]}"
            assert time.monotonic() < deadline, f"never {what}: {self.log[-3000:]}"
            time.sleep(0.05)

    def ends(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(SECONDS)


@contextmanager
def crawling(
    runs: Path, *arguments: str, log: Path | None = None, **environment: str
) -> Iterator[RunningCrawl]:
    """Run a crawl of job ``f`` while the block runs."""
    log = log or runs.parent / "crawl.log"
    line = command(
        runs, "topic=astronomy", "job=f", "allowed_networks=127.0.0.0/8", "host_delay_seconds=0.05",
        "repository_batch_seconds=0.2", "retry_seconds=0.5", "main_text=later", *arguments,
    )  # fmt: skip
    with running(line, log, **environment) as crawl:
        yield crawl


@contextmanager
def running(line: list[str], log: Path, **environment: str) -> Iterator[RunningCrawl]:
    """Run the command *line* of a crawl while the block runs, and add what it says to *log*."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            line, cwd=ROOT, stdout=output, stderr=output, env={**os.environ, **environment}
        )
    try:
        yield RunningCrawl(process, log)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def asked(web, pages: int) -> Callable[[], bool]:
    """Return whether so many pages have been asked for."""
    return lambda: len(visits(web)) >= pages


def stored(repository: str) -> list[str]:
    """Return the addresses of all pages that were stored well."""
    store = Store.open(repository)
    try:
        with store.reading() as connection:
            rows = connection.exec_driver_sql(
                "SELECT url FROM pages WHERE job = 'f' AND status = 200 AND failure = ''"
            )
            return [url for (url,) in rows]
    finally:
        store.close()
