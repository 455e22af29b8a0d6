"""EmbeddedFrontier: the links wait on disk, in RocksDB (docs/decisions/005-frontier.md).

On disk is what is not done, in order; in memory are the hosts, and which links are out. A link
that is taken therefore stays where it is until it is acknowledged, and after a crash nothing has
to be put back: whatever was out is simply queued. Memory changes only after the disk has.

A page's links belong to dozens of hosts, and to write how many links each has now would cost as
much as the links. A host is therefore written when its best link changes, one of its links is done,
or it is to be left alone for a while, and now and then the counts of all hosts at once; opening
adds what arrived since from the entries.
"""

from __future__ import annotations

import heapq
import logging
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random, sample

from msgspec.structs import replace

from treasure.core import places
from treasure.frontier import turns
from treasure.frontier.base import Counts, Entry, Lease, LonePages, Policy
from treasure.frontier.outside import Host, Out, Outside
from treasure.frontier.queues import Queues
from treasure.frontier.rocks import Batch, Shelf
from treasure.frontier.rows import (
    Counters,
    HostRow,
    LinkRows,
    State,
    Tried,
    unpack_link,
    unpack_state,
)
from treasure.urls import host_of, url_key

logger = logging.getLogger(__name__)

DISCARD_BATCH = 1_000
SAMPLED_ROWS = 10
"""Rows read for each link of a sample, at most: those that are done say nothing."""
BEHIND_ARRIVALS = 100_000
"""Arrivals by which the counts on disk may lag; the number of hosts, if larger."""


class _Changes:
    """What a batch does to the hosts of its links."""

    __slots__ = ("added", "leaves", "links", "removed")

    def __init__(self) -> None:
        self.links: dict[Host, int] = {}
        """How many more links wait; all hosts that the batch changes are here."""
        self.added: dict[Host, bytes] = {}
        """The best of the ranks that are new."""
        self.removed: dict[Host, set[bytes]] = {}
        """The ranks that are gone."""
        self.leaves: set[Host] = set()
        """Hosts of which a link, queued or out, is done or forgotten."""

    def add(self, hosts: Sequence[Host], ranks: Sequence[bytes]) -> None:
        """Take in that new links of *hosts* wait at *ranks*."""
        links, added = self.links, self.added
        for host, rank in zip(hosts, ranks, strict=True):
            links[host] = links.get(host, 0) + 1
            if host not in added or rank < added[host]:
                added[host] = rank

    def move(self, host: Host, before: bytes, after: bytes) -> None:
        """Take in that a link waits elsewhere."""
        self.links.setdefault(host, 0)
        self.removed.setdefault(host, set()).add(before)
        self.added[host] = min(after, self.added.get(host, after))

    def remove(self, host: Host, rank: bytes) -> None:
        """Take in that the link at *rank* does not wait any more."""
        self.links[host] = self.links.get(host, 0) - 1
        self.removed.setdefault(host, set()).add(rank)

    def leave(self, host: Host) -> None:
        """Take in that a link is done or forgotten."""
        self.links.setdefault(host, 0)
        self.leaves.add(host)


class EmbeddedFrontier(LonePages):
    """Keeps links in order on disk; ``Turns`` chooses among the hosts."""

    pages_at_once = 4

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

    def push(self, entries: Sequence[Entry], keys: Sequence[int] | None = None) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new."""
        self._write_counts()
        keys = keys if keys is not None else [url_key(entry.url) for entry in entries]
        given, links = entries, list(dict.fromkeys(keys))
        scores = [entry.score for entry in entries]
        if len(links) < len(keys):  # of a link that comes twice, the last score but the first entry
            last = dict(zip(keys, scores, strict=True))
            first = dict(zip(reversed(keys), reversed(entries), strict=True))
            scores, given = [last[key] for key in links], [first[key] for key in links]
        states = self._shelf.raw_states(links)
        fresh = [at for at, state in enumerate(states) if state is None]
        new = {links[at]: given[at] for at in fresh}
        batch, changes = Batch(self._shelf), _Changes()
        added = self._add(batch, changes, new, [scores[at] for at in fresh])
        moved = self._move(batch, changes, links, states, scores)
        batch.put_links(added | moved)
        self._commit(batch, changes, arrivals=self._arrivals + len(new))
        if 0 < self.policy.max_links < self._queued:
            self._drop_worst()
        return [new.pop(key, None) is not None for key in keys]

    def take(self, now: float, wanted: int = 1) -> Lease | None:  # noqa: ARG002
        """Lease the best link whose host is allowed now."""
        if self.is_full():
            return None
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
        batch.put_counters(Counters(self._sequence + 1, self._arrivals, self._done, self._rate))
        if host.delay:
            allowed_at = max(host.allowed_at, now + host.delay)
            batch.put_host(host.number, self._host_row(host, allowed_at))
        self._shelf.write(batch)
        self._tried[key] = tried
        self._sequence += 1
        self._queued -= 1
        self.pages += 1
        host.queued -= 1
        self._outside.add(key, host, state)
        self._turns.started(host, now, top)
        return lease

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay."""
        out = self._outside.get(key)
        if out is not None and not out.landed:
            if out.host.delay:
                self._write_host(out.host, max(out.host.allowed_at, now + out.host.delay))
            out.landed = True
            self._turns.landed(out.host, now)

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored."""
        keys = list(dict.fromkeys(keys))
        out = {key: found.state for key in keys if (found := self._outside.get(key)) is not None}
        others = [key for key in keys if key not in out]
        batch, changes = Batch(self._shelf), _Changes()
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

    def release(self, key: int, *, not_before: float = 0.0, tried: bool = True) -> None:
        """Queue a leased link again, for a retry or because we stop."""
        out = self._outside.get(key)
        if out is None or out.parked:
            return
        if not_before or not tried:
            due = not_before + self._wall if not_before else 0.0
            self._write_tried(key, due, self._tried[key].attempts - (not tried))
        self._come_down(out)
        self._queued += 1
        self.pages -= 1
        if not_before:
            self._outside.park(key, not_before)
        else:
            self._put_back(key)

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; unknown keys are ignored."""
        keys, batch, changes = list(scores), Batch(self._shelf), _Changes()
        states = self._shelf.raw_states(keys)
        if moved := self._move(batch, changes, keys, states, list(scores.values())):
            batch.put_links(moved)
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
        drawn = sample(range(self._arrivals), min(self._arrivals, SAMPLED_ROWS * count))
        scores: list[float] = []
        while drawn and len(scores) < count:
            scores += self._shelf.some_scores(drawn[:count])
            del drawn[:count]
        return scores[:count]

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

    def _add(
        self, batch: Batch, changes: _Changes, new: Mapping[int, Entry], scores: list[float]
    ) -> dict[int, LinkRows]:
        """Queue links that are new; return their rows."""
        keys, entries, host_named = list(new), new.values(), self._turns.host
        hosts = [host_named(host_of(entry.url)) for entry in entries]
        numbers = [host.number for host in hosts]
        rows = places.added(numbers, keys, scores, self._sequence, self._arrivals, self._rate)
        batch.put_entries([place[12:] for _, _, place, _ in rows], entries)
        changes.add(hosts, [place[4:] for _, _, place, _ in rows])
        return dict(zip(keys, rows, strict=True))

    def _move(
        self,
        batch: Batch,
        changes: _Changes,
        keys: list[int],
        states: list[bytes | None],
        scores: list[float],
    ) -> dict[int, LinkRows]:
        """Give links that wait new scores; return the rows of those that had others."""
        moved: dict[int, LinkRows] = {}
        for at, number, rows in places.moved(states, keys, scores, self._rate):
            key, state = keys[at], states[at]
            if key in self._outside:
                continue
            assert state is not None
            moved[key] = rows
            host, before, after = self._turns.by_number[number], state[:20], rows[2]
            if before != after:  # the smallest steps are lost where the order is rounded
                batch.delete_place(before)
                changes.move(host, before[4:], after[4:])
        return moved

    def _removed(self, batch: Batch, changes: _Changes, key: int, state: State) -> None:
        batch.delete_link(key, state, tried=key in self._tried)
        host = self._turns.by_number[state.number]
        changes.leave(host)
        if key not in self._outside:
            changes.remove(host, state.rank)

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
        tops = self._tops_after(changes)
        for host in tops.keys() | changes.leaves:
            row = self._host_row(
                host,
                host.allowed_at,
                top=tops.get(host, host.top),
                added=changes.links[host],
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
        for host, links in changes.links.items():
            host.queued += links
            self._queued += links
        for host, top in tops.items():
            self._turns.ranked(host, top)

    def _tops_after(self, changes: _Changes) -> dict[Host, bytes | None]:
        """Return the best ranks of those hosts that will have another once *changes* are written.

        A new rank that is better than the best so far is the best now, whatever else is gone.
        """
        tops: dict[Host, bytes | None] = {
            host: rank
            for host, rank in changes.added.items()
            if host.top is None or rank < host.top
        }
        for host, ranks in changes.removed.items():
            if host.top in ranks and host not in tops:
                top = self._queues.best(host, without=ranks)
                added = changes.added.get(host)
                tops[host] = added if top is None or (added is not None and added < top) else top
        return tops

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

    def _forget(self, keys: Iterable[int]) -> int:
        count, waiting = 0, (key for key in keys if not self._outside.leased(key))
        while chunk := list(islice(waiting, DISCARD_BATCH)):
            batch, changes = Batch(self._shelf), _Changes()
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
            self._write_tried(key, 0.0, self._tried[key].attempts)
            self._put_back(key)

    def _write_tried(self, key: int, not_before: float, attempts: int) -> None:
        tried = Tried(attempts, not_before)
        batch = Batch(self._shelf)
        batch.put_tried(key, tried)
        self._shelf.write(batch)
        self._tried[key] = tried
