"""Helm: carries out the orders of a running crawl.

Some orders do something once (stop, checkpoint, seeds, undo). The others state how things shall be
from now on (pause, speed, block, threshold, labels): a crawl that starts again reads them all in
their order and is where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Protocol

from treasure.crawl import SEED_SCORE
from treasure.errors import UserError
from treasure.frontier.base import Entry
from treasure.pages import Page, Verdict
from treasure.repository.jobs import Order
from treasure.repository.records import PageRecord
from treasure.speed import Speed
from treasure.strategies.base import Arrival
from treasure.tgraph.store import STATE_GRAPH
from treasure.workbench import Workbench

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
"""How often a paused crawl looks whether it may go on, besides being woken."""


class Crew(Protocol):
    """Who carries orders out: the scheduler."""

    def push(self, entries: Sequence[Entry]) -> None:
        """Queue *entries*."""

    def stop(self, reason: str) -> None:
        """Take no more links and end."""

    def wake(self) -> None:
        """Look for work now."""


class Pause:
    """A gate that somebody can shut."""

    def __init__(self) -> None:
        self.shut = False

    def opens_at(self, now: float) -> float:
        """Return *now* when open; a while later when not."""
        return now + PAUSE_SECONDS if self.shut else now

    def in_a_row(self, now: float) -> bool:  # noqa: ARG002
        """Tell that what is open is open."""
        return True

    def taken(self, now: float) -> None:
        """Take no notice."""


class Helm:
    """Carries out the orders of one crawl."""

    def __init__(
        self, bench: Workbench, crew: Crew, speed: Speed, find_page: Callable[[str], Page | None]
    ) -> None:
        self.bench = bench
        self.crew = crew
        self.speed = speed
        self.pause = Pause()
        self._find_page = find_page

    def carry_out(self, order: Order, *, again: bool = False) -> str:
        """Do what *order* says and return what came of it; *again* after a restart."""
        try:
            answer = str(getattr(self, f"_{order.command}")(**order.payload))
        except (UserError, KeyError, TypeError, ValueError, AttributeError) as error:
            answer = f"not done: {error}"
        if not again:
            logger.info("%s by %s: %s", order.command, order.author, answer)
        self.crew.wake()
        return answer

    def _pause(self) -> str:
        self.pause.shut = True
        return "paused; what is being fetched still lands"

    def _resume(self) -> str:
        self.pause.shut = False
        return "going on"

    def _stop(self) -> str:
        self.pause.shut = False
        self.crew.stop("stopped")
        return "ends as soon as what is being fetched has landed"

    def _checkpoint(self) -> str:
        self.bench.save()
        self.bench.frontier.checkpoint()
        counts = self.bench.frontier.counts()
        return f"written: {counts.done:,} done, {counts.queued:,} waiting"

    def _speed(
        self,
        pages_per_second: float | str | None = None,
        bytes_per_second: float | str | None = None,
    ) -> str:
        # "full" is no limit, which Speed writes as 0.
        if pages_per_second is not None:
            self.speed.pages_per_second = _limit(pages_per_second)
        if bytes_per_second is not None:
            self.speed.bytes_per_second = _limit(bytes_per_second)
        return self.speed.why(self.bench.clock()) or "as fast as politeness allows"

    def _block(self, rules: Sequence[str]) -> str:
        admission = self.bench.admission
        for rule in rules:
            admission.block(rule)
        left = self.bench.frontier.discard(lambda url: bool(admission.blocked(url)))
        return f"blocked {', '.join(rules)}; {left:,} queued links left the frontier"

    def _unblock(self, rules: Sequence[str]) -> str:
        known = [rule for rule in rules if self.bench.admission.unblock(rule)]
        return f"no longer blocked: {', '.join(known) or 'nothing, there was no such block'}"

    def _seeds(self, urls: Sequence[str]) -> str:
        new = [url for url in urls if not self.bench.frontier.seen(url)]
        self.crew.push([Entry(url, SEED_SCORE) for url in new])
        return f"{len(new)} seeds queued, {len(urls) - len(new)} were known"

    def _relabel(self, url: str, on_topic: bool) -> str:
        page = self._find_page(url)
        if page is None:
            return f"not done: the text of {url} was not kept and cannot be fetched"
        verdict = self.bench.crawl.judge.relabel(page, on_topic)
        self.bench.crawl.strategy.learn(Arrival(url, page, verdict))
        self._store_label(url, page, verdict)
        return f"{url} is {'on' if on_topic else 'off'} topic from now on; learned"

    def _threshold(self, threshold: float) -> str:
        before = self.bench.crawl.judge.threshold
        self.bench.crawl.judge.threshold = float(threshold)
        return f"pages are kept from {threshold:g} on (was {before:g})"

    def _undo(self, change: int, node: int | None = None) -> str:
        watchdog = self.bench.watchdog
        if watchdog is None:
            return "not done: this crawl has no watchdog, its T-Graph never changes"
        entry = watchdog.take_back(change, node)
        # At once, so that neither a crash nor the web page says otherwise.
        self.bench.store.save_state(self.bench.job, STATE_GRAPH, watchdog.graph.to_bytes())
        return f"change {change} ({entry.action} of node {entry.node}) is taken back"

    def _store_label(self, url: str, page: Page, verdict: Verdict) -> None:
        """Let the repository say the same of the page, with its text or without."""
        store = self.bench.store
        for page_id in store.find(url, self.bench.job)[:1]:
            row = store.page(page_id) or {}
            kept = {f.name: row[f.name] for f in fields(PageRecord) if f.name in row}
            kept |= {
                "relevance": verdict.relevance,
                "on_topic": verdict.on_topic,
                "unsure": False,
                "reason": verdict.reason,
                "text": page.main_text if verdict.on_topic else "",
                "html": page.html.encode() if verdict.on_topic else b"",
                "links": tuple(store.links(page_id)) if verdict.on_topic else (),
            }
            store.write([PageRecord(**kept)])


def _limit(rate: float | str) -> float:
    return 0.0 if rate == "full" else float(rate)
