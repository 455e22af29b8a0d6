"""Turns: which host may be asked now, and which of those has the best link.

A host with queued links is in one of three places: *ready*, in a heap by its best link; *waiting*
for its delay, in a heap by time; or *busy* with as many downloads as it is allowed. A slow host
therefore never stands in the way of another, and a choice costs the logarithm of the number of
hosts. Entries of the heaps are never removed when they grow stale; they are recognised when met.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from math import inf
from random import Random
from typing import Generic, TypeVar

from treasure.frontier.base import PASSED_OVER_LIMIT, Policy

Rank = TypeVar("Rank", tuple[float, int], bytes)
"""``rate * sequence - score`` and the number of arrival, or bytes that sort alike: the lowest is
the best. No two links have the same."""

_EMPTY, _BUSY, _WAITING, _READY = range(4)


class Host(Generic[Rank]):
    """What is remembered of one host."""

    __slots__ = (
        "active",
        "allowed_at",
        "blocked_with",
        "delay",
        "name",
        "number",
        "place",
        "queued",
        "top",
    )

    def __init__(self, name: str, number: int, delay: float) -> None:
        self.name = name
        self.number = number
        self.delay = delay
        self.allowed_at = -inf
        self.active = 0
        self.queued = 0
        """Links that may be taken."""
        self.top: Rank | None = None
        """The best of them."""
        self.blocked_with: Rank | None = None
        self.place = _EMPTY


class Turns(Generic[Rank]):
    """All hosts and whose turn it is."""

    def __init__(self, policy: Policy) -> None:
        self.delay = policy.delay
        self.concurrency = policy.concurrency
        self.by_number: list[Host[Rank]] = []
        self._by_name: dict[str, Host[Rank]] = {}
        self._ready: list[tuple[Rank, Host[Rank]]] = []
        self._waiting: list[tuple[float, int]] = []
        self._blocked: list[tuple[Rank, Host[Rank]]] = []
        self._now = -inf

    def host(self, name: str) -> Host[Rank]:
        """Return the host of that name, new or not."""
        host = self._by_name.get(name)
        if host is None:
            host = self._by_name[name] = Host(name, len(self.by_number), self.delay)
            self.by_number.append(host)
        return host

    def ranked(self, host: Host[Rank], top: Rank | None) -> None:
        """Take in that *top* is now the best link of *host*."""
        if top != host.top:
            host.top = top
            self._settle(host)

    def choose(self, now: float) -> Host[Rank] | None:
        """Return the host whose turn it is."""
        self._wake(now)
        ready = self._ready
        while ready:
            rank, host = ready[0]
            if host.place == _READY and rank == host.top:
                if host.allowed_at <= now:
                    return host
                self._settle(host)  # the caller's clock went back
            heapq.heappop(ready)
        return None

    def draw(self, now: float, random: Random) -> Host[Rank] | None:
        """Return any host that is allowed now."""
        best = self.choose(now)
        for _ in range(20 if best else 0):  # stale entries are at most every second one
            rank, host = self._ready[random.randrange(len(self._ready))]
            if host.place == _READY and rank == host.top and host.allowed_at <= now:
                return host
        return best

    def passed_over(self, rank: Rank) -> int:
        """Count the hosts that have a better link than *rank* but are not allowed now."""
        heap = self._blocked
        better: list[tuple[Rank, Host[Rank]]] = []
        while heap and heap[0][0] < rank and len(better) < PASSED_OVER_LIMIT:
            entry = heapq.heappop(heap)
            top, host = entry
            if top == host.top and _EMPTY < host.place < _READY:
                better.append(entry)
            elif host.blocked_with == top:
                host.blocked_with = None
        for entry in better:
            heapq.heappush(heap, entry)
        return len(better)

    def started(self, host: Host[Rank], now: float, top: Rank | None) -> None:
        """Take in that a download from *host* begins, which leaves *top* as its best link."""
        host.active += 1
        host.allowed_at = max(host.allowed_at, now + host.delay)
        host.top = top
        self._settle(host)

    def landed(self, host: Host[Rank], now: float = -inf) -> None:
        """Take in that a download from *host* ended."""
        host.active -= 1
        host.allowed_at = max(host.allowed_at, now + host.delay)
        self._now = max(self._now, now)
        self._settle(host)

    def hold(self, host: Host[Rank], until: float) -> None:
        """Take nothing from *host* before *until*."""
        if until > host.allowed_at:
            host.allowed_at = until
            self._settle(host)

    def next_time(self, now: float) -> float:
        """Return when ``choose`` will name a host; infinity when only a landing can tell."""
        if self.choose(now) is not None:
            return now
        return self._waiting[0][0] if self._waiting else inf

    def best(self, count: int) -> list[Host[Rank]]:
        """Return the hosts with the best links, best first, allowed or not."""
        tops = ((host.top, host) for host in self.by_number if host.top is not None)
        return [host for _, host in heapq.nsmallest(count, tops)]

    def largest(self, count: int) -> list[Host[Rank]]:
        """Return the hosts with the most links, largest first."""
        filled = (host for host in self.by_number if host.queued)
        return heapq.nlargest(count, filled, key=lambda host: (host.queued, -host.number))

    def __iter__(self) -> Iterator[Host[Rank]]:
        return iter(self.by_number)

    def __len__(self) -> int:
        return len(self.by_number)

    def _wake(self, now: float) -> None:
        """Make hosts ready whose time has come, and keep the earliest valid one in front."""
        self._now = now
        waiting = self._waiting
        while waiting:
            at, number = waiting[0]
            host = self.by_number[number]
            if host.place == _WAITING and at == host.allowed_at:
                if at > now:
                    return
                self._settle(host)
            heapq.heappop(waiting)

    def _settle(self, host: Host[Rank]) -> None:
        """Put *host* where it belongs."""
        if host.top is None:
            host.place = _EMPTY
            return
        if host.active < self.concurrency and host.allowed_at <= self._now:
            host.place = _READY
            heapq.heappush(self._ready, (host.top, host))
            self._tidy(self._ready)
            return
        if host.active >= self.concurrency:
            host.place = _BUSY
        else:
            host.place = _WAITING
            heapq.heappush(self._waiting, (host.allowed_at, host.number))
            if len(self._waiting) > 2 * len(self.by_number) + 64:
                self._waiting[:] = [(h.allowed_at, h.number) for h in self if h.place == _WAITING]
                heapq.heapify(self._waiting)
        if host.blocked_with != host.top:
            host.blocked_with = host.top
            heapq.heappush(self._blocked, (host.top, host))
            self._tidy(self._blocked)

    def _tidy(self, heap: list[tuple[Rank, Host[Rank]]]) -> None:
        """Drop stale entries once they are more than half of *heap*."""
        if len(heap) <= 2 * len(self.by_number) + 64:
            return
        places = (_READY,) if heap is self._ready else (_BUSY, _WAITING)
        heap[:] = [(h.top, h) for h in self if h.top is not None and h.place in places]
        heapq.heapify(heap)
        if heap is self._blocked:
            for host in self:
                host.blocked_with = host.top if host.place in places else None
