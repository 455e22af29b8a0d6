"""MemoryFrontier: the links wait in this process. For simulations, tests and small crawls."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from random import Random, randrange

from msgspec.structs import replace

from treasure.frontier import turns
from treasure.frontier.base import Counts, Entry, Lease, LonePages, Policy
from treasure.frontier.packing import finite
from treasure.urls import host_of, url_key

Rank = tuple[float, int]
Host = turns.Host[Rank]

_QUEUED, _PARKED, _LEASED = range(3)


class _Link:
    """A link that is not done; *sequence* counts the takes before it was queued."""

    __slots__ = ("attempts", "entry", "host", "key", "landed", "rank", "score", "sequence", "state")

    def __init__(self, key: int, entry: Entry, host: Host, sequence: int) -> None:
        self.key = key
        self.entry = entry
        self.host = host
        self.sequence = sequence
        self.score = 0.0
        self.rank: Rank = (0.0, 0)
        self.attempts = 0
        self.state = _QUEUED
        self.landed = True


class MemoryFrontier(LonePages):
    """Keeps one heap of links for each host; ``Turns`` chooses among the hosts."""

    pages_at_once = 4

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self._rate = self.policy.rate
        self._random = Random(self.policy.random_seed)
        self._turns: turns.Turns[Rank] = turns.Turns(self.policy)
        self._queues: list[list[tuple[Rank, _Link]]] = []
        self._links: dict[int, _Link] = {}
        self._done: set[int] = set()
        self._parked: list[tuple[float, int]] = []
        self._queued = 0
        self._sequence = 0
        self._arrivals = 0

    def push(self, entries: Sequence[Entry], keys: Sequence[int] | None = None) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new."""
        keys = keys if keys is not None else [url_key(entry.url) for entry in entries]
        new = [self._push(key, entry) for key, entry in zip(keys, entries, strict=True)]
        if 0 < self.policy.max_links < self._queued:
            self._drop_worst()
        return new

    def take(self, now: float, wanted: int = 1) -> Lease | None:  # noqa: ARG002
        """Lease the best link whose host is allowed now."""
        if self.is_full():
            return None
        self._unpark(now)
        explored = 0 < self.policy.exploration > self._random.random()
        host = self._turns.draw(now, self._random) if explored else self._turns.choose(now)
        if host is None:
            return None
        link = self._drawn(host) if explored else self._queues[host.number][0][1]
        passed = self._turns.passed_over(link.rank)
        link.state, link.landed = _LEASED, False
        self._queued -= 1
        host.queued -= 1
        self._turns.started(host, now, self._best(host))
        ageing = self._rate * (self._sequence - link.sequence)
        self._sequence += 1
        link.attempts += 1
        self.pages += 1
        return Lease(link.key, link.entry, link.score, ageing, explored, passed, link.attempts - 1)

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay."""
        link = self._links.get(key)
        if link is not None and not link.landed:
            link.landed = True
            self._turns.landed(link.host, now)

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored."""
        for key in keys:
            link = self._links.pop(key, None)
            if link is not None:
                self._let_go(link)
            self._done.add(key)

    def release(self, key: int, *, not_before: float = 0.0, tried: bool = True) -> None:
        """Queue a leased link again, for a retry or because we stop."""
        link = self._links.get(key)
        if link is None or link.state != _LEASED:
            return
        link.attempts -= not tried
        self.pages -= 1
        if not link.landed:
            link.landed = True
            self._turns.landed(link.host)
        if not_before:
            link.state = _PARKED
            self._queued += 1
            heapq.heappush(self._parked, (not_before, key))
        else:
            self._enqueue(link)

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; unknown keys are ignored."""
        for key, score in scores.items():
            link = self._links.get(key)
            if link is not None:
                self._rescore(link, score)

    def hold(self, host: str, until: float) -> None:
        """Take nothing from *host* before *until* (Retry-After, errors)."""
        self._turns.hold(self._host(host), until)

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep at least *seconds* between two requests to *host* (Crawl-delay, throttling)."""
        self._host(host).delay = seconds

    def next_time(self, now: float) -> float | None:
        """When ``take`` will give something again; None when nothing is queued."""
        self._unpark(now)
        if not self._queued:
            return None
        at = self._turns.next_time(now)
        while self._parked and not self._is_parked(self._parked[0][1]):
            heapq.heappop(self._parked)  # done meanwhile, or forgotten
        return min(at, self._parked[0][0]) if self._parked else at

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        """Forget queued links whose URL is unwanted, for blocks; return how many."""
        return self._forget(
            [
                link
                for link in self._links.values()
                if link.state != _LEASED and unwanted(link.entry.url)
            ]
        )

    def seen(self, url: str) -> bool:
        """Whether the URL was ever queued."""
        key = url_key(url)
        return key in self._links or key in self._done

    def peek(self, count: int) -> list[Entry]:
        """Return the best links, best first, as ranked now (hosts' delays left aside)."""
        waiting = {
            link.rank: link
            for host in self._turns.best(count)
            for _, link in heapq.nsmallest(count, self._valid(host))
        }
        best = heapq.nsmallest(count, waiting)
        return [replace(waiting[rank].entry, score=waiting[rank].score) for rank in best]

    def counts(self) -> Counts:
        """Count."""
        leased = len(self._links) - self._queued
        return Counts(self._queued, leased, len(self._done), len(self._turns))

    def hosts(self, count: int) -> list[tuple[str, int]]:
        """Return the hosts with the most queued links, largest first."""
        return [(host.name, host.queued) for host in self._turns.largest(count)]

    def sample(self, count: int) -> list[float]:
        """Return the scores of at most *count* links that are not done, drawn at random."""
        step = max(1, len(self._links) // max(1, count))
        links = islice(self._links.values(), randrange(step), None, step)
        return [link.score for link in islice(links, count)]

    def share(self, kind: str, payload: bytes) -> None:
        """There is nobody to share with."""

    def shared(self, since: int) -> tuple[int, dict[str, bytes]]:
        """Return nothing: there is nobody to share with."""
        return since, {}

    def checkpoint(self) -> None:
        """Nothing here outlives the process."""

    def close(self) -> None:
        """Nothing here outlives the process."""

    def _push(self, key: int, entry: Entry) -> bool:
        link = self._links.get(key)
        if link is not None:
            self._rescore(link, entry.score)
            return False
        if key in self._done:
            return False
        link = _Link(key, entry, self._host(host_of(entry.url)), self._sequence)
        link.score = finite(entry.score)
        link.rank = (self._rate * self._sequence - link.score, self._arrivals)
        self._arrivals += 1
        self._links[key] = link
        self._enqueue(link)
        return True

    def _host(self, name: str) -> Host:
        host = self._turns.host(name)
        if host.number == len(self._queues):
            self._queues.append([])
        return host

    def _enqueue(self, link: _Link) -> None:
        host = link.host
        link.state = _QUEUED
        self._queued += 1
        host.queued += 1
        heapq.heappush(self._queues[host.number], (link.rank, link))
        if host.top is None or link.rank < host.top:
            self._turns.ranked(host, link.rank)

    def _best(self, host: Host) -> Rank | None:
        """Return the rank of the host's best link, after something changed."""
        queue = self._queues[host.number]
        if len(queue) > 2 * host.queued + 64:
            queue[:] = self._valid(host)
            heapq.heapify(queue)
        while queue and not (queue[0][1].state == _QUEUED and queue[0][0] == queue[0][1].rank):
            heapq.heappop(queue)
        return queue[0][0] if queue else None

    def _valid(self, host: Host) -> list[tuple[Rank, _Link]]:
        """Return the entries of the host's heap that are not stale, each once."""
        entries = self._queues[host.number]
        return list(
            {e[0]: e for e in entries if e[1].state == _QUEUED and e[0] == e[1].rank}.values()
        )

    def _drawn(self, host: Host) -> _Link:
        queue = self._queues[host.number]
        for _ in range(20):
            rank, link = queue[self._random.randrange(len(queue))]
            if link.state == _QUEUED and rank == link.rank:
                return link
        return queue[0][1]

    def _rescore(self, link: _Link, score: float) -> None:
        score = finite(score)
        if link.state != _QUEUED or score == link.score:
            return
        link.score = score
        link.rank = (self._rate * link.sequence - score, link.rank[1])
        heapq.heappush(self._queues[link.host.number], (link.rank, link))
        self._turns.ranked(link.host, self._best(link.host))

    def _let_go(self, link: _Link) -> None:
        """Take a link that is no longer known out of wherever it is."""
        state, link.state = link.state, _LEASED
        if state == _QUEUED:
            self._queued -= 1
            link.host.queued -= 1
            self._turns.ranked(link.host, self._best(link.host))
        elif state == _PARKED:
            self._queued -= 1
        elif not link.landed:
            self._turns.landed(link.host)

    def _is_parked(self, key: int) -> bool:
        link = self._links.get(key)
        return link is not None and link.state == _PARKED

    def _unpark(self, now: float) -> None:
        while self._parked and self._parked[0][0] <= now:
            key = heapq.heappop(self._parked)[1]
            if self._is_parked(key):
                self._queued -= 1
                self._enqueue(self._links[key])

    def _forget(self, links: Sequence[_Link]) -> int:
        for link in links:
            del self._links[link.key]
            self._let_go(link)
        return len(links)

    def _drop_worst(self) -> None:
        """Forget the worst links, a twentieth more than needed so that this is rare."""
        keep = self.policy.max_links - self.policy.max_links // 20
        waiting = [link for link in self._links.values() if link.state == _QUEUED]
        self._forget(heapq.nlargest(self._queued - keep, waiting, key=lambda link: link.rank))
