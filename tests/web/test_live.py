"""A crawl of the served demo web: started, watched, paused, corrected and stopped in Chromium."""

import re
import time

import pytest

from tests.web.chromium import needs_chromium, shot
from tests.web.conftest import TOKEN
from tests.web.serving import proxy_of, serving
from treasure.repository.store import Store
from treasure.web.app import make_app

pytestmark = needs_chromium

PATIENCE_MS = 60_000
SLOWLY = {"host_delay_seconds": "0.15", "allowed_networks": "127.0.0.0/8"}


@pytest.fixture
def page_of_crawls(tmp_path, demo_web, monkeypatch):
    """Serve the demo web, and a page of an empty repository; give its address and what is asked."""
    with proxy_of(demo_web) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "")
        store = Store.open(f"sqlite:///{tmp_path / 'treasure.db'}")
        app = make_app(store, runs_dir=str(tmp_path), token=TOKEN, crawl_arguments=SLOWLY)
        with serving(app) as address:
            yield address, asked
        for job in store.jobs():
            store.order(job["job"], "stop", {}, "the end of a test")
        _until(lambda: app.state.starts.state("live")["state"] != "running")
        store.close()


def _until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def badge(tab, text):
    tab.locator("h1 + .badge", has_text=re.compile(f"^{text}$")).wait_for(timeout=PATIENCE_MS)


def silent(asked):
    before = len(asked)
    time.sleep(1.5)
    return len(asked) == before


def test_a_crawl_from_start_to_stop(tab, page_of_crawls, demo_topics):
    address, asked = page_of_crawls
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(f"{address}/crawls#token={TOKEN}")
    tab.wait_for_selector("text=No crawl yet.")
    tab.click("summary")
    tab.fill("input[name=topic]", "astronomy")
    tab.fill("input[name=job]", "live")
    tab.fill("input[name=contact]", "https://crawler.example/")
    tab.fill("textarea", "\n".join(demo_topics["astronomy"].seeds))
    tab.get_by_role("button", name="Start").click()
    badge(tab, "running")

    _until(lambda: len(asked) > 50)
    tab.get_by_role("button", name="Pause").click()
    badge(tab, "paused")
    _until(lambda: silent(asked))
    fetched = len(asked)
    tab.get_by_role("button", name="Resume").click()
    badge(tab, "running")
    _until(lambda: len(asked) > fetched + 20)

    tab.fill("input[aria-label='What to block']", "forum.example")
    tab.get_by_role("button", name="Block").click()
    tab.wait_for_selector("text=queued links left the frontier")
    tab.wait_for_selector("svg[aria-label='Waiting links by their score'] rect.column")
    shot(tab, "live")

    # The watchdog saves its graph every minute and at the end; a checkpoint is as good. In a
    # pause, so that the change we take back is not changed again meanwhile.
    tab.get_by_role("button", name="Pause").click()
    badge(tab, "paused")
    _until(lambda: silent(asked))
    tab.evaluate(
        """token => fetch('/api/jobs/live/orders', {method: 'POST',
        body: '{"command": "checkpoint"}',
        headers: {'Content-Type': 'application/json', 'X-Treasure-Token': token}})""",
        TOKEN,
    )
    tab.wait_for_selector("text=written:")
    tab.goto(f"{address}/crawls/live/tgraph")
    tab.get_by_role("button", name=re.compile("^Undo change")).first.click()
    tab.wait_for_selector("text=is taken back")
    tab.wait_for_selector("text=by hand: change")
    shot(tab, "undone")

    tab.goto(f"{address}/crawls/live")
    tab.get_by_role("button", name="Stop").click()
    badge(tab, "stopped")
    tab.wait_for_selector("text=It ended:")


def test_a_crawl_that_fails_to_start_says_why(tab, page_of_crawls):
    address, _ = page_of_crawls
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(f"{address}/crawls#token={TOKEN}")
    tab.click("summary")
    tab.fill("input[name=topic]", "astronomy")
    tab.fill("input[name=job]", "live")
    tab.fill("textarea", "http://directory.example/")
    tab.get_by_role("button", name="Start").click()
    tab.wait_for_selector("text=could not start")
    assert "TREASURE_CONTACT" in tab.inner_text(".notice.bad")
