"""The scoring middleware: pages that wait are read in a row, decided about one by one."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from tests.strategies.small_web import brief, page, url
from treasure.crawl import Crawl, Decision, Learned
from treasure.items import LinkBatch
from treasure.middlewares import desk, tgraph_scoring
from treasure.middlewares.tgraph_scoring import TGraphScoringMiddleware
from treasure.spiders.treasure import TreasureSpider
from treasure.strategies.treasure import Treasure

PAGES = [page(title, f"The owl and its nest. [{title}let|owl]") for title in ("Owl", "Heron")]


class Recording(Crawl):
    """Writes down what is done to which page."""

    steps: list[str]

    def learned(self, url: str, *rest: Any, **more: Any) -> Learned:
        self.steps.append(f"learn {url}")
        return super().learned(url, *rest, **more)

    def scored(self, learned: Learned) -> Decision:
        self.steps.append(f"score {learned.arrival.url}")
        return super().scored(learned)


def test_pages_take_turns_and_others_run_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "WORK_SECONDS", -1.0)  # others have a turn whenever they may
    given = brief()
    crawl = Recording(given.judge, Treasure(given))
    steps = crawl.steps = []
    admission = SimpleNamespace(admit=lambda page, links, lease: links)
    bench = SimpleNamespace(crawl=crawl, admission=admission, prepare=given.judge.prepare)
    monkeypatch.setattr(tgraph_scoring, "workbench_of", lambda crawler: bench)
    crawler: Any = SimpleNamespace(spidercls=TreasureSpider)
    middleware = TGraphScoringMiddleware(crawler)
    crawler.engine = SimpleNamespace(scheduler=SimpleNamespace(enqueue_links=middleware.score))

    async def read(which: int) -> Any:
        steps.append(f"read {PAGES[which].url}")
        yield LinkBatch(PAGES[which], PAGES[which].links, None)

    async def arrive(which: int) -> None:
        response = HtmlResponse(PAGES[which].url)
        async for _ in middleware.process_spider_output(response, read(which)):
            pass

    async def others() -> None:
        while True:
            steps.append("others")
            await asyncio.sleep(0)

    async def both() -> None:
        waiting = asyncio.ensure_future(others())
        await asyncio.gather(arrive(0), arrive(1))
        waiting.cancel()

    asyncio.run(both())
    titles = ("Owl", "Heron")
    wanted = [f"read {url(title)}" for title in titles]
    wanted += [f"{step} {url(title)}" for title in titles for step in ("learn", "score")]
    assert [step for step in steps if step != "others"] == wanted
    places = [steps.index(step) for step in wanted]
    assert all("others" in steps[a:b] for a, b in pairwise(places))
