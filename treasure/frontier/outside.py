"""Outside: the links of an embedded frontier that are out, leased or parked until a retry.

They are still queued on disk; whoever reads a host's queue skips their ranks.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from treasure.frontier import turns
from treasure.frontier.rocks import State

Host = turns.Host[bytes]


class Out:
    """A link that is out."""

    __slots__ = ("host", "landed", "parked", "state")

    def __init__(self, host: Host, state: State) -> None:
        self.host = host
        self.state = state
        self.landed = False
        self.parked = False


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
        self._links[key].parked = True
        heapq.heappush(self._parked, (until, key))

    def due(self, now: float) -> list[int]:
        """Return the parked links whose time has come, and think no more of it."""
        due = []
        while self._parked and self._parked[0][0] <= now:
            key = heapq.heappop(self._parked)[1]
            if self._is_parked(key) and key not in due:
                due.append(key)
        return due

    def next_due(self, otherwise: float) -> float:
        """Return when the next retry is due, if that is before *otherwise*."""
        while self._parked and not self._is_parked(self._parked[0][1]):
            heapq.heappop(self._parked)  # done meanwhile, or forgotten
        return min(otherwise, self._parked[0][0]) if self._parked else otherwise

    def _is_parked(self, key: int) -> bool:
        out = self._links.get(key)
        return out is not None and out.parked
