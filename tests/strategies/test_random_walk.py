from __future__ import annotations

import heapq
from collections import Counter

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.random_walk import RandomWalk
from treasure.strategies.scores import uniform


def test_the_score_is_that_of_the_taken_link_times_a_draw() -> None:
    strategy = RandomWalk(brief(random_seed=3))
    start = page("Start", "[A|one] [B|two]")
    scores = strategy.score(arrival(start, score=0.25), start.links)
    expected = [0.25 * uniform(3, start.url, link.url) for link in start.links]
    assert scores == expected
    assert scores != RandomWalk(brief(random_seed=4)).score(arrival(start), start.links)


def test_a_link_that_waits_long_is_as_likely_as_a_newcomer() -> None:
    """One link waits from the start; at each of two steps one newcomer joins.

    Drawn uniformly it is taken first in 1/2 of all crawls, and if not, next in 1/2 of the rest.
    A score drawn once per link would take it second in only 1/6 of all crawls: having lost once,
    it is probably low.
    """
    turns: Counter[int] = Counter()
    for seed in range(4_000):
        now = 1.0
        queue = [(-now * uniform(seed, "start", "old"), "old")]
        for step in range(2):
            heapq.heappush(queue, (-now * uniform(seed, step, f"new {step}"), f"new {step}"))
            score, taken = heapq.heappop(queue)
            now = -score
            if taken == "old":
                turns[step] += 1
                break
    assert abs(turns[0] / 4_000 - 1 / 2) < 0.03
    assert abs(turns[1] / 4_000 - 1 / 4) < 0.03
