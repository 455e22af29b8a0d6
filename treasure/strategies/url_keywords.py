"""crawl4ai's keyword scorer: the share of the topic's keywords that occur in the address.

``KeywordRelevanceScorer`` of crawl4ai's best-first deep crawl looks at the URL and nothing else:
score = keywords found as substrings / keywords. Decision: keywords are the topic file's, else the
stems of the topic's name and description (a stem, since ``bird`` is in Blackbird.htm and *birds* is
not); the address is taken as it is, in lower case.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from treasure.pages import Link
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.text import VOCABULARY
from treasure.text_model import term_counts, topic_terms


class UrlKeywords(Strategy):
    """score(link) = |keywords in the URL| / |keywords|."""

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        stems = [VOCABULARY.stem(t) for t in term_counts(topic_terms(brief.topic).tolist())]
        self._keywords = [word.lower() for word in brief.topic.keywords] or stems

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:  # noqa: ARG002
        """Return the share of keywords in every address."""
        return [self._share(unquote(link.url, errors="replace").lower()) for link in links]

    def _share(self, address: str) -> float:
        if not self._keywords:
            return 0.0
        return sum(word in address for word in self._keywords) / len(self._keywords)
