"""Contact: whom a webmaster can turn to.

A crawler that asks strangers' servers for pages says in its user agent who runs it. Without that a
crawl of the live web does not start; virtual webs and private networks need nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from treasure import __version__
from treasure.addresses import addresses_of
from treasure.config import TreasureConfig
from treasure.errors import ConfigError

AGENT = f"treasure/{__version__}"
"""How we call ourselves; the contact is added to it."""
_URL = re.compile(r"https?://[^\s/]+\.[^\s]+")
_MAIL = re.compile(r"(?:mailto:)?[^\s@]+@[^\s@]+\.[^\s@]+")
_IN_AGENT = re.compile(r"https?://|[^\s@]+@[^\s@]+\.[^\s@]+")


def with_contact(agent: str, contact: str) -> str:
    """Return *agent* with the contact in it: ``treasure/1.0 (+https://example.org/bot)``."""
    return agent if not contact or contact in agent else f"{agent} (+{contact})"


def check_contact(agent: str, config: TreasureConfig, seeds: Sequence[str]) -> None:
    """Raise ConfigError when a crawl of the live web names nobody."""
    contact = config.contact
    if contact and not (_URL.fullmatch(contact) or _MAIL.fullmatch(contact)):
        raise ConfigError(
            f"TREASURE_CONTACT must be a URL or a mail address. Got {contact!r} instead."
        )
    if config.web or contact or _IN_AGENT.search(agent):
        return
    public = next((seed for seed in seeds if not _private(seed, config.allowed_networks)), None)
    if public is None and seeds:
        return
    raise ConfigError(
        "A crawl of the live web must say who runs it: webmasters look for a contact in the user"
        " agent. Give -a contact=https://example.org/about-our-crawler (or a mail address), or set"
        " TREASURE_CONTACT."
    )


def _private(seed: str, networks: Sequence[str]) -> bool:
    """Tell whether *seed* lies in a private network that the crawl may use."""
    if not networks:
        return False
    host = urlsplit(seed).hostname or ""
    try:
        addresses = addresses_of(host)
        allowed = [ip_network(network, strict=False) for network in networks]
    except (OSError, ValueError):
        return False
    return all(
        any(ip_address(address.partition("%")[0]) in network for network in allowed)
        for address in addresses
    )
