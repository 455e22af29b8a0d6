"""Outside: the links of an embedded frontier that are out, leased or parked until a retry.

They are still queued on disk; whoever reads a host's queue skips their ranks.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import inf

from treasure.frontier import turns
from treasure.frontier.rows import State

Host = turns.Host[bytes]


class Out:
    """A link that is out."""

    __slots__ = ("host", "landed", "parked", "state", "until")

    def __init__(self, host: Host, state: State) -> None:
        self.host = host
        self.state = state
        self.landed = False
        self.parked = False
        self.until = 0.0
        """When the retry of a parked link is due."""


class Outside:
    """All links that are out, by key and by host."""

    def __init__(self) -> None:
        self._links: dict[int, Out] = {}
        self._ranks: dict[int, list[bytes]] = {}
        self._parked: list[tuple[float, int]] = []

    def __contains__(self, key: int) -> bool:
        return key in self._links

    def get(self, key: int) -> Out | None:
        """Return the link, if it is out."""
        return self._links.get(key)

    def leased(self, key: int) -> bool:
        """Whether the link is taken and under way."""
        out = self._links.get(key)
        return out is not None and not out.parked

    def count_leased(self) -> int:
        """Count the links that are taken and under way."""
        return sum(not out.parked for out in self._links.values())

    def ranks(self, host: Host) -> Sequence[bytes]:
        """Return the ranks of the host's links that are out."""
        return self._ranks.get(host.number, ())

    def add(self, key: int, host: Host, state: State) -> None:
        """Take in that a link was taken."""
        self._links[key] = Out(host, state)
        self._ranks.setdefault(host.number, []).append(state.rank)

    def remove(self, key: int) -> Out:
        """Take in that a link is out no more."""
        out = self._links.pop(key)
        ranks = self._ranks[out.host.number]
        ranks.remove(out.state.rank)
        if not ranks:
            del self._ranks[out.host.number]
        return out

    def park(self, key: int, until: float) -> None:
        """Keep a link out until its retry is due."""
        out = self._links[key]
        out.parked, out.landed, out.until = True, True, until
        heapq.heappush(self._parked, (until, key))

    def first_due(self, now: float) -> int | None:
        """Return a parked link whose time has come."""
        return self._parked[0][1] if self.next_due(inf) <= now else None

    def next_due(self, otherwise: float) -> float:
        """Return when the next retry is due, if that is before *otherwise*."""
        while self._parked and not self._is_parked(*self._parked[0]):
            heapq.heappop(self._parked)  # done meanwhile, or forgotten
        return min(otherwise, self._parked[0][0]) if self._parked else otherwise

    def _is_parked(self, until: float, key: int) -> bool:
        out = self._links.get(key)
        return out is not None and out.parked and out.until == until
