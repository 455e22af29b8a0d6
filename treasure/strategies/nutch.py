"""Apache Nutch's similarity scoring: links inherit their page's cosine to a gold standard.

The plugin scoring-similarity of Nutch 1.x: term frequencies (no idf) of the page and of a file with
an ideal text; ``distributeScoreToOutlinks`` gives every link the score of its page. Our gold
standard is the topic's text and the example pages. Decision: a link on several pages has the mean
of their scores, since every long page has something in common with every other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival, Brief
from treasure.strategies.memory import SeveralPages
from treasure.text_model import cosine, term_counts, topic_terms


class Nutch(SeveralPages):
    """score(link) = cos(page, gold standard) of raw term frequencies."""

    wants = frozenset({"examples"})
    several = "mean"

    def __init__(self, brief: Brief, *, several: str = "") -> None:
        super().__init__(brief, several=several)
        self._gold: Counter[int] = term_counts(topic_terms(brief.topic).tolist())
        for page in brief.examples:
            self._gold += term_counts(page.main_terms.tolist())

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the page's similarity for every link."""
        similarity = cosine(self._gold, term_counts(arrival.page.main_terms.tolist()))
        return [similarity] * len(links)
