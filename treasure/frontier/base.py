"""Frontier, the contract: the links that wait, and which of them is next.

A link is *queued* once, *leased* when it is taken, and *done* when it is acknowledged. A lease
comes back to the queue when its worker dies. ``take`` applies the policy: score, politeness of the
host, ageing and exploration. Times are seconds of the caller's clock, so that tests and virtual
webs can have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec


# Sixty of these are made for every page: a Struct takes a fifth of a frozen dataclass's time.
class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A queued link, with what must be known of it when it is fetched."""

    url: str
    """Canonical; the identity of the link (``urls.url_key``)."""
    score: float
    depth: int = 0
    referrer: str = ""
    anchor: str = ""
    context: str = ""
    meta: Mapping[str, Any] = {}
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
    """How many better hosts were not allowed yet, counted up to ``PASSED_OVER_LIMIT``."""
    attempts: int = 0
    """How often it was taken before, but for leases that were given back untried."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is where."""

    queued: int
    leased: int
    done: int
    hosts: int


PASSED_OVER_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Policy:
    """How the next link is chosen; the same in every home.

    Links are ranked by ``score + rate * (fetches since they were queued)``. As the second part
    grows alike for all, the order is that of ``rate * sequence - score``, lowest first, which
    never changes while a link waits: nothing has to be rewritten. A link queued more than
    ``ageing_fetches`` fetches after another cannot overtake it.
    """

    delay: float = 1.0
    """Seconds between two requests to a host, from the start and from the end of the last."""
    concurrency: int = 1
    """Requests to one host at the same time."""
    ageing_fetches: int = 20_000
    """Fetches in which a waiting link's score grows by 1; 0 switches ageing off."""
    exploration: float = 0.0
    """Share of takes that draw a link at random: first a host that is allowed, then its link."""
    random_seed: int = 0
    max_links: int = 0
    """Queued links at which the worst are dropped; 0 keeps all."""
    max_pages: int = 0
    """Pages of the job at which no more links are given; 0 is no limit."""

    @property
    def rate(self) -> float:
        """What one fetch adds to the score of every waiting link."""
        return 1 / self.ageing_fetches if self.ageing_fetches else 0.0


class Frontier(Protocol):
    """What a crawl asks of its frontier.

    Every method returns after its effect is durable against the death of this process
    (``checkpoint`` makes it durable against loss of power).
    """

    pages_at_once: int
    """The links of how many pages are best pushed together, where so many are at hand."""

    def push(self, entries: Sequence[Entry], keys: Sequence[int] | None = None) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new.

        *keys* are those of the entries (``urls.url_key``), where the caller has them. A request of
        somebody else's spider that is more than its address (a form) has a key of its own.
        """

    @property
    def pages(self) -> int:
        """Links that were taken and not given back, by all workers of the job, as we know it."""

    def count_from(self, pages: int) -> None:
        """Take in that the job has *pages* from earlier runs."""

    def uncount(self) -> None:
        """Take in that a link which was taken is no page: a redirect, a sitemap, a page given."""

    def take(self, now: float, wanted: int = 1) -> Lease | None:
        """Lease the best link whose host is allowed now.

        *wanted* is how many the caller is about to take, one right after the other: a frontier on
        a server gets them all at once.
        """

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay."""

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored.

        Keys that were never taken, or never queued, are done as well and will not be fetched:
        the target of a redirect, an address that rel=canonical names.
        """

    def release(self, key: int, *, not_before: float = 0.0, tried: bool = True) -> None:
        """Queue a leased link again, for a retry or because we stop.

        Unless it was *tried*, this lease does not count among its attempts.
        """

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; ignored are the unknown and those that wait for a retry."""

    def hold(self, host: str, until: float) -> None:
        """Take nothing from *host* before *until* (Retry-After, errors)."""

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep at least *seconds* between two requests to *host* (Crawl-delay, throttling)."""

    def next_time(self, now: float) -> float | None:
        """When ``take`` will give something again; None when nothing is queued.

        Infinity when everything queued belongs to hosts with a download under way: then ask
        again after ``landed``.
        """

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        """Forget queued links whose URL is unwanted, for blocks; return how many."""

    def seen(self, url: str) -> bool:
        """Whether the URL was ever queued."""

    def peek(self, count: int) -> list[Entry]:
        """Return the best links, best first, as ranked now (hosts' delays left aside)."""

    def counts(self) -> Counts:
        """Count."""

    def hosts(self, count: int) -> list[tuple[str, int]]:
        """Return the hosts with the most queued links, largest first."""

    def sample(self, count: int) -> list[float]:
        """Return the scores of at most *count* links that are not done, drawn at random."""

    def share(self, kind: str, payload: bytes) -> None:
        """Let the other workers know: the newest *payload* of each *kind* is kept for them."""

    def shared(self, since: int) -> tuple[int, dict[str, bytes]]:
        """Return what was shared after version *since*, and the version to ask with next."""

    def checkpoint(self) -> None:
        """Make everything durable against loss of power."""

    def close(self) -> None:
        """Checkpoint and let go."""


class LonePages:
    """How many pages a job has, where no other worker takes any."""

    policy: Policy
    pages = 0

    def count_from(self, pages: int) -> None:
        """Take in that the job has *pages* from earlier runs."""
        self.pages = pages

    def uncount(self) -> None:
        """Take in that a link which was taken is no page: a redirect, a sitemap, a page given."""
        self.pages -= 1

    def is_full(self) -> bool:
        """Tell whether the job has all its pages."""
        return 0 < self.policy.max_pages <= self.pages
