"""Progress: the figures of a running crawl, and the line that shows them."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

WINDOW_SECONDS = 10.0
SUMMARY_LOG = "treasure.summary"
"""The log in which a crawl sums itself up at its end, as a line of JSON."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A crawl at one moment."""

    pages: int
    on_topic: int
    failed: int
    queued: int
    seconds: float
    pages_per_second: float
    seconds_left: float | None

    @property
    def harvest_rate(self) -> float:
        """Share of the fetched pages that are on topic."""
        return self.on_topic / self.pages if self.pages else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return asdict(self) | {"harvest_rate": round(self.harvest_rate, 4)}

    def line(self) -> str:
        """Return the figures for people, in one line."""
        left = "" if self.seconds_left is None else f"  {_duration(self.seconds_left)} left"
        return (
            f"{self.pages:,} pages  {self.pages_per_second:.0f}/s  {self.on_topic:,} on topic"
            f"  harvest {self.harvest_rate:.0%}  {self.queued:,} waiting{left}"
        )


class Speedometer:
    """Pages a second over the last seconds, and how long the rest will take."""

    def __init__(
        self, started: float, *, max_pages: int = 0, max_seconds: float = 0.0, before: int = 0
    ) -> None:
        """Begin; *max_pages* is of the job, which has had *before* of them."""
        self._started = started
        self._max_pages = max_pages
        self._before = before
        self._max_seconds = max_seconds
        self._marks: deque[tuple[float, int]] = deque([(started, 0)])

    def figures(self, now: float, pages: int, on_topic: int, failed: int, queued: int) -> Figures:
        """Return the figures at *now*."""
        self._marks.append((now, pages))
        while len(self._marks) > 2 and now - self._marks[0][0] > WINDOW_SECONDS:
            self._marks.popleft()
        then, before = self._marks[0]
        rate = (pages - before) / (now - then) if now > then else 0.0
        return Figures(
            pages, on_topic, failed, queued, now - self._started, rate, self._left(now, pages, rate)
        )

    def _left(self, now: float, pages: int, rate: float) -> float | None:
        limits = []
        if self._max_pages and rate > 0:
            limits.append(max(0, self._max_pages - self._before - pages) / rate)
        if self._max_seconds:
            limits.append(max(0.0, self._max_seconds - (now - self._started)))
        return min(limits) if limits else None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
