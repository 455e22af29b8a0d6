"""Speed: how fast the whole crawl may go: hours and rates, sliding-window ceilings, back-off.

Politeness to a host is the frontier's affair; this is about our own line and the people we share
it with. The papers slide a window over the fetches and let the next one wait while the window is
full; so do we, for pages and for bytes. A window of the schedule looks like

    mon-fri 08:00-18:00 2/s        30/min, 500/h, 1.5/s; ``stop`` takes nothing, ``full`` all we can
    22:00-06:00 full               no day is every day; past midnight it is the day it began
    sat+sun 10/s                   no hours is the whole day

The first window that holds decides; outside all of them only the ceilings count. Hours are those
of the machine's local time. Speed is a Gate of the scheduler: ``opens_at`` says when the next page
may be taken. Times are seconds of the caller's clock; ``wall`` tells the time of day.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, inf

from treasure.errors import ConfigError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTES = 24 * 60
BYTES_WINDOW_SECONDS = 10.0
_UNITS = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hour": 3600.0}
_HOURS = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_RATE = re.compile(r"(\d+(?:\.\d+)?)/(s|sec|min|h|hour)")


@dataclass(frozen=True, slots=True)
class SpeedWindow:
    """Some hours of some days, and the pages a second that are allowed then."""

    days: frozenset[int]
    start: int
    """Minutes after midnight."""
    stop: int
    """May lie after midnight: then it is more than 1440."""
    rate: float
    """Pages a second; 0 is a stop, infinity no limit."""
    text: str

    def holds(self, moment: datetime) -> bool:
        """Tell whether *moment* lies in the window, which may have begun the day before."""
        minute = moment.hour * 60 + moment.minute
        return any(
            (moment.weekday() - days_ago) % 7 in self.days
            and self.start <= minute + days_ago * MINUTES < self.stop
            for days_ago in (0, 1)
        )


def parse_windows(texts: Sequence[str]) -> list[SpeedWindow]:
    """Return the windows of a schedule; raise ConfigError for one that makes no sense."""
    return [_window(text) for text in texts]


def parse_rate(text: str) -> float:
    """Return pages a second: ``2/s``, ``30/min``, ``stop``, ``full``; raise ValueError."""
    word = text.strip().lower()
    if word in ("stop", "full"):
        return 0.0 if word == "stop" else inf
    found = _RATE.fullmatch(word)
    if not found:
        raise ValueError(text)
    return float(found[1]) / _UNITS[found[2]]


class Speed:
    """When the next page may be taken."""

    def __init__(
        self,
        windows: Sequence[SpeedWindow] = (),
        *,
        pages_per_second: float = 0.0,
        bytes_per_second: float = 0.0,
        backoff: Backoff | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.windows = list(windows)
        self.pages_per_second = pages_per_second
        self.bytes_per_second = bytes_per_second
        self.backoff = backoff
        self._wall = wall
        self._pages = SlidingWindow()
        self._bytes = SlidingWindow()
        self._schedule: tuple[float, SpeedWindow | None] = (-inf, None)

    def opens_at(self, now: float) -> float:
        """Return when the next page may be taken: *now* or earlier when it may be at once."""
        window, ends = self._window(now)
        rate = self._rate(window)
        if rate <= 0:
            return ends
        opens = now
        if rate < inf:
            seconds = max(1.0, 1.0 / rate)
            opens = self._pages.frees_at(now, seconds, floor(rate * seconds + 1e-9))
        if self.bytes_per_second:
            room = self.bytes_per_second * BYTES_WINDOW_SECONDS
            opens = max(opens, self._bytes.frees_at(now, BYTES_WINDOW_SECONDS, room))
        return opens

    def in_a_row(self, now: float) -> bool:
        """Tell whether nothing limits the speed."""
        return not self.bytes_per_second and self._rate(self._window(now)[0]) == inf

    def taken(self, now: float) -> None:
        """Note that a page is being taken."""
        if self._rate(self._window(now)[0]) < inf:
            self._pages.add(now, 1)

    def landed(self, now: float, size: int, latency: float) -> None:
        """Note that *size* bytes arrived, *latency* seconds after we asked for them."""
        if self.bytes_per_second and size:
            self._bytes.add(now, size)
        if self.backoff is not None:
            self.backoff.landed(now, latency)

    def why(self, now: float) -> str:
        """Return what limits the speed now, in words; empty when nothing does."""
        window, _ = self._window(now)
        reasons = [f"window {window.text!r}"] if window is not None else []
        if self.pages_per_second:
            reasons.append(f"ceiling of {self.pages_per_second:g} pages/s")
        if self.bytes_per_second:
            reasons.append(f"ceiling of {self.bytes_per_second:,.0f} bytes/s")
        if self.backoff is not None and self.backoff.limit < inf:
            reasons.append(f"answers are slow: {self.backoff.limit:.1f} pages/s")
        return ", ".join(reasons)

    def _rate(self, window: SpeedWindow | None) -> float:
        rates = [self.pages_per_second or inf]
        if window is not None:
            rates.append(window.rate)
        if self.backoff is not None:
            rates.append(self.backoff.limit)
        return min(rates)

    def _window(self, now: float) -> tuple[SpeedWindow | None, float]:
        """Return the window that holds at *now*, and when to look again (each minute at most)."""
        if not self.windows:
            return None, inf
        until, window = self._schedule
        if now >= until:
            wall = self._wall()
            moment = datetime.fromtimestamp(wall)
            until = now + 60 - wall % 60
            window = next((window for window in self.windows if window.holds(moment)), None)
            self._schedule = until, window
        return window, until


class SlidingWindow:
    """What happened in the last seconds, and when there is room again."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, float]] = deque()
        self._total = 0.0

    def add(self, now: float, amount: float) -> None:
        """Note *amount* at *now*."""
        self._marks.append((now, amount))
        self._total += amount

    def frees_at(self, now: float, seconds: float, room: float) -> float:
        """Return when less than *room* lies within the last *seconds*: *now* if it does now."""
        marks = self._marks
        while marks and marks[0][0] + seconds <= now:
            self._total -= marks.popleft()[1]
        total = self._total
        if total < room:
            return now
        for then, amount in marks:
            total -= amount
            if total < room:
                return then + seconds
        return now


class Backoff:
    """Slows the crawl while answers take much longer than usual, and speeds it up again.

    Half the rate when the typical latency of the last answers is *factor* times the usual one;
    ten per cent more with every look at answers that are as usual again, until there is no limit.
    """

    LOOK_SECONDS = 5.0
    LEAST_SECONDS = 0.5
    """Answers faster than this never count as slow."""
    LEAST_RATE = 0.2

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.limit = inf
        self.usual = 0.0
        self._latencies: list[float] = []
        self._looked_at = -inf
        self._peak = 0.0

    def landed(self, now: float, latency: float) -> None:
        """Take in the latency of one answer."""
        self._latencies.append(latency)
        if self._looked_at == -inf:
            self._looked_at = now
        if now - self._looked_at >= self.LOOK_SECONDS and len(self._latencies) >= 5:
            self._look(now)

    def _look(self, now: float) -> None:
        recent = sorted(self._latencies)[len(self._latencies) // 2]
        rate = len(self._latencies) / (now - self._looked_at)
        self._latencies.clear()
        self._looked_at = now
        if self.usual and recent > max(self.LEAST_SECONDS, self.factor * self.usual):
            if self.limit == inf:
                self._peak = rate
            self.limit = max(self.LEAST_RATE, min(self.limit, rate) / 2)
            return
        # What is usual follows slowly upwards and quickly downwards.
        step = 0.05 if self.usual and recent > self.usual else 0.5
        self.usual = recent if not self.usual else self.usual + step * (recent - self.usual)
        if self.limit < inf:
            self.limit *= 1.1
            if self.limit > self._peak:
                self.limit = inf


def _window(text: str) -> SpeedWindow:
    parts = text.lower().split()
    expected = "expected such as 'mon-fri 08:00-18:00 2/s', '22:00-06:00 full' or 'sat+sun stop'"
    try:
        rate = parse_rate(parts.pop())
        start, stop = 0, MINUTES
        if parts and _HOURS.fullmatch(parts[-1]):
            start, stop = _hours(parts.pop())
        days = _days(parts.pop()) if parts else frozenset(range(7))
        if parts:
            raise ValueError(text)
    except (ValueError, IndexError):
        raise ConfigError(f"TREASURE_SPEED_WINDOWS: {text!r} is no window; {expected}.") from None
    return SpeedWindow(days, start, stop, rate, " ".join(text.split()))


def _hours(text: str) -> tuple[int, int]:
    found = _HOURS.fullmatch(text)
    assert found is not None
    first, first_minute, last, last_minute = (int(part) for part in found.groups())
    start, stop = first * 60 + first_minute, last * 60 + last_minute
    if first_minute > 59 or last_minute > 59 or start >= MINUTES or stop > MINUTES:
        raise ValueError(text)
    if start == stop:
        raise ValueError(text)
    return start, stop if stop > start else stop + MINUTES


def _days(text: str) -> frozenset[int]:
    days: set[int] = set()
    for part in text.split("+"):
        first, dash, last = part.partition("-")
        begin = DAYS.index(first)
        end = DAYS.index(last) if dash else begin
        days.update(day % 7 for day in range(begin, end + 1 if end >= begin else end + 8))
    return frozenset(days)
