"""Anchor text only: a link is worth what its own words are about.

One of the crawlers that Peng et al. (2014) compare CBP-SLC with. The relevance is our judge's.
"""

from __future__ import annotations

from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import FLOOR, Arrival
from treasure.strategies.memory import SeveralPages


class Anchor(SeveralPages):
    """score(link) = relevance of the anchor text; the floor where there are no words (images)."""

    wants = frozenset({"examples"})

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the relevance of every anchor."""
        judge, terms = self.brief.judge, arrival.page.terms
        return [
            judge.text_relevance(terms[link.anchor.start : link.anchor.stop])
            if link.anchor
            else FLOOR
            for link in links
        ]
