"""Checks of the seeds: how many, on how many hosts, and whether they can be reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from treasure.addresses import AddressPolicy, addresses_of, proxy_of
from treasure.checkup.findings import NOTE, OK, PROBLEM, WARNING, Finding
from treasure.config import TreasureConfig
from treasure.urls import host_of

FEW_HOSTS = 3
MAX_RESOLVED = 50
"""Hosts that are looked up; a name server should not be flooded for a check."""


def check_seeds(spec: str, config: TreasureConfig) -> Iterator[Finding]:
    """Look at the seeds: how many, on how many hosts, and whether they can be reached."""
    from treasure.seeds import read_seeds

    if not spec:
        yield Finding("seeds", NOTE, "No seeds were given.", "Try --seeds seeds.txt.")
        return
    seeds = read_seeds(spec)
    hosts = Counter(host_of(seed) for seed in seeds)
    yield from _few(len(seeds), hosts)
    if config.web:
        yield from _in_web(seeds, config.web)
    else:
        yield from _resolvable(seeds, config)


def _few(count: int, hosts: Counter[str]) -> Iterator[Finding]:
    seeds = "1 seed" if count == 1 else f"{count} seeds"
    places = "one host" if len(hosts) == 1 else f"{len(hosts)} hosts"
    verb = "is" if count == 1 else "are"
    if len(hosts) < FEW_HOSTS:
        yield Finding(
            "seeds", WARNING,
            f"{seeds} on {places} {verb} few, because the crawl can leave a host only by the host's"
            " own links, and asks it for one page at a time.",
            f"Give seeds on {FEW_HOSTS} hosts or more; directories and link lists serve well.",
        )  # fmt: skip
    else:
        yield Finding("seeds", OK, f"{seeds} on {places}.")


def _in_web(seeds: list[str], path: str) -> Iterator[Finding]:
    from treasure.evaluation.virtual_web import VirtualWeb

    web = VirtualWeb.open(path)
    missing = [seed for seed in seeds if seed not in web]
    if missing:
        level = PROBLEM if len(missing) == len(seeds) else WARNING
        yield Finding(
            "seeds", level, f"{len(missing)} of them are not in {path}: {', '.join(missing[:3])}.",
            "topics.json beside it names seeds.",
        )  # fmt: skip
    else:
        yield Finding("seeds", OK, f"All of them are in {path}.")


def _resolvable(seeds: list[str], config: TreasureConfig) -> Iterator[Finding]:
    proxied = {urlsplit(seed).hostname or "": proxy_of(seed) for seed in seeds}
    asked = sorted(proxied)[:MAX_RESOLVED]
    with ThreadPoolExecutor(max_workers=16) as pool:
        addresses = dict(zip(asked, pool.map(_addresses, asked), strict=True))
    unknown = [name for name, found in addresses.items() if not found]
    lost = [name for name in unknown if not proxied[name]]
    if len(lost) == len(asked):
        yield Finding(
            "seeds", PROBLEM, f"No host of the seeds can be resolved ({', '.join(lost[:3])}): this"
            " machine has no network or no name server, or the names are wrong.",
            "Check the network; without one, crawl a virtual web with -a web=FILE.",
        )  # fmt: skip
        return
    if lost:
        yield Finding(
            "seeds", WARNING, f"{len(lost)} of {len(asked)} hosts cannot be resolved:"
            f" {', '.join(lost[:5])}.", "Mend or remove their seeds.",
        )  # fmt: skip
    policy = AddressPolicy(config.allowed_networks)
    private = [n for n, found in addresses.items() if any(not policy.allows(a) for a in found)]
    if private:
        yield Finding(
            "seeds", PROBLEM, f"{', '.join(private[:5])}: private addresses, which a crawl may not"
            " fetch from.", "Set TREASURE_ALLOWED_NETWORKS if that is intended.",
        )  # fmt: skip
    if left := len(unknown) - len(lost):
        yield Finding("seeds", OK, f"{left} of {len(asked)} hosts are left to the proxy.")
    elif not lost and not private:
        yield Finding("seeds", OK, "Every host can be resolved.")


def _addresses(name: str) -> list[str]:
    try:
        return addresses_of(name)
    except (OSError, UnicodeError):
        return []
