"""A crawl that is asked to stop ends soon, whatever servers do, and loses nothing."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.crawl.crawling import command
from tests.crawl.sites import Answer, Site
from tests.crawl.small_web import STARS
from tests.faults.crawls import RunningCrawl, running, stored
from treasure.frontier.embedded import EmbeddedFrontier

pytestmark = pytest.mark.slow
STORY = f"<title>Stars</title><p>{STARS * 3}"
NO_RULES: Answer = 404, {}, b""
WELL: Answer = 200, {"Content-Type": "text/html"}, STORY.encode()
UNFINISHED: Answer = (
    200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"}, b"5\r\nStars\r\n"
)  # fmt: skip


class Hanging:
    """An answer that does not come, or not to its end, until all is well again."""

    def __init__(self, first: Answer | None = None, then: Answer = WELL) -> None:
        self._first, self._then = first, then
        self.asked, self.well = threading.Event(), threading.Event()

    def __call__(self) -> Answer:
        was_well = self.well.is_set()
        self.asked.set()
        if self._first is None:
            self.well.wait()
        return self._then if was_well or self._first is None else self._first


def crawling(runs: Path, seed: str) -> AbstractContextManager[RunningCrawl]:
    """Run a crawl that would wait ten minutes for each of its servers."""
    line = command(
        runs, "topic=astronomy", "job=f", "allowed_networks=127.0.0.0/8", "host_delay_seconds=0.05",
        "main_text=later", f"seeds={seed}", DOWNLOAD_TIMEOUT=600,
    )  # fmt: skip
    return running(line, runs.parent / "crawl.log")


def test_servers_that_hang_do_not_keep_a_crawl_from_ending(tmp_path: Path) -> None:
    silent, silent_about_rules, cut = Hanging(), Hanging(then=NO_RULES), Hanging(UNFINISHED)
    hanging = silent, silent_about_rules, cut
    runs = tmp_path / "runs"
    with (
        Site({"/robots.txt": NO_RULES, "/": silent}) as one,
        Site({"/robots.txt": silent_about_rules, "/": WELL}) as two,
        Site({"/robots.txt": NO_RULES, "/": cut}) as three,
        Site({}) as start,
    ):
        links = [f"{site.url}/" for site in (one, two, three)]
        start.pages["/"] = STORY + "".join(f'<p>{STARS}<a href="{url}">stars</a>' for url in links)
        with crawling(runs, f"{start.url}/") as crawl:
            crawl.until(lambda: all(page.asked.is_set() for page in hanging), "waiting for all")
            crawl.process.send_signal(signal.SIGTERM)
            assert crawl.ends() == 0, crawl.log[-3000:]
            assert '"stopped": "shutdown"' in crawl.log
            assert "Traceback" not in crawl.log
        frontier = EmbeddedFrontier(runs / "f" / "frontier")
        assert {entry.url for entry in frontier.peek(9)} == set(links)
        frontier.close()
        for page in hanging:
            page.well.set()
        with crawling(runs, f"{start.url}/") as crawl:
            assert crawl.ends() == 0, crawl.log[-3000:]
    assert set(stored(f"sqlite:///{runs / 'treasure.db'}")) == {f"{start.url}/", *links}
