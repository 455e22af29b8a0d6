"""Patience: how long a download may take, and how long once the crawl shall end.

Scrapy ends a crawl when all that is under way has landed, and a server that hangs would keep it
for as long as a download may take. Whoever asks for a stop waits for seconds: systemd, Docker and
Scrapyd then kill. So what is under way when the crawl shall end has ``LAST_SECONDS``; what has not
landed by then is given up, and its link counts as not tried.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.asyncio import create_looping_call

from treasure.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

LAST_SECONDS = 5.0
LOOK_SECONDS = 0.5

_patiences: WeakKeyDictionary[Crawler, Patience] = WeakKeyDictionary()


def patience_of(crawler: Crawler) -> Patience:
    """Return the patience of this crawl."""
    patience = _patiences.get(crawler)
    if patience is None:
        patience = _patiences[crawler] = Patience(crawler)
    return patience


def told_to_end(crawler: Crawler) -> bool:
    """Tell whether the process was told to end (SIGTERM, Ctrl-C): somebody waits for it."""
    return not crawler.engine.running


class GivenUp(IgnoreRequest):
    """A download that the end of the crawl cut short.

    Its link is still taken, and goes back when the scheduler closes.
    """


class Patience:
    """The time limits of what a crawl waits for."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._limits: set[asyncio.Timeout] = set()
        self._last: float | None = None
        """When all must have landed, once the crawl shall end."""
        self._call: Any = create_looping_call(self._look)
        crawler.signals.connect(self._opened, signal=signals.spider_opened)
        crawler.signals.connect(self._closed, signal=signals.spider_closed)

    @property
    def is_over(self) -> bool:
        """Whether nothing is waited for any more."""
        return self._last is not None and asyncio.get_running_loop().time() >= self._last

    def limit(self, seconds: float) -> _Limit:
        """Raise TimeoutError after *seconds*, or GivenUp when the crawl shall end before."""
        return _Limit(self, seconds)

    def began(self, limit: asyncio.Timeout) -> None:
        """Take in that something is waited for."""
        self._shorten(limit)
        self._limits.add(limit)

    def ended(self, limit: asyncio.Timeout) -> None:
        """Take in that it is not waited for any more."""
        self._limits.remove(limit)

    def _opened(self) -> None:
        self._call.start(LOOK_SECONDS, now=False)

    def _closed(self) -> None:
        if self._call.running:
            self._call.stop()

    def _look(self) -> None:
        """Look whether the crawl shall end; Scrapy (2.19) has no signal for that."""
        engine = self.crawler.engine
        scheduler, slot = engine.scheduler, engine._slot
        # Another scheduler would not get the links back.
        if not isinstance(scheduler, FrontierScheduler) or slot is None:
            return
        if slot.closing is None and not scheduler.stop_reason:
            return
        self._call.stop()
        self._last = asyncio.get_running_loop().time() + LAST_SECONDS
        if self._limits:
            logger.info(
                "Downloads under way (%d) have %g s to end.", len(self._limits), LAST_SECONDS
            )
        for limit in self._limits:
            self._shorten(limit)

    def _shorten(self, limit: asyncio.Timeout) -> None:
        when = limit.when()
        if self._last is not None and when is not None and when > self._last:
            limit.reschedule(self._last)


class _Limit:
    """A time limit that ends sooner when the crawl shall end."""

    def __init__(self, patience: Patience, seconds: float) -> None:
        self._patience = patience
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._patience.began(self._timeout)

    async def __aexit__(self, *raised: Any) -> None:
        self._patience.ended(self._timeout)
        try:
            await self._timeout.__aexit__(*raised)
        except TimeoutError:
            if self._patience.is_over:
                raise GivenUp("the crawl ends") from None
            raise
