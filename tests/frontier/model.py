"""The frontier in the plainest words: one list, searched from end to end each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from treasure.frontier.base import Counts, Entry, Policy
from treasure.urls import host_of, url_key


@dataclass
class Known:
    entry: Entry
    score: float
    sequence: int
    arrival: int
    state: str = "queued"
    not_before: float = 0.0
    attempts: int = 0
    under_way: bool = False

    @property
    def host(self) -> str:
        return host_of(self.entry.url)


class Model:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.links: dict[int, Known] = {}
        self.done: set[int] = set()
        self.allowed_at: dict[str, float] = {}
        self.delays: dict[str, float] = {}
        self.hosts_met: set[str] = set()
        self.sequence = 0
        self.arrivals = 0

    def push(self, entries: Sequence[Entry]) -> list[bool]:
        return [self._push(entry) for entry in entries]

    def _push(self, entry: Entry) -> bool:
        key = url_key(entry.url)
        if key in self.done:
            return False
        if key in self.links:
            self.rescore({key: entry.score})
            return False
        self.links[key] = Known(entry, entry.score, self.sequence, self.arrivals)
        self.hosts_met.add(host_of(entry.url))
        self.arrivals += 1
        return True

    def rank(self, link: Known) -> tuple[float, int]:
        return self.policy.rate * link.sequence - link.score, link.arrival

    def waiting(self) -> list[int]:
        queued = [key for key, link in self.links.items() if link.state == "queued"]
        return sorted(queued, key=lambda key: self.rank(self.links[key]))

    def unpark(self, now: float) -> None:
        for link in self.links.values():
            if link.state == "parked" and link.not_before <= now:
                link.state = "queued"

    def allowed(self, host: str, now: float) -> bool:
        under_way = sum(link.under_way for link in self.links.values() if link.host == host)
        return self.allowed_at.get(host, -inf) <= now and under_way < self.policy.concurrency

    def take(self, now: float) -> tuple[int, float, float, int] | None:
        """Return key, score, ageing and attempts of the link whose turn it is."""
        self.unpark(now)
        for key in self.waiting():
            link = self.links[key]
            if self.allowed(link.host, now):
                ageing = self.policy.rate * (self.sequence - link.sequence)
                self.sequence += 1
                link.state, link.under_way = "leased", True
                link.attempts += 1
                self._ask(link.host, now)
                return key, link.score, ageing, link.attempts - 1
        return None

    def _ask(self, host: str, now: float) -> None:
        delay = self.delays.get(host, self.policy.delay)
        self.allowed_at[host] = max(self.allowed_at.get(host, -inf), now + delay)

    def landed(self, key: int, now: float) -> None:
        link = self.links.get(key)
        if link is not None and link.under_way:
            link.under_way = False
            self._ask(link.host, now)

    def acknowledge(self, keys: Iterable[int]) -> None:
        for key in keys:
            self.links.pop(key, None)
            self.done.add(key)

    def release(self, key: int, not_before: float, *, tried: bool) -> None:
        link = self.links.get(key)
        if link is not None and link.state == "leased":
            link.state = "parked" if not_before else "queued"
            link.not_before, link.under_way = not_before, False
            link.attempts -= not tried

    def rescore(self, scores: Mapping[int, float]) -> None:
        for key, score in scores.items():
            link = self.links.get(key)
            if link is not None and link.state == "queued":
                link.score = score

    def hold(self, host: str, until: float) -> None:
        self.hosts_met.add(host)
        self.allowed_at[host] = max(self.allowed_at.get(host, -inf), until)

    def set_delay(self, host: str, seconds: float) -> None:
        self.hosts_met.add(host)
        self.delays[host] = seconds

    def next_time(self, now: float) -> float | None:
        self.unpark(now)
        times = [link.not_before for link in self.links.values() if link.state == "parked"]
        if not times and not self.waiting():
            return None
        for key in self.waiting():
            host = self.links[key].host
            if self.allowed(host, inf):
                times.append(max(now, self.allowed_at.get(host, -inf)))
        return min(times, default=inf)

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        gone = [
            key
            for key, link in self.links.items()
            if link.state != "leased" and unwanted(link.entry.url)
        ]
        for key in gone:
            del self.links[key]
        return len(gone)

    def reopen(self) -> None:
        """Whatever was leased comes back when its process is gone; a retry waits for its time."""
        for link in self.links.values():
            if link.state != "parked":
                link.state, link.under_way = "queued", False

    def sizes(self) -> Counter[str]:
        return Counter(self.links[key].host for key in self.waiting())

    def counts(self) -> Counts:
        leased = sum(link.state == "leased" for link in self.links.values())
        return Counts(len(self.links) - leased, leased, len(self.done), len(self.hosts_met))
