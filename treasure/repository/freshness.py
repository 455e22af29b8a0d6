"""Freshness: when to look at a page again.

The interval adapts as Nutch's does: shorter after a change, longer without one, within bounds.
Pages of higher relevance are looked at sooner (``due``), and when more are due than may be asked
for, those go first whose look promises most: the chance of a change since the last look, times
relevance. The chance is Cho and Garcia-Molina's (2003) for changes that come at random:
1 - exp(-time / mean time between changes), with the mean from the page's own history.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

DAY_SECONDS = 86_400.0
FIRST_INTERVAL_SECONDS = 7 * DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Policy:
    """How intervals grow and shrink."""

    least_seconds: float = 3_600.0
    most_seconds: float = 180 * DAY_SECONDS
    changed: float = 0.5
    """What an interval is multiplied by when the page has changed: more than Nutch's 0.8, since we
    begin with a guess that is often far too long."""
    unchanged: float = 1.4
    misses_until_gone: int = 3
    """Failed looks in a row after which a page that never said 404 counts as gone."""


@dataclass(frozen=True, slots=True)
class History:
    """What is known of a page's changes."""

    checked_at: float
    interval: float = FIRST_INTERVAL_SECONDS
    checks: int = 0
    changes: int = 0
    misses: int = 0
    gone_at: float | None = None


def weight(relevance: float) -> float:
    """Return how much sooner a page of *relevance* is due: 0.5 to 1.5."""
    return 0.5 + min(1.0, max(0.0, relevance))


def first_due(fetched_at: float, relevance: float) -> float:
    """Return when a page is first looked at again."""
    return due(History(fetched_at), relevance)


def due(history: History, relevance: float) -> float:
    """Return when a page is looked at again."""
    return history.checked_at + history.interval / weight(relevance)


def promise(history: History, relevance: float, now: float) -> float:
    """Return what a look at the page now is worth: chance of a change times relevance."""
    waited = max(0.0, now - history.checked_at)
    # The interval stands for the mean where there is no history yet; one look counts as one.
    mean = history.interval * (history.checks + 1) / (history.changes + 1)
    mean = min(mean, history.interval * 2)
    return (1.0 - math.exp(-waited / max(mean, 1.0))) * weight(relevance)


def changed(history: History, now: float, policy: Policy) -> History:
    """Return the history after a look that found a change."""
    return _looked(history, now, policy, policy.changed, history.changes + 1)


def unchanged(history: History, now: float, policy: Policy) -> History:
    """Return the history after a look that found nothing new."""
    return _looked(history, now, policy, policy.unchanged, history.changes)


def missed(history: History, now: float, policy: Policy, *, certain: bool) -> History:
    """Return the history after a look that found no page; *certain* for 404 and 410."""
    misses = history.misses + 1
    gone = certain or misses >= policy.misses_until_gone
    return replace(
        history,
        checked_at=now,
        checks=history.checks + 1,
        misses=misses,
        interval=_clamped(history.interval * policy.unchanged, policy),
        gone_at=(history.gone_at or now) if gone else history.gone_at,
    )


def _looked(history: History, now: float, policy: Policy, factor: float, changes: int) -> History:
    return History(
        checked_at=now,
        interval=_clamped(history.interval * factor, policy),
        checks=history.checks + 1,
        changes=changes,
    )


def _clamped(interval: float, policy: Policy) -> float:
    return min(policy.most_seconds, max(policy.least_seconds, interval))
