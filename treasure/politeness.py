"""Manners: how long each host is left alone, and who asked for it.

The frontier keeps one delay per host. Several parties have a say in it: our settings, Crawl-delay,
throttling by latency. The longest wish counts. What Retry-After means is decided here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Protocol

from treasure.host_clock import HostClock

FIRST_HOLD_SECONDS = 30.0
"""How long we leave a host alone that says *too many requests* and not for how long."""
LONGEST_HOLD_SECONDS = 3_600.0
"""The longest such pause, when it says so again and again."""
REFUSING = frozenset({429, 503})


class Hosts(Protocol):
    """Where delays and pauses take effect: the scheduler, on its way to the frontier."""

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep *seconds* between two requests."""

    def hold(self, host: str, seconds: float) -> None:
        """Ask *host* nothing for *seconds*."""


class Manners:
    """What we owe each host."""

    def __init__(
        self,
        hosts: Hosts,
        *,
        delay: float,
        alone: bool,
        max_hold: float,
        time: Callable[[], float],
        clock: HostClock | None = None,
    ) -> None:
        self._hosts = hosts
        self._delay = delay
        self._alone = alone
        self._max_hold = max_hold
        self._time = time
        self._clock = clock
        self._wishes: dict[str, dict[str, float]] = {}
        self._refusals: dict[str, int] = {}

    def delay(self, host: str) -> float:
        """Return the seconds between two requests to *host*."""
        wishes = self._wishes.get(host)
        return max(self._delay, *wishes.values()) if wishes else self._delay

    def wish(self, host: str, who: str, seconds: float) -> None:
        """Take in that *who* wants *seconds* between two requests to *host*."""
        before = self.delay(host)
        self._wishes.setdefault(host, {})[who] = seconds
        if self.delay(host) != before:
            self._hosts.set_delay(host, self.delay(host))

    def hold(self, host: str, seconds: float) -> None:
        """Leave *host* alone for a while, in all jobs of this machine."""
        self._hosts.hold(host, seconds)
        if self._clock is not None:
            self._clock.hold(host, self._time() + seconds)

    def enter(self, host: str) -> float:
        """Reserve *host* among all jobs; return 0, or how long to wait before asking again."""
        if self._clock is None:
            return 0.0
        delay = self.delay(host)
        return self._clock.enter(host, delay, self._time(), alone=self._alone)

    def leave(self, host: str) -> None:
        """Note that a request to *host* ended."""
        if self._clock is not None and self._alone:
            self._clock.leave(host, self.delay(host), self._time())

    def answered(self, host: str, status: int, retry_after: str) -> float:
        """Take in an answer; return for how many seconds we leave the host alone because of it."""
        asked = seconds_of(retry_after, self._time()) if retry_after else None
        if status not in REFUSING:
            self._refusals.pop(host, None)
            return 0.0
        refusals = self._refusals[host] = self._refusals.get(host, 0) + 1
        pause = min(LONGEST_HOLD_SECONDS, FIRST_HOLD_SECONDS * 2.0 ** min(refusals - 1, 10))
        if asked is not None:
            pause = min(asked, self._max_hold)
        elif status == 503:
            return 0.0  # an error like others: the link is tried again, the host is not held
        if pause > 0:
            self.hold(host, pause)
        return pause

    def close(self) -> None:
        """Let go of the shared clock."""
        if self._clock is not None:
            self._clock.close()


def seconds_of(retry_after: str, now: float) -> float | None:
    """Return the seconds that a Retry-After asks for; None when it says nothing usable."""
    value = retry_after.strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)
