"""Naive-Bayes-guided crawl: links inherit the probability that their page is on topic.

Chakrabarti, van den Berg and Dom, "Focused crawling: a new approach to topic-specific Web resource
discovery" (WWW 1999), soft focus: the priority of a link is R(p) = P(good | p) of its page, from a
multinomial naive Bayes model with Laplace smoothing; of several pages the best counts.

    log odds(p) = log P(on)/P(off) + sum over words w of log P(w | on) / P(w | off)

Positive texts are the topic's words and the examples; the background stands for the rest of the
web. Decisions: equal priors; without a background P(w | off) is uniform over the words known; and
as the posterior of a page of hundreds of words is 0 or 1 to the last bit, the score is the logistic
function of the log odds divided by the square root of the page's length, which keeps their sign.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival, Brief
from treasure.strategies.memory import SeveralPages
from treasure.strategies.scores import logistic
from treasure.text_model import Terms, term_counts, topic_terms


class NaiveBayes(SeveralPages):
    """score(link) = P(on topic | page), tempered."""

    wants = frozenset({"examples", "background"})

    def __init__(self, brief: Brief, *, several: str = "") -> None:
        super().__init__(brief, several=several)
        on = term_counts(topic_terms(brief.topic).tolist())
        for page in brief.examples:
            on += term_counts(page.main_terms.tolist())
        off: Counter[int] = Counter()
        for page in [*brief.background, *brief.negatives]:
            off += term_counts(page.main_terms.tolist())
        self._odds = _log_odds(on, off)

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the page's tempered probability for every link."""
        return [self.probability(arrival.page.main_terms)] * len(links)

    def probability(self, terms: Terms) -> float:
        """Return the tempered probability that a text is on topic; a half without known words."""
        odds = [self._odds[term] for term in terms.tolist() if term in self._odds]
        tempered = sum(odds) / math.sqrt(len(odds)) if odds else 0.0
        return logistic(tempered)


def _log_odds(on: Counter[int], off: Counter[int]) -> dict[int, float]:
    """Return log P(w | on) / P(w | off) by word, both Laplace smoothed."""
    known = set(on) | set(off)
    shift = math.log((off.total() + len(known)) / (on.total() + len(known))) if known else 0.0
    return {w: math.log((on[w] + 1) / (off[w] + 1)) + shift for w in sorted(known)}
