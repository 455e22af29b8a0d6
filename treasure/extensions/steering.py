"""SteeringExtension: reads the orders for this crawl and has them carried out.

Orders come from the repository, twice a second. The workers of a fleet that do not share a
repository pass them on through the frontier they share.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from treasure.addon import workbench_of
from treasure.addresses import AddressPolicy
from treasure.errors import UnavailableError, UnreadablePageError
from treasure.extensions.speed import speed_of
from treasure.extract import read_page
from treasure.fetch import FetchError, fetch_page
from treasure.orders import STANDING
from treasure.repository.jobs import Order
from treasure.scheduler import FrontierScheduler
from treasure.steering import Helm

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from treasure.pages import Page
    from treasure.workbench import Workbench

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
ORDERS = "orders"
"""The kind under which orders are shared through the frontier."""

_helms: WeakKeyDictionary[Crawler, Helm] = WeakKeyDictionary()


def helm_of(crawler: Crawler) -> Helm | None:
    """Return who carries out the orders of this crawl; None when nobody does."""
    return _helms.get(crawler)


class SteeringExtension:
    """Looks for orders."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._since = 0
        self._shared_version = 0
        self._known: dict[tuple[float, str, str], Order] = {}
        self._looking: asyncio.Future[None] | None = None
        self._call: Any = None
        self._pages: dict[str, Page | None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SteeringExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def _opened(self) -> None:
        bench, scheduler = workbench_of(self.crawler), self.crawler.engine.scheduler
        speed = speed_of(self.crawler)
        if bench is None or speed is None or not isinstance(scheduler, FrontierScheduler):
            return
        self._helm = _helms[self.crawler] = Helm(
            bench,
            scheduler,
            speed,
            lambda url: self._pages.pop(url, None) or _kept_page(bench, url),
        )
        scheduler.gates.append(self._helm.pause)
        try:
            self._carry_out(bench, bench.store.orders_since(bench.job), restart=True)
        except UnavailableError as error:
            logger.warning("Earlier orders could not be read: %s", error)
        self._call = create_looping_call(self._look)
        self._call.start(LOOK_SECONDS, now=False)

    async def _closed(self) -> None:
        if self._call is not None and self._call.running:
            self._call.stop()
        if self._looking is not None:
            await self._looking

    def _look(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        bench = workbench_of(self.crawler)
        assert bench is not None
        try:
            orders = await asyncio.to_thread(bench.store.orders_since, bench.job, self._since)
            for order in orders:
                if order.command == "relabel":  # may have to fetch: not here, where pages wait
                    url = str(order.payload.get("url", ""))
                    self._pages[url] = await asyncio.to_thread(_page, bench, url)
            self._carry_out(bench, orders)
            self._carry_out_shared(bench)
        except UnavailableError:
            self.crawler.stats.inc_value("treasure/steering/unavailable")

    def _carry_out(self, bench: Workbench, orders: list[Order], *, restart: bool = False) -> None:
        """Carry out new orders; after a restart, once more those that still hold."""
        for order in orders:
            self._since = order.id
            name = (order.time, order.command, order.author)
            if name in self._known:
                continue
            self._known[name] = order
            again = restart and order.applied_at is not None
            if again and order.command not in STANDING:
                continue
            answer = self._helm.carry_out(order, again=again)
            if not again:
                bench.store.applied(order.id, answer)
                bench.store.log(
                    bench.job,
                    "order",
                    f"{order.command}: {answer}",
                    {"author": order.author, "order": order.id, "payload": order.payload},
                )
                self.crawler.stats.inc_value(f"treasure/orders/{order.command}")
        if orders and not restart:
            told = [order._asdict() for order in self._known.values()]
            bench.frontier.share(ORDERS, json.dumps(told).encode())

    def _carry_out_shared(self, bench: Workbench) -> None:
        """Carry out what workers with another repository were told."""
        self._shared_version, kinds = bench.frontier.shared(self._shared_version)
        for fields in json.loads(kinds.get(ORDERS, b"[]")):
            order = Order(**fields)
            name = (order.time, order.command, order.author)
            if name not in self._known:
                self._known[name] = order
                self._helm.carry_out(order)


def _kept_page(bench: Workbench, url: str) -> Page | None:
    """Return the page at *url* from the repository or the virtual web."""
    for page_id in bench.store.find(url, bench.job):
        if html := bench.store.html(page_id):
            return read_page(url, html)
    return bench.web.page(url) if bench.web is not None else None


def _page(bench: Workbench, url: str) -> Page | None:
    """Return the page at *url*, fetched anew when it was not kept."""
    try:
        kept = _kept_page(bench, url)
        if kept is not None or bench.web is not None:
            return kept
        policy = AddressPolicy(bench.config.allowed_networks)
        return fetch_page(url, policy, contact=bench.config.contact)
    except (FetchError, UnreadablePageError):
        return None
