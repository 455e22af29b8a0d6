"""EmbeddedFrontier: the links wait on disk, in RocksDB (docs/decisions/005-frontier.md).

On disk is what is not done, in order; in memory are the hosts, and which links are out. A link
that is taken therefore stays where it is until it is acknowledged, and after a crash nothing has
to be put back: whatever was out is simply queued. Memory changes only after the disk has.

A page's links belong to dozens of hosts, and to write how many links each has now would cost as
much as the links. A host is therefore written when its best link changes or one of its links is
taken or done, and now and then the counts of all hosts at once; opening adds what arrived since
from the entries.
"""

from __future__ import annotations

import heapq
import logging
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from msgspec.structs import replace

from treasure.frontier import turns
from treasure.frontier.base import Counts, Entry, Lease, Policy
from treasure.frontier.outside import Host, Out, Outside
from treasure.frontier.packing import finite
from treasure.frontier.queues import Queues
from treasure.frontier.rocks import Batch, Shelf
from treasure.frontier.rows import (
    Counters,
    HostRow,
    State,
    Tried,
    arrival_of,
    place_of,
    unpack_link,
    unpack_state,
)
from treasure.urls import host_of, url_key

logger = logging.getLogger(__name__)

DISCARD_BATCH = 1_000
BEHIND_ARRIVALS = 100_000
"""Arrivals by which the counts on disk may lag; the number of hosts, if larger."""


class _Change:
    """What a batch does to one host."""

    __slots__ = ("added", "leaves", "links", "removed")

    def __init__(self) -> None:
        self.added: set[bytes] = set()
        self.removed: set[bytes] = set()
        self.links = 0
        self.leaves = False
        """Whether a link of the host, queued or out, is done or forgotten."""


_Changes = defaultdict[Host, _Change]


class EmbeddedFrontier:
    """Keeps links in order on disk; ``Turns`` chooses among the hosts."""

    def __init__(
        self,
        folder: Path | str,
        policy: Policy | None = None,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.policy = policy or Policy()
        self._random = Random(self.policy.random_seed)
        self._turns: turns.Turns[bytes] = turns.Turns(self.policy)
        # What is added to the caller's times before they go to disk; without a clock, nothing.
        self._wall = time.time() - clock() if clock else 0.0
        self._outside = Outside()
        self._tried: dict[int, Tried] = {}
        """What was taken before and is not done: what is out, and what was given back."""
        self._queued = 0
        self._counted = 0
        """The arrival at which the counts of all hosts were written."""
        self._shelf = Shelf(Path(folder))
        self._queues = Queues(self._shelf, self._outside)
        try:
            self._load()
        except BaseException:
            self._shelf.close()
            raise

    def push(self, entries: Sequence[Entry]) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new."""
        self._write_counts()
        keys = [url_key(entry.url) for entry in entries]
        states: dict[int, State] = {}
        batch, changes, new = Batch(self._shelf), _Changes(_Change), []
        arrivals, rate, sequence = self._arrivals, self._rate, self._sequence
        for key, raw, entry in zip(keys, self._shelf.raw_states(keys), entries, strict=True):
            state = states.get(key)
            if raw is None and state is None:
                new.append(True)
                host = self._turns.host(host_of(entry.url))
                score = finite(entry.score)
                place = place_of(host.number, rate * sequence - score, arrivals)
                states[key] = state = State(place, score, sequence)
                batch.put_entry(arrivals, entry)
                batch.put_link(key, state)
                arrivals += 1
                change = changes[host]
                change.added.add(state.rank)
                change.links += 1
                continue
            new.append(False)
            if raw:
                state = state or unpack_state(raw)
            if state is not None:
                states[key] = self._rescored(batch, changes, key, state, entry.score)
        self._commit(batch, changes, arrivals=arrivals)
        if 0 < self.policy.max_links < self._queued:
            self._drop_worst()
        return new

    def take(self, now: float) -> Lease | None:
        """Lease the best link whose host is allowed now."""
        self._unpark(now)
        explored = 0 < self.policy.exploration > self._random.random()
        host = self._turns.draw(now, self._random) if explored else self._turns.choose(now)
        if host is None or host.top is None:
            return None
        rank = self._queues.draw(host, self._random) if explored else host.top
        key, state, top = self._queues.take(host, rank)
        attempts = self._attempts(key)
        lease = Lease(
            key,
            self._shelf.entry(state),
            state.score,
            self._rate * (self._sequence - state.sequence),
            explored,
            self._turns.passed_over(rank),
            attempts,
        )
        tried = Tried(attempts + 1)
        batch = Batch(self._shelf)
        batch.put_tried(key, tried)
        batch.put_counters(self._counters()._replace(sequence=self._sequence + 1))
        batch.put_host(host.number, self._host_row(host, max(host.allowed_at, now + host.delay)))
        self._shelf.write(batch)
        self._tried[key] = tried
        self._sequence += 1
        self._queued -= 1
        host.queued -= 1
        self._outside.add(key, host, state)
        self._turns.started(host, now, top)
        return lease

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay."""
        out = self._outside.get(key)
        if out is not None and not out.landed:
            self._write_host(out.host, max(out.host.allowed_at, now + out.host.delay))
            out.landed = True
            self._turns.landed(out.host, now)

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored."""
        keys = list(dict.fromkeys(keys))
        out = {key: found.state for key in keys if (found := self._outside.get(key)) is not None}
        others = [key for key in keys if key not in out]
        batch, changes = Batch(self._shelf), _Changes(_Change)
        done = 0
        for key, state in out.items():
            batch.put_done(key)
            self._removed(batch, changes, key, state)
            done += 1
        for key, raw in zip(others, self._shelf.raw_states(others) if others else (), strict=True):
            if raw != b"":
                batch.put_done(key)
                done += 1
            if raw:
                self._removed(batch, changes, key, unpack_state(raw))
        self._commit(batch, changes, done=self._done + done, back=keys)

    def release(self, key: int, *, not_before: float = 0.0) -> None:
        """Queue a leased link again, for a retry or because we stop."""
        out = self._outside.get(key)
        if out is None or out.parked:
            return
        if not_before:
            self._write_tried(key, not_before + self._wall)
        self._come_down(out)
        self._queued += 1
        if not_before:
            self._outside.park(key, not_before)
        else:
            self._put_back(key)

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; unknown keys are ignored."""
        keys = list(scores)
        batch, changes = Batch(self._shelf), _Changes(_Change)
        for key, state in zip(keys, self._shelf.states(keys), strict=True):
            if state is not None:
                self._rescored(batch, changes, key, state, scores[key])
        if changes:
            self._commit(batch, changes)

    def hold(self, host: str, until: float) -> None:
        """Take nothing from *host* before *until* (Retry-After, errors)."""
        found = self._turns.host(host)
        self._write_host(found, max(found.allowed_at, until))
        self._turns.hold(found, until)

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep at least *seconds* between two requests to *host* (Crawl-delay, throttling)."""
        found = self._turns.host(host)
        if found.delay != seconds:
            found.delay = seconds
            self._write_host(found, found.allowed_at)

    def next_time(self, now: float) -> float | None:
        """When ``take`` will give something again; None when nothing is queued."""
        self._unpark(now)
        if not self._queued:
            return None
        return self._outside.next_due(self._turns.next_time(now))

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        """Forget queued links whose URL is unwanted, for blocks; return how many."""
        return self._forget(url_key(url) for url in self._shelf.all_urls() if unwanted(url))

    def seen(self, url: str) -> bool:
        """Whether the URL was ever queued."""
        return self._shelf.raw_states([url_key(url)])[0] is not None

    def peek(self, count: int) -> list[Entry]:
        """Return the best links, best first, as ranked now (hosts' delays left aside)."""
        waiting = (self._queues.waiting(host) for host in self._turns.best(count))
        best = heapq.merge(*waiting, key=lambda found: found[1].rank)
        return [
            replace(self._shelf.entry(state), score=state.score) for _, state in islice(best, count)
        ]

    def counts(self) -> Counts:
        """Count."""
        leased = self._outside.count_leased()
        return Counts(self._queued, leased, self._done, len(self._turns))

    def hosts(self, count: int) -> list[tuple[str, int]]:
        """Return the hosts with the most queued links, largest first."""
        return [(host.name, host.queued) for host in self._turns.largest(count)]

    def sample(self, count: int) -> list[float]:
        """Return the scores of at most *count* links that are not done, drawn at random."""
        return self._shelf.some_scores(count)

    def share(self, kind: str, payload: bytes) -> None:
        """There is nobody to share with."""

    def shared(self, since: int) -> tuple[int, dict[str, bytes]]:
        """Return nothing: there is nobody to share with."""
        return since, {}

    def checkpoint(self) -> None:
        """Make everything durable against loss of power."""
        self._shelf.sync()

    def close(self) -> None:
        """Checkpoint and let go."""
        self._shelf.close()

    # -- reading

    def _load(self) -> None:
        counters = self._shelf.counters() or Counters(rate=self.policy.rate)
        self._sequence, self._arrivals, self._done, self._rate = counters
        if self._rate != self.policy.rate:
            logger.warning(
                "This job goes on with the ageing it began with: %s fetches.",
                round(1 / self._rate) if self._rate else "no",
            )
        self._counted, counts = self._shelf.counts()
        as_of: list[int] = []
        """By the number of a host: which arrival its count does not include any more."""
        for number, row in self._shelf.hosts():
            while len(self._turns) < number:  # met only by a batch that was never written
                self._turns.host(f"(none {len(self._turns)})")
            host = self._turns.host(row.name)
            host.delay = row.delay
            host.allowed_at = row.allowed_at - self._wall
            host.queued = row.links if row.arrivals >= self._counted else counts[number]
            self._queued += host.queued
            self._turns.ranked(host, row.first or None)
            as_of += [self._arrivals] * (number - len(as_of))
            as_of.append(max(row.arrivals, self._counted))
        for arrival, url in self._shelf.arrived(self._counted):
            host = self._turns.host(host_of(url))
            if arrival >= as_of[host.number]:
                host.queued += 1
                self._queued += 1
        self._tried = dict(self._shelf.tried())
        self._park_again()

    def _park_again(self) -> None:
        """Let links whose retry was not due when we stopped wait on."""
        parked = {key: tried for key, tried in self._tried.items() if tried.not_before}
        for key, state in zip(parked, self._shelf.states(list(parked)), strict=True):
            assert state is not None
            host = self._turns.by_number[state.number]
            self._outside.add(key, host, state)
            self._outside.park(key, parked[key].not_before - self._wall)
            host.queued -= 1
            if state.rank == host.top:
                self._turns.ranked(host, self._queues.best(host))

    def _attempts(self, key: int) -> int:
        tried = self._tried.get(key)
        return tried.attempts if tried is not None else 0

    # -- writing

    def _rescored(
        self, batch: Batch, changes: _Changes, key: int, state: State, score: float
    ) -> State:
        score = finite(score)
        if score == state.score or key in self._outside:
            return state
        number, arrival = state.number, arrival_of(state.arrival)
        place = place_of(number, self._rate * state.sequence - score, arrival)
        before, after = state.rank, place[4:]
        batch.delete_place(state)
        state = State(place, score, state.sequence)
        batch.put_link(key, state)
        change = changes[self._turns.by_number[number]]
        change.removed.add(before)
        change.added.discard(before)
        change.added.add(after)
        change.removed.discard(after)
        return state

    def _removed(self, batch: Batch, changes: _Changes, key: int, state: State) -> None:
        batch.delete_link(key, state, tried=key in self._tried)
        host = self._turns.by_number[state.number]
        change = changes[host]
        change.leaves = True
        if key not in self._outside:
            change.removed.add(state.rank)
            change.links -= 1

    def _commit(
        self,
        batch: Batch,
        changes: _Changes,
        *,
        arrivals: int | None = None,
        done: int | None = None,
        back: Sequence[int] = (),
    ) -> None:
        """Write the batch with the hosts it changes, then change them in memory."""
        arrivals = self._arrivals if arrivals is None else arrivals
        done = self._done if done is None else done
        gone = {key: out for key in back if (out := self._outside.get(key)) is not None}
        tops = {host: self._top_after(host, change) for host, change in changes.items()}
        for host, change in changes.items():
            if change.leaves or tops[host] != host.top:
                row = self._host_row(
                    host,
                    host.allowed_at,
                    top=tops[host],
                    added=change.links,
                    leaving=[out.state.rank for out in gone.values() if out.host is host],
                    arrivals=arrivals,
                )
                batch.put_host(host.number, row)
        batch.put_counters(Counters(self._sequence, arrivals, done, self._rate))
        self._shelf.write(batch)
        for key in back:
            self._tried.pop(key, None)
        self._arrivals, self._done = arrivals, done
        for key, out in gone.items():
            self._come_down(out)
            self._queued -= out.parked
            self._outside.remove(key)
        for host, change in changes.items():
            host.queued += change.links
            self._queued += change.links
            self._turns.ranked(host, tops[host])

    def _top_after(self, host: Host, change: _Change) -> bytes | None:
        """Return the best rank of *host* once *change* is written."""
        top = host.top
        if top in change.removed:
            top = self._queues.best(host, without=change.removed)
        added = min(change.added, default=None)
        return added if top is None or (added is not None and added < top) else top

    def _host_row(
        self,
        host: Host,
        allowed_at: float,
        *,
        top: bytes | None = None,
        added: int | None = None,
        leaving: Sequence[bytes] = (),
        arrivals: int | None = None,
    ) -> HostRow:
        """Return the host as the disk has it: its links that are out are queued there."""
        ranks = [rank for rank in self._outside.ranks(host) if rank not in leaving]
        best = host.top if added is None else top
        links = host.queued + len(ranks) + (added or 0)
        first = min([*ranks, best] if best is not None else ranks, default=b"")
        arrivals = self._arrivals if arrivals is None else arrivals
        return HostRow(host.name, host.delay, allowed_at + self._wall, links, first, arrivals)

    def _write_host(self, host: Host, allowed_at: float) -> None:
        batch = Batch(self._shelf)
        batch.put_host(host.number, self._host_row(host, allowed_at))
        self._shelf.write(batch)

    def _write_counts(self) -> None:
        """Write how many links each host has, when many have arrived since we last did."""
        if self._arrivals - self._counted >= max(BEHIND_ARRIVALS, len(self._turns)):
            batch, out = Batch(self._shelf), self._outside
            links = array("I", (host.queued + len(out.ranks(host)) for host in self._turns))
            batch.put_counts(self._arrivals, links)
            self._shelf.write(batch)
            self._counted = self._arrivals

    def _counters(self) -> Counters:
        return Counters(self._sequence, self._arrivals, self._done, self._rate)

    def _forget(self, keys: Iterable[int]) -> int:
        count, waiting = 0, (key for key in keys if not self._outside.leased(key))
        while chunk := list(islice(waiting, DISCARD_BATCH)):
            batch, changes = Batch(self._shelf), _Changes(_Change)
            for key, state in zip(chunk, self._shelf.states(chunk), strict=True):
                if state is not None:
                    count += 1
                    batch.forget(key)
                    self._removed(batch, changes, key, state)
            self._commit(batch, changes, back=chunk)
        return count

    def _drop_worst(self) -> None:
        """Forget the worst links, a twentieth more than needed so that this is rare."""
        keep = self.policy.max_links - self.policy.max_links // 20
        links = (unpack_link(place, raw) for place, raw in self._shelf.all_links())
        waiting = ((state.rank, key) for key, state in links if key not in self._outside)
        self._forget([key for _, key in heapq.nlargest(self._queued - keep, waiting)])

    # -- links that are out

    def _come_down(self, out: Out) -> None:
        """Take in that a link's download is over, in case nobody said so."""
        if not out.landed:
            out.landed = True
            self._turns.landed(out.host)

    def _put_back(self, key: int) -> None:
        """Let a link that is out be taken again."""
        out = self._outside.remove(key)
        out.host.queued += 1
        rank, top = out.state.rank, out.host.top
        self._turns.ranked(out.host, rank if top is None else min(rank, top))

    def _unpark(self, now: float) -> None:
        while (key := self._outside.first_due(now)) is not None:
            self._write_tried(key, 0.0)
            self._put_back(key)

    def _write_tried(self, key: int, not_before: float) -> None:
        tried = self._tried[key]._replace(not_before=not_before)
        batch = Batch(self._shelf)
        batch.put_tried(key, tried)
        self._shelf.write(batch)
        self._tried[key] = tried
