"""The topic-specific weight table of Pal et al. (2009) and the relevance measured with it.

    w = tf x df over K texts, the 50 highest;  W = W_i / W_max                          (eq. 1)
    w_kp = 2 x count in the title + 1 x count in the common text                        (eq. 2)
    Relevance(t, p) = sum w_kt w_kp / sqrt(sum (w_kt)^2 x sum (w_kp)^2)                 (eq. 3)

with k in t and p above the line, and all words of the table and of the page below it. The K texts
are a search engine's first results in the paper, the topic's words and the examples here.

A page with a relevance of at least 0.9 adds its most frequent keyword to the table, weighing as
much as the page is relevant. Decision: a keyword that is not yet there, and at most 50 of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from treasure.pages import Page
from treasure.text import VOCABULARY
from treasure.text_model import cosine, term_counts, topic_terms
from treasure.topics import Topic

EXPANDS_FROM = 0.9
MAX_ADDED = 50


class WeightTable:
    """Topic keywords and their weights, 0 to 1."""

    def __init__(self, weights: Mapping[int, float]) -> None:
        self.weights = dict(weights)
        self.added: dict[str, float] = {}
        """Keywords that pages added, by stem."""

    @classmethod
    def of(cls, topic: Topic, examples: Sequence[Page], *, size: int = 50) -> WeightTable:
        """Return the table of *topic*: the *size* highest tf x df, divided by the maximum."""
        texts = [term_counts(topic_terms(topic).tolist())]
        texts += [term_counts(page.main_terms.tolist()) for page in examples]
        tf: Counter[int] = Counter()
        df: Counter[int] = Counter()
        for text in texts:
            tf.update(text)
            df.update(text.keys())
        # Ids depend on what this process read before; stems do not.
        ranked = sorted((-tf[k] * df[k], VOCABULARY.stem(k), k) for k in tf)[:size]
        return cls({k: weight / ranked[0][0] for weight, _, k in ranked})

    def relevance(self, weights: Mapping[int, float]) -> float:
        """Return Relevance(t, p) of a text with these word weights."""
        return cosine(self.weights, weights)

    def page_relevance(self, page: Page) -> float:
        """Return Relevance(t, p) of a page, its title counting twice."""
        return self.relevance(page_weights(page))

    def expand(self, page: Page, relevance: float) -> None:
        """Add the most frequent keyword of a highly relevant *page*."""
        if relevance < EXPANDS_FROM or len(self.added) >= MAX_ADDED:
            return
        counts = term_counts(page.terms.tolist())
        new = [(-n, VOCABULARY.stem(k)) for k, n in counts.items() if k not in self.weights]
        if new:
            self.add(min(new)[1], relevance)

    def add(self, stem: str, weight: float) -> None:
        """Add a keyword."""
        self.added[stem] = weight
        self.weights[VOCABULARY.id_of_stem(stem)] = weight


def page_weights(page: Page) -> Counter[int]:
    """Return w_kp by word: each count, and that in the title once more."""
    return term_counts(page.terms.tolist()) + page.counts(page.title_span)
