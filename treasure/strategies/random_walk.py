"""Random: every waiting link is equally likely to be next.

A score drawn once per link would not do: links that have waited long are those that drew badly, so
newcomers would go first. Exponential clocks have no memory: give each link an alarm at *now* plus
an Exp(1) time, and whichever rings next is uniform among the waiting, however long they waited.
With score = exp(-time), *now* is the score of the link that was taken, and exp(-Exp(1)) is uniform
between 0 and 1: score(link) = score(taken) x U.

Ageing and exploration of the frontier bend this; switch both off for a pure random crawl.
"""

from __future__ import annotations

from collections.abc import Sequence

from treasure.pages import Link
from treasure.strategies.base import Arrival, Strategy
from treasure.strategies.scores import uniform


class RandomWalk(Strategy):
    """Draws by hash of seed, page and link: repeatable, whatever the order of the calls."""

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the score of the link that led here times a uniform draw, for every link."""
        seed = self.brief.random_seed
        return [arrival.score * uniform(seed, arrival.url, link.url) for link in links]
