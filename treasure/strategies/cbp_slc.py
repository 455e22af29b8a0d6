"""CBP, SLC and CBP-SLC: content blocks first, then anchors, then the context of links.

Peng, Du, Hai, Chen and Gao, "Focused crawling enhanced by CBP-SLC" (Knowledge-Based Systems 2014),
algorithm 4. For each content block (cbp.py): a relevant block gives all its links its relevance; in
another, an anchor text that is relevant gives its own; else the link context does, if relevant: all
text under the anchor's parent element, those of several blocks joined. Relevance is the weighted
voting classifier's (wvc.py), trained on topic and examples against the background; relevant is
above 1/2. CBP alone stops after the blocks, SLC alone starts with the anchors. A link
that waits already is omitted: its first score stays.

Decisions. What the paper does not queue waits below the floor, in the order of the best relevance
that was tried. A link of several blocks has the best of its scores. Without a background there is
nothing to train against, and the judge's relevance takes the classifier's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from treasure.pages import Link, Page
from treasure.strategies.base import FLOOR, Arrival, Brief
from treasure.strategies.cbp import ContentBlock, content_blocks
from treasure.strategies.memory import SeveralPages
from treasure.strategies.wvc import train
from treasure.text_model import Terms, topic_terms

RELEVANT = 0.5


class CbpSlc(SeveralPages):
    """Blocks, then anchors, then contexts."""

    wants = frozenset({"examples", "background"})
    several = "first"
    uses_blocks = True
    uses_anchors = True

    def __init__(self, brief: Brief, *, several: str = "") -> None:
        super().__init__(brief, several=several)
        self._relevance: Callable[[Terms], float] = brief.judge.text_relevance
        if brief.background:
            positive = [topic_terms(brief.topic), *(page.main_terms for page in brief.examples)]
            self._relevance = train(positive, [p.main_terms for p in brief.background]).relevance

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the relevance of block, anchor or context for every link."""
        ratings = self.ratings(arrival.page)
        return [ratings.get(link.url, 0.0) for link in links]

    def ratings(self, page: Page) -> dict[str, float]:
        """Return the score of every link of *page* by its URL."""
        blocks = content_blocks(page)
        contexts = _contexts(blocks) if self.uses_anchors else {}
        ratings: dict[str, float] = {}
        for block in blocks:
            for url, rating in self._rated(block, contexts):
                ratings[url] = max(rating, ratings.get(url, 0.0))
        return ratings

    def _rated(
        self, block: ContentBlock, contexts: dict[str, Terms]
    ) -> Iterator[tuple[str, float]]:
        whole = self._relevance(block.terms) if self.uses_blocks else 0.0
        for anchor in block.anchors:
            tried = [whole]
            if self.uses_anchors and whole <= RELEVANT:
                tried.append(self._relevance(anchor.terms))
                if tried[-1] <= RELEVANT:
                    tried.append(self._relevance(contexts[anchor.url]))
            yield anchor.url, tried[-1] if tried[-1] > RELEVANT else FLOOR * max(tried)


class Cbp(CbpSlc):
    """Content block partition alone: links of irrelevant blocks are left for the end."""

    uses_anchors = False


class Slc(CbpSlc):
    """Selective link context alone: anchors, then contexts, wherever they stand."""

    uses_blocks = False


def _contexts(blocks: Sequence[ContentBlock]) -> dict[str, Terms]:
    """Return the full link context of each URL: those in all blocks, joined."""
    parts: dict[str, list[Terms]] = {}
    for block in blocks:
        for anchor in block.anchors:
            parts.setdefault(anchor.url, []).append(anchor.context)
    return {url: np.concatenate(contexts) for url, contexts in parts.items()}
