from __future__ import annotations

import math

import pytest

from tests.strategies.small_web import arrival, brief, page, terms
from treasure.strategies.naive_bayes import NaiveBayes
from treasure.topics import Topic

OWLS = Topic(name="owls")


def test_log_odds_by_hand() -> None:
    # On: owls 3 (the name, three times), barn 1. Off: hill 2. Three words are known.
    # P(owls|on) = 4/7, P(barn|on) = 2/7, P(hill|on) = 1/7; off: 1/5, 1/5, 3/5.
    given = brief(
        OWLS, examples=[page("Example", "barn")], background=[page("Background", "hill hill")]
    )
    strategy = NaiveBayes(given)
    odds = math.log((4 / 7) / (1 / 5)) + math.log((1 / 7) / (3 / 5))
    expected = 1 / (1 + math.exp(-odds / math.sqrt(2)))
    assert strategy.probability(terms("owls hill unknown")) == pytest.approx(expected)
    assert strategy.probability(terms("")) == 0.5


def test_the_best_page_of_a_link_counts() -> None:
    given = brief(OWLS, background=[page("Background", "hill tower")])
    strategy = NaiveBayes(given)
    good, bad = page("Good", "owls [A|the]"), page("Bad", "hill hill [A|the]")
    [best] = strategy.score(arrival(good), good.links)
    assert best > 0.5 > strategy.probability(bad.main_terms)
    assert strategy.score(arrival(bad), bad.links) == [best]


def test_without_a_background_other_words_are_uniform() -> None:
    # owls 3, barn 2 and hill 1 of six; uniform is 1/3 each: (4/9) / (1/3) and (2/9) / (1/3).
    given = brief(OWLS, examples=[page("Example", "barn barn hill")])
    strategy = NaiveBayes(given)
    assert strategy.probability(terms("owls")) == pytest.approx((4 / 3) / (4 / 3 + 1))
    assert strategy.probability(terms("hill")) == pytest.approx((2 / 3) / (2 / 3 + 1))
