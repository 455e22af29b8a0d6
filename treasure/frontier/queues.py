"""Queues: the links of each host as they wait on disk, best first, without those that are out.

Reading starts at a known rank, never at the beginning of a host's rows: deleted rows at the front
of a queue are what makes RocksDB slow.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from random import Random

from treasure.frontier.outside import Host, Outside
from treasure.frontier.rocks import Shelf
from treasure.frontier.rows import State, order_of, place_of, unpack_link


class Queues:
    """What waits on *shelf* and is not *outside*."""

    def __init__(self, shelf: Shelf, outside: Outside) -> None:
        self._shelf = shelf
        self._outside = outside

    def waiting(self, host: Host, start: bytes | None = None) -> Iterator[tuple[int, State]]:
        """Yield key and state of the host's links from rank *start* on, else from its best on."""
        out = self._outside.ranks(host)
        for place, raw in self._shelf.links(host.number, start or host.top or b""):
            if place[4:] not in out:
                yield unpack_link(place, raw)

    def best(self, host: Host, without: Container[bytes] = ()) -> bytes | None:
        """Return the first rank from the host's best so far on that is not among *without*."""
        ranks = (state.rank for _, state in self.waiting(host))
        return next((rank for rank in ranks if rank not in without), None)

    def take(self, host: Host, rank: bytes) -> tuple[int, State, bytes | None]:
        """Return the key and state of the link at *rank*, and the host's best rank without it."""
        waiting = self.waiting(host, rank)
        key, state = next(waiting)
        if rank != host.top:
            return key, state, host.top
        return key, state, next((state.rank for _, state in waiting), None)

    def draw(self, host: Host, random: Random) -> bytes:
        """Return a rank of the host's links: the next below a random one."""
        best, worst = host.top, self._shelf.last_rank(host.number)
        assert best is not None
        assert worst is not None
        first, last = order_of(best), order_of(worst)
        drawn = place_of(host.number, first + random.random() * (last - first), 0)[4:]
        return next((state.rank for _, state in self.waiting(host, max(best, drawn))), best)
