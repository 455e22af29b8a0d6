"""Lookout: notices when a crawl goes wrong, and says what to do about it.

Three things are worth waking somebody for: the harvest collapses, a host turns hostile, the
frontier runs dry. An alert is raised once, stays while its cause lasts, and goes when it is gone.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import asdict, dataclass
from typing import Any

RECENT_PAGES = 200
COLLAPSE = 0.25
"""The harvest collapsed when the recent rate is below this share of the rate before."""
LEAST_ON_TOPIC = 20
"""On-topic pages before we speak of a harvest at all."""
HOSTILE_FAILURES = 10
"""Failures in a row that make a host hostile."""
DRY_LINKS = 10
DRY_AFTER_PAGES = 50
HOSTS = 10_000
"""Hosts whose failures we count."""


@dataclass(frozen=True, slots=True)
class Alert:
    """Something is wrong."""

    kind: str
    """``harvest``, ``host`` or ``frontier``; with what it is about after a colon."""
    text: str
    advice: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


class Lookout:
    """Keeps watch over one crawl."""

    def __init__(self) -> None:
        self.active: dict[str, Alert] = {}
        self._marks: deque[tuple[int, int]] = deque([(0, 0)])
        self._failures: OrderedDict[str, tuple[int, str]] = OrderedDict()

    def landed(self, host: str, failure: str) -> None:
        """Take in what came of a request; *failure* is empty when all was well."""
        if not failure:
            self._failures.pop(host, None)
            return
        count = self._failures.get(host, (0, ""))[0] + 1
        self._failures[host] = count, failure
        self._failures.move_to_end(host)
        if len(self._failures) > HOSTS:
            self._failures.popitem(last=False)

    def look(self, pages: int, on_topic: int, queued: int, *, paused: bool = False) -> list[Alert]:
        """Return what is newly wrong; ``active`` holds all that is."""
        found = [*self._hosts(), *self._harvest(pages, on_topic)]
        if not paused and pages >= DRY_AFTER_PAGES and queued <= DRY_LINKS:
            found.append(
                Alert(
                    "frontier",
                    f"The frontier runs dry: {queued} links wait.",
                    "Add seeds (`treasure steer JOB seeds URL...`), widen TREASURE_ALLOWED_DOMAINS"
                    " or the budgets, or let the crawl end: all it found is fetched.",
                )
            )
        new = [alert for alert in found if alert.kind not in self.active]
        self.active = {alert.kind: alert for alert in found}
        return new

    def _harvest(self, pages: int, on_topic: int) -> list[Alert]:
        marks = self._marks
        if pages != marks[-1][0]:
            marks.append((pages, on_topic))
        while len(marks) > 2 and pages - marks[1][0] >= RECENT_PAGES:
            marks.popleft()
        then, before = marks[0]
        if before < LEAST_ON_TOPIC or pages - then < RECENT_PAGES:
            return []
        usual, recent = before / then, (on_topic - before) / (pages - then)
        if recent >= COLLAPSE * usual:
            return []
        return [
            Alert(
                "harvest",
                f"The harvest collapsed: {recent:.0%} of the last {pages - then} pages are on"
                f" topic, {usual:.0%} were before.",
                "Look at what is fetched (`treasure status JOB`), block what floods the frontier"
                " (`treasure steer JOB block HOST`), relabel pages that are judged wrongly, or"
                " stop: the topic may be exhausted here.",
            )
        ]

    def _hosts(self) -> list[Alert]:
        return [
            Alert(
                f"host:{host}",
                f"{host} failed {count} times in a row ({failure}).",
                "It may have banned us. Ask its webmaster, slow down"
                " (TREASURE_HOST_DELAY_SECONDS), or block it"
                f" (`treasure steer JOB block {host}`).",
            )
            for host, (count, failure) in self._failures.items()
            if count >= HOSTILE_FAILURES
        ]
