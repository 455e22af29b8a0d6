"""Frontier, the contract: the links that wait, and which of them is next.

A link is *queued* once, *leased* when it is taken, and *done* when it is acknowledged. A lease
comes back to the queue when its worker dies. ``take`` applies the policy: score, politeness of the
host, ageing and exploration. Times are seconds of the caller's clock, so that tests and virtual
webs can have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """A queued link, with what must be known of it when it is fetched."""

    url: str
    """Canonical; the identity of the link (``urls.url_key``)."""
    score: float
    depth: int = 0
    referrer: str = ""
    anchor: str = ""
    context: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Anything JSON-able: the request of somebody else's spider, a sitemap's lastmod, ..."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A taken link and why it was its turn."""

    key: int
    entry: Entry
    score: float
    """Its score when it was taken (re-scoring included)."""
    ageing: float
    """What waiting added to its score."""
    explored: bool
    """True when the exploration share chose it, not its rank."""
    passed_over: int
    """How many better hosts were not allowed yet."""
    attempts: int = 0
    """How often it was taken before."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is where."""

    queued: int
    leased: int
    done: int
    hosts: int


class Frontier(Protocol):
    """What a crawl asks of its frontier. Every method returns after its effect is durable against
    the death of this process (``checkpoint`` makes it durable against loss of power)."""

    def push(self, entries: Sequence[Entry]) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new."""

    def take(self, now: float) -> Lease | None:
        """Lease the best link whose host is allowed now."""

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay."""

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored."""

    def release(self, key: int, *, not_before: float = 0.0) -> None:
        """Queue a leased link again, for a retry or because we stop."""

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; unknown keys are ignored."""

    def hold(self, host: str, until: float) -> None:
        """Take nothing from *host* before *until* (Retry-After, errors)."""

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep at least *seconds* between two requests to *host* (Crawl-delay, throttling)."""

    def next_time(self, now: float) -> float | None:
        """When ``take`` will give something again; None when nothing is queued."""

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        """Drop queued links whose URL is unwanted, for blocks; return how many."""

    def seen(self, url: str) -> bool:
        """Whether the URL was ever queued."""

    def peek(self, count: int) -> list[Entry]:
        """Return the best links, best first, as ranked now (hosts' delays left aside)."""

    def counts(self) -> Counts:
        """Count."""

    def hosts(self, count: int) -> list[tuple[str, int]]:
        """Return the hosts with the most queued links, largest first."""

    def checkpoint(self) -> None:
        """Make everything durable against loss of power."""

    def close(self) -> None:
        """Checkpoint and let go."""
