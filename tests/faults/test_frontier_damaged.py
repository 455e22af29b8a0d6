"""A frontier that cannot be read ends the crawl with a reason, not with an endless loop."""

import time
from types import SimpleNamespace

import pytest
from scrapy.exceptions import CloseSpider
from scrapy.utils.test import get_crawler

from tests.crawl.crawling import crawl
from tests.crawl.small_web import served
from treasure.errors import JobError
from treasure.scheduler import FRONTIER_DAMAGED, FrontierScheduler
from treasure.stopping import HINDERED, in_words


@pytest.mark.parametrize("error", [JobError("The frontier is damaged."), KeyError("unexpected")])
def test_damage_met_on_the_way_stops_the_crawl(error, caplog):
    def take(now):
        raise error

    scheduler = FrontierScheduler(get_crawler())
    scheduler.bench = SimpleNamespace(
        frontier=SimpleNamespace(take=take),
        clock=time.monotonic,
        config=SimpleNamespace(max_pages=0),
    )
    assert scheduler.next_request() is None
    assert "cannot go on" in caplog.text
    assert not scheduler.has_pending_requests()
    with pytest.raises(CloseSpider) as stopped:
        scheduler._idle()
    assert stopped.value.reason == FRONTIER_DAMAGED
    assert FRONTIER_DAMAGED in HINDERED  # exit code 1
    assert in_words(FRONTIER_DAMAGED) == "the frontier could not be read; the log says why"


@pytest.mark.slow
def test_a_damaged_frontier_is_refused_in_one_line(tmp_path):
    arguments = ["topic=astronomy", "job=d", "allowed_networks=127.0.0.0/8", "main_text=later"]
    with served(2, 6) as web:
        seeds = f"seeds={next(iter(web))}/0"
        crawl(tmp_path, *arguments, seeds, "max_pages=4", "host_delay_seconds=0")
        for file in (tmp_path / "d" / "frontier").glob("MANIFEST-*"):
            file.write_bytes(b"rubbish" * 100)
        again = crawl(tmp_path, *arguments, seeds, check=False)
    assert again.returncode == 2, again.stderr[-3000:]
    assert "is damaged" in again.stderr
    assert "Traceback" not in again.stderr
