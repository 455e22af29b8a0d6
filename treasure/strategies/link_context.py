"""Link context: a link is worth what the words around it are about.

Pant and Srinivasan, "Link contexts in classifier-guided topical crawlers" (TKDE 2006): a window of
words around the anchor, here twelve each side and never beyond its paragraph or list. The relevance
is our judge's.
"""

from __future__ import annotations

from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival
from treasure.strategies.memory import SeveralPages


class LinkContext(SeveralPages):
    """score(link) = relevance of its anchor and the words around it."""

    wants = frozenset({"examples"})

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the relevance of every context."""
        page, judge = arrival.page, self.brief.judge
        contexts = [page.context(link) for link in links]
        return [judge.text_relevance(page.terms[start:stop]) for start, stop in contexts]
