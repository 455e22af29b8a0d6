"""AddressPolicy: which network addresses a crawler may talk to.

Public addresses only, unless a network is allowed by name. Links, redirects, robots.txt and
sitemaps all end in a connection, so the policy is asked where names are resolved and again where
connections are made: a name that changes its mind in between (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from treasure.errors import ConfigError, TreasureError

NAT64 = IPv6Network("64:ff9b::/96")


class ForbiddenAddressError(TreasureError):
    """A host resolves to an address that the crawl may not talk to."""


class AddressPolicy:
    """Tells public from private, and knows the exceptions."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = []
        for network in allowed:
            try:
                self._allowed.append(ip_network(network, strict=False))
            except ValueError:
                raise ConfigError(
                    f"TREASURE_ALLOWED_NETWORKS: {network!r} is no network."
                    " Expected an address or a range such as 127.0.0.0/8."
                ) from None

    def allows(self, address: str) -> bool:
        """Tell whether we may connect to *address*."""
        try:
            parsed: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(parsed, IPv6Address):
            inner = parsed.ipv4_mapped or parsed.sixtofour
            if inner is None and parsed in NAT64:
                inner = IPv4Address(int(parsed) & 0xFFFFFFFF)
            if inner is not None:
                parsed = inner
        if any(parsed in network for network in self._allowed if network.version == parsed.version):
            return True
        return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved

    def check(self, host: str, address: str) -> None:
        """Raise ForbiddenAddressError when *address*, found for *host*, is not allowed."""
        if not self.allows(address):
            raise ForbiddenAddressError(
                f"{host} is at {address}, which is no public address."
                " TREASURE_ALLOWED_NETWORKS can allow it."
            )


def proxy_of(url: str) -> str:
    """Return the proxy that the environment names for *url*, as Scrapy reads it; else empty."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme, "")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def addresses_of(host: str) -> list[str]:
    """Return the addresses of *host*; raise OSError or UnicodeError when there are none."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
