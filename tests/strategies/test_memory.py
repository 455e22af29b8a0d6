from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.strategies.small_web import arrival, brief, page
from treasure.errors import ConfigError
from treasure.pages import Link
from treasure.strategies.base import Arrival
from treasure.strategies.memory import Bounded, SeveralPages, link_keys


class Relevance(SeveralPages):
    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        return [arrival.verdict.relevance] * len(links)


def test_bounded_forgets_the_oldest() -> None:
    memory: Bounded[str, int] = Bounded(2)
    for key in "abc":
        memory[key] = 1
    memory["b"] = 2  # still the oldest: it is not new
    memory["d"] = 3
    assert list(memory) == ["c", "d"]


@pytest.mark.parametrize(
    ("several", "scores"),
    [("first", [0.6, 0.6, 0.6]), ("best", [0.6, 0.6, 0.9]), ("mean", [0.6, 0.4, 17 / 30])],
)
def test_ratings_of_several_pages(several: str, scores: list[float]) -> None:
    strategy = Relevance(brief(), several=several)
    for rating, score in zip([0.6, 0.2, 0.9], scores, strict=True):
        read = page(f"Page_{rating}", "[A|a link]")
        assert strategy.score(arrival(read, rating), read.links) == [pytest.approx(score)]


def test_a_fetched_link_starts_anew() -> None:
    strategy = Relevance(brief(), several="best")
    read, target = page("Page", "[A|a link]"), page("A", "text")
    strategy.score(arrival(read, 0.9), read.links)
    strategy.learn(arrival(target))
    assert strategy.score(arrival(read, 0.1), read.links) == [0.1]
    strategy.failed(target.url)
    assert strategy.score(arrival(read, 0.05), read.links) == [0.05]


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"first, best, mean. Got 'means'.* Did you mean 'mean'"):
        Relevance(brief(), several="means")


def test_link_keys_hold_each_page_once() -> None:
    read = page("Page", "[A|one] [B|two]", "[A|again]")
    assert link_keys(read) == [link.key for link in read.links[:2]]
