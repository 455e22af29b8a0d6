"""Best-first: a link is worth what the page is worth on which it stands.

Cho, Garcia-Molina and Page, "Efficient crawling through URL ordering" (WWW 1998); Menczer, Pant
and Srinivasan, "Topical web crawlers" (TOIT 2004), where it is the crawler hard to beat. The
relevance is our judge's.
"""

from __future__ import annotations

from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival
from treasure.strategies.memory import SeveralPages


class BestFirst(SeveralPages):
    """score(link) = max over its pages p of relevance(p)."""

    wants = frozenset({"examples"})

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the page's relevance for every link."""
        return [arrival.verdict.relevance] * len(links)
