from __future__ import annotations

import math

import pytest

from tests.strategies.small_web import arrival, brief, page, url
from treasure.pages import Page
from treasure.strategies.q_learning import PLACES, RESCORE_EVERY, QLearning, features_of
from treasure.urls import url_key


def learner(**options: float) -> QLearning:
    return QLearning(brief(), **{"epsilon": 0.0, "replays": 0, **options})  # type: ignore[arg-type]


def read(strategy: QLearning, what: Page, relevance: float) -> list[float]:
    came = arrival(what, relevance)
    strategy.learn(came)
    return strategy.score(came, what.links)


def test_features_are_distinct_n_grams() -> None:
    [link] = page("P", "[A|owl]").links
    # Address "small.test/A.htm": 16 characters, 14 + 13 + 12 n-grams of 3, 4 and 5, all different;
    # anchor " owl ": 3 + 2 + 1.
    places = features_of(link)
    assert places.size == 39 + 6
    assert 0 <= places.min() <= places.max() < PLACES


def test_one_step_by_hand() -> None:
    strategy = learner(rate=0.5)
    hub = page("Hub", "[A|owl]")
    read(strategy, hub, 0.0)
    # Q = 0; target = 0.8 + 0.4 x 0; phi has length 1, so Q becomes 0.5 x 0.8.
    strategy.learn(arrival(page("A", "text"), 0.8))
    assert strategy.q(features_of(hub.links[0])) == pytest.approx(0.4)


def test_the_best_link_of_the_new_page_counts_discounted() -> None:
    strategy = learner(rate=1.0)
    hub = page("Hub", "[A|owl]")
    read(strategy, hub, 0.0)
    strategy.learn(arrival(page("A", "text"), 1.0))  # Q(A) = 1 with rate 1
    second = page("Start", "[B|other]")
    read(strategy, second, 0.0)
    strategy.learn(arrival(page("B", "[A|owl] [C|far]"), 0.5))
    # target = 0.5 + 0.4 x Q(A) = 0.9, before B's own n-grams change Q(A).
    assert strategy.q(features_of(second.links[0])) == pytest.approx(0.9)


def test_failures_teach_that_there_is_nothing() -> None:
    strategy = learner(rate=1.0)
    hub = page("Hub", "[A|owl]")
    read(strategy, hub, 0.0)
    strategy.learn(arrival(page("A", "text"), 1.0))
    read(strategy, hub, 0.0)
    strategy.failed(url("A"))
    assert strategy.q(features_of(hub.links[0])) == pytest.approx(0.0)


def test_waiting_links_are_scored_again() -> None:
    strategy = learner()
    waiting = page("Hub", "[Owl_1|owl one] [Owl_2|owl two] [Hill|hill]")
    before = read(strategy, waiting, 0.0)
    assert before[1] == before[2]  # one host, nothing learned: the same
    strategy.learn(arrival(page("Owl_1", "text"), 1.0))
    for i in range(RESCORE_EVERY - 2):
        strategy.learn(arrival(page(f"Other_{i}", "text"), 0.0))
    scores = strategy.rescored()
    assert scores.keys() == {url_key(url("Owl_2")), url_key(url("Hill"))}
    assert scores[url_key(url("Owl_2"))] > scores[url_key(url("Hill"))]


def test_a_share_of_fetches_is_drawn_at_random() -> None:
    strategy = learner(epsilon=0.2)
    read(strategy, page("Hub", " ".join(f"[L{i}|link]" for i in range(50))), 0.0)
    drawn = 0
    for i in range(1_000):
        strategy.learn(arrival(page(f"Other_{i}", "text"), 0.0))
        drawn += 1.0 in strategy.rescored().values()
    assert abs(drawn / 1_000 - 0.2) < 0.05


def test_hosts_are_drawn_by_softmax_of_q() -> None:
    """P(host a) = exp(q_a / T) / (exp(q_a / T) + exp(q_b / T))."""
    strategy = learner(temperature=1.0)
    wins = 0
    for _ in range(2_000):
        strategy._arrivals += RESCORE_EVERY
        wins += strategy._squashed(0.7, "a.test") > strategy._squashed(0.2, "b.test")
    assert abs(wins / 2_000 - 1 / (1 + math.exp(-0.5))) < 0.03
