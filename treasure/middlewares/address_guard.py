"""AddressGuardMiddleware: keeps the crawl away from private addresses, twice.

Before a request is sent its host is resolved, and the addresses are checked; those that passed are
kept here, and the first in Scrapy's DNS cache, so that the connection goes there and nowhere else.
The connection itself is checked again where it is made, whatever led to it: by our own download
handler (``treasure.downloaders.http``), and in Twisted's reactor for all others. robots.txt and
sitemaps are requests like all others.

Names are resolved in threads of their own: a name service that hangs must not hold up whatever else
runs in threads, such as the repository.

A proxy resolves names itself. The proxies of the environment (``https_proxy``) are the operator's
own choice, so connections to them pass; behind one, an address is checked where we can resolve it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import Request, signals
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest, NotConfigured
from scrapy.resolver import dnscache
from scrapy.utils.httpobj import urlparse_cached

from treasure.addresses import AddressPolicy, ForbiddenAddressError, addresses_of
from treasure.downloaders.patience import patience_of
from treasure.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

FRESH_SECONDS = 1_800.0
"""How long we trust an answer of the name service."""
MAX_HOSTS = 100_000
RESOLVING_THREADS = 32


class AddressGuardMiddleware:
    """Refuses requests to addresses that the policy does not allow."""

    def __init__(self, crawler: Crawler, policy: AddressPolicy) -> None:
        self.crawler = crawler
        self.policy = policy
        self._timeout = crawler.settings.getfloat("DNS_TIMEOUT")
        self._threads = ThreadPoolExecutor(RESOLVING_THREADS, thread_name_prefix="resolve")
        self._checked: dict[str, tuple[float, list[str]]] = {}
        """When each host was looked up, and the addresses that it may be found at."""
        self._proxies: frozenset[str] = frozenset()
        self._connect: Callable[..., Any] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AddressGuardMiddleware:
        """Build the guard; a crawl of an archive needs none."""
        if crawler.settings.get("TREASURE_WEB"):
            raise NotConfigured
        try:
            policy = AddressPolicy(crawler.settings.getlist("TREASURE_ALLOWED_NETWORKS"))
        except ConfigError:  # told when the workbench is built; until then, nothing is allowed
            policy = AddressPolicy()
        guard = cls(crawler, policy)
        crawler.signals.connect(guard._guard_connections, signal=signals.engine_started)
        crawler.signals.connect(guard._unguard_connections, signal=signals.engine_stopped)
        return guard

    async def process_request(self, request: Request) -> None:
        """Let a request pass when all addresses of its host are allowed."""
        parts = urlparse_cached(request)
        if parts.scheme not in {"http", "https"}:
            raise IgnoreRequest(f"the scheme {parts.scheme!r} is not fetched")
        host = parts.hostname or ""
        if request.meta.get("proxy") or self._known(host):
            return
        try:
            await self._look_up(host)
        except ForbiddenAddressError as error:
            self.crawler.stats.inc_value("treasure/refused/address")
            raise IgnoreRequest(str(error)) from None
        except (OSError, UnicodeError, TimeoutError) as error:
            if self._proxies:
                return  # the proxy may know the name
            # Said here, not by the download of a robots.txt that would be tried for minutes.
            raise CannotResolveHostError(f"{host}: {error}") from None

    async def addresses(self, host: str) -> list[str]:
        """Return where *host* is for connections, best first; raise where we may not go.

        Whoever finds that another one is better may put it first.
        """
        return self._known(host) or await self._look_up(host)

    def _known(self, host: str) -> list[str]:
        """Return the addresses that were found not long ago, if any."""
        checked, addresses = self._checked.get(host, (0.0, []))
        return addresses if checked + FRESH_SECONDS > time.monotonic() else []

    async def _look_up(self, host: str) -> list[str]:
        loop = asyncio.get_running_loop()
        lookup = loop.run_in_executor(self._threads, addresses_of, host)
        async with patience_of(self.crawler).limit(self._timeout):
            addresses = await lookup
        for address in addresses:
            self.policy.check(host, address)
        # Scrapy's default resolver speaks IPv4; an IPv6 address serves where no other does.
        addresses = sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)
        if len(self._checked) >= MAX_HOSTS:
            self._checked.clear()
        self._checked[host] = time.monotonic(), addresses
        dnscache[host] = addresses[0]
        return addresses

    def _guard_connections(self) -> None:
        """Check each connection where it is made, by its numeric address."""
        reactor = _reactor()
        connect = self._connect = reactor.connectTCP
        self._proxies = _proxies()

        def guarded(host: str, *args: Any, **kwargs: Any) -> Any:
            if host not in self._proxies:
                self.policy.check(host, host)
            return connect(host, *args, **kwargs)

        reactor.connectTCP = guarded

    def _unguard_connections(self) -> None:
        if self._connect is not None:
            _reactor().connectTCP = self._connect
        self._threads.shutdown(wait=False, cancel_futures=True)


def _proxies() -> frozenset[str]:
    """Return names and addresses of the proxies that the environment names."""
    found = set()
    for kind, proxy in getproxies().items():
        name = urlsplit(proxy if "://" in proxy else f"//{proxy}").hostname
        if kind in {"http", "https", "all"} and name:
            try:
                found.update([name, *addresses_of(name)])
            except OSError:
                found.add(name)
    return frozenset(found)


def _reactor() -> Any:
    from twisted.internet import reactor  # not before Scrapy has installed it

    return reactor
