"""TGraphScoringMiddleware: scores the links of each page.

The scheduler asks it (``score``) what the links of a page are worth. It is named for its role in
the papers; whichever strategy runs, runs through it. Treasure's own spider yields one LinkBatch a
page. Requests of somebody else's spider are gathered into a batch here, scored by the link of the
page they follow, and queued together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response, TextResponse

from treasure.addon import is_native, workbench_of
from treasure.crawl import SEED_SCORE, Decision
from treasure.errors import UnreadablePageError
from treasure.extract import read_page
from treasure.interpreter import tidy
from treasure.items import FOUND, LEASE, ORIGIN, SCORE, Draft, LinkBatch, PageItem
from treasure.middlewares.desk import Breath, Desk
from treasure.pages import Page
from treasure.pipelines.repository import RepositoryPipeline
from treasure.pipelines.writer import writer_of
from treasure.scheduler import FrontierScheduler
from treasure.urls import canonical

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class TGraphScoringMiddleware:
    """Judges pages and scores their links, through the crawl's strategy."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.ours = is_native(crawler)
        self._breath = Breath()
        self.desk = Desk(self._breath, self._judge)
        self._preparing: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TGraphScoringMiddleware:
        """Build the middleware for one crawl."""
        return cls(crawler)

    async def score(self, batch: LinkBatch) -> Decision:
        """Decide about the page of *batch* and score those of its links that may be queued.

        In several turns of the event loop where it takes long. The caller sees to it that no other
        page comes in between.
        """
        bench = workbench_of(self.crawler)
        assert bench is not None
        links = bench.admission.admit(batch.page, batch.links, batch.lease)
        self._judge(batch)
        await self._breath.take()
        if batch.listing:
            return bench.crawl.listed(batch.page, links)
        url, depth, score = batch.page.url, 0, SEED_SCORE
        if batch.lease is not None:
            entry = batch.lease.entry
            url, depth, score = entry.meta.get(ORIGIN, entry.url), entry.depth, batch.lease.score
        learned = bench.crawl.learned(url, batch.page, links, depth=depth, score=score)
        await self._breath.take()
        return bench.crawl.scored(learned)

    def score_of(self, request: Request) -> float:
        """Return the score of one request: of a seed, or as its page's batch was scored."""
        return float(request.meta.get(SCORE, SEED_SCORE))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Send links to the scheduler, batch by batch; let items pass with what was decided."""
        if self.ours:
            await self._prepared()
            for output in await self.desk.decided(result, partial(self._outputs, response)):
                yield output
            return
        tidy()
        async for output in self._outputs(response, result):
            yield output

    async def _prepared(self) -> None:
        """Wait until the judge has all it needs for the first page."""
        bench = workbench_of(self.crawler)
        if self._preparing is None and bench is not None:
            self._preparing = asyncio.ensure_future(asyncio.to_thread(bench.prepare))
        if self._preparing is not None:
            await self._preparing

    def _judge(self, output: Any) -> None:
        """Judge the page of an output; the verdict is remembered until it is asked for."""
        bench = workbench_of(self.crawler)
        if bench is not None and isinstance(output, LinkBatch) and not output.listing:
            bench.crawl.judge.verdict(output.page)

    async def _outputs(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        scheduler: Any = self.crawler.engine.scheduler
        requests: list[Request] = []
        decision: Decision | None = None
        async for output in result:
            if isinstance(output, LinkBatch):
                decision = await scheduler.enqueue_links(output)
            elif isinstance(output, Request):
                requests.append(output)
            else:
                if isinstance(output, PageItem):
                    output.draft.decision = decision
                    if decision is not None:
                        output.draft.explanation = dict(decision.explanation)
                yield output
        for request in await self._foreign(response, requests):
            yield request

    async def _foreign(self, response: Response, requests: list[Request]) -> list[Request]:
        """Judge and record a page of somebody else's spider; score the requests it gave.

        A request gets the score of the link it follows; without such a link, the page's relevance,
        and of what is no page, its own score.
        """
        bench = workbench_of(self.crawler)
        if self.ours or bench is None:
            return requests
        lease = response.meta.get(LEASE)
        for request in requests:
            request.meta.pop(LEASE, None)  # copied along with response.meta by many spiders
            request.meta[SCORE] = lease.score if lease is not None else SEED_SCORE
        if not canonical(response.url) or not 200 <= response.status < 300:
            return requests  # a file or the like, or a failure that landing has recorded
        draft = Draft(lease, time.time(), response.url, response.status, body=response.body)
        try:
            page = _page_of(response)
        except UnreadablePageError as error:
            draft.failure = str(error)
            if writer_of(self.crawler).add(draft, None):
                self.crawler.stats.inc_value("treasure/pages/failed")
            return requests
        scheduler, batch = self.crawler.engine.scheduler, LinkBatch(page, page.links, lease)
        async with self.desk.turn:
            decision = await self.score(batch)
            if isinstance(scheduler, FrontierScheduler):
                decision = scheduler.recorded(batch, decision)
                _say_where(requests, batch, decision)
        scores: dict[str, float] = {}
        for link, score in zip(decision.links, decision.scores, strict=True):
            scores[link.url] = max(score, scores.get(link.url, 0.0))
        for request in requests:
            request.meta[SCORE] = scores.get(canonical(request.url), decision.verdict.relevance)
        kind = "on_topic" if decision.verdict.on_topic else "off_topic"
        self.crawler.stats.inc_value(f"treasure/pages/{kind}")
        draft.page, draft.decision = page, decision
        draft.explanation = dict(decision.explanation)
        writer_of(self.crawler).add(draft, decision.verdict)
        repository = self.crawler.get_item_pipeline(RepositoryPipeline)
        if decision.verdict.on_topic and repository is not None:
            repository.finish_beside()
        return requests


def _say_where(requests: list[Request], batch: LinkBatch, decision: Decision) -> None:
    """Let requests tell the scheduler where they were met."""
    page, links = batch.page, {link.url: link for link in decision.links}
    met = [link for request in requests if (link := links.get(canonical(request.url)))]
    contexts = dict(zip([link.url for link in met], page.contexts(met), strict=True))
    for request in requests:
        url = canonical(request.url)
        anchor = links[url].anchor_text if url in links else ""
        request.meta[FOUND] = {
            "depth": batch.depth,
            "referrer": page.url,
            "anchor": anchor,
            "context": contexts.get(url, ""),
        }


def _page_of(response: Response) -> Page:
    if isinstance(response, TextResponse):
        return read_page(response.url, response.text)
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    kind = content_type.partition(";")[0].strip().lower()
    raise UnreadablePageError(f"content type {kind or 'unknown'}")
