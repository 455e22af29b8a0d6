"""Breadth-first: first come, first served. The yardstick that every focused crawler must beat.

Najork and Wiener, "Breadth-first crawling yields high-quality pages" (WWW 2001).
"""

from __future__ import annotations

from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival, Strategy


class BreadthFirst(Strategy):
    """All links score the same; the frontier breaks ties by arrival, which is breadth-first."""

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:  # noqa: ARG002
        """Return one half for every link."""
        return [0.5] * len(links)
