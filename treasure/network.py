"""NetworkWatch: tells a network that is gone from hosts that are dead.

When our own connection breaks, every download fails, and each failure would use up one of the few
tries that a link has: minutes without a network would cost thousands of pages. So when hosts that
answered before fail one after the other and nobody answers in between, the crawl pauses. Now and
then it tries one link; the first answer ends the pause, and what failed meanwhile does not count.

Hosts that never answered prove nothing. A pause ends after ``PATIENCE_SECONDS``: by then the hosts
are dead, at least to us.
"""

from __future__ import annotations

from collections import OrderedDict

WITNESSES = 3
"""Hosts that must fail in a row; fewer when fewer have answered so far."""
FAILURES = 4
"""Failures in a row, at least."""
PROBE_SECONDS = 5.0
PATIENCE_SECONDS = 3_600.0
REMEMBERED = 10_000


class NetworkWatch:
    """A gate of the scheduler that is closed while there is no network."""

    def __init__(self) -> None:
        self._good: OrderedDict[str, None] = OrderedDict()
        self._failing: set[str] = set()
        self._failures = 0
        self._since = 0.0
        """When the pause began; 0 while there is none."""
        self._probe_at = 0.0

    def answered(self, host: str) -> bool:
        """Take in that *host* sent an answer; tell whether a pause ends with it."""
        ended = bool(self._since)
        self._good[host] = None
        self._good.move_to_end(host)
        if len(self._good) > REMEMBERED:
            self._good.popitem(last=False)
        self._failing.clear()
        self._failures, self._since = 0, 0.0
        return ended

    def failed(self, host: str, now: float) -> bool:
        """Take in that nothing came from *host*; tell whether a pause begins with it."""
        if host in self._good:
            self._failing.add(host)
            self._failures += 1
        enough = min(WITNESSES, len(self._good))
        if self._since or self._failures < FAILURES or len(self._failing) < enough:
            return False
        self._since, self._probe_at = now, now + PROBE_SECONDS
        return True

    def excuses(self, now: float) -> bool:
        """Tell whether a failure is the network's and not the host's."""
        return bool(self._since) and now - self._since < PATIENCE_SECONDS

    def opens_at(self, now: float) -> float:
        """Return when the next link may be taken."""
        return self._probe_at if self.excuses(now) else now

    def in_a_row(self, now: float) -> bool:
        """Tell whether this is no pause, in which a link is the only one for a while."""
        return not self.excuses(now)

    def taken(self, now: float) -> None:
        """Take in that a link was taken: during a pause, the next one has to wait."""
        self._probe_at = now + PROBE_SECONDS
