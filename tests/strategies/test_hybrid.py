from __future__ import annotations

import pytest

from tests.strategies.small_web import arrival, brief, page, url
from treasure.strategies.base import FLOOR
from treasure.strategies.hybrid import Hybrid
from treasure.topics import Topic
from treasure.urls import url_key

OWLS = Topic(name="owls")


def squashed(rank: float) -> float:
    return FLOOR + (1 - FLOOR) * rank / (1 + rank)


def taken(strategy: Hybrid, name: str, text: str, *, on_topic: bool = False) -> list[float]:
    read = page(name, text)
    came = arrival(read, 1.0 if on_topic else 0.0)
    strategy.learn(came)
    return strategy.score(came, read.links)


def test_links_to_and_from_seed_pages_count() -> None:
    # The example links to P; P links to the example: two links. P has the words hill and tower
    # beside owls and "example": sim = 1/sqrt(4). rank = 2 x (0.1 + 0.5) = 1.2.
    example = page("Example", "owls [P|more]")
    strategy = Hybrid(brief(OWLS, examples=[example]))
    similarity = strategy._query.similarity(page("P", "owls hill tower example").main_terms)
    scores = taken(strategy, "P", "owls hill [A|tower] [Example|example]")
    assert scores == [pytest.approx(squashed(2 * (0.1 + similarity)))] * 2
    assert similarity > 0


def test_pages_without_such_links_wait_below_the_floor_by_similarity() -> None:
    strategy = Hybrid(brief(OWLS))
    [off] = taken(strategy, "Off", "hill [A|tower]")
    [near] = taken(strategy, "Near", "owls [B|tower]")
    assert off == 0.0
    assert near == pytest.approx(FLOOR / 2**0.5)


def test_a_page_found_on_topic_raises_those_that_link_to_it() -> None:
    strategy = Hybrid(brief(OWLS))
    [before, _] = taken(strategy, "Hub", "owls [A|tower] [Owl|bridge]")
    assert before == pytest.approx(FLOOR / 3**0.5)
    taken(strategy, "Owl", "owls", on_topic=True)
    # One link to a seed page: rank = 1 x (0.1 + 1/sqrt(3)); A waits on that page, Owl is fetched.
    raised = squashed(0.1 + 1 / 3**0.5)
    assert strategy.rescored() == {url_key(url("A")): pytest.approx(raised)}
    assert strategy.rescored() == {}


def test_a_page_found_on_topic_raises_those_it_links_to() -> None:
    strategy = Hybrid(brief(OWLS))
    taken(strategy, "Hub", "owls [A|tower]")
    taken(strategy, "Owl", "owls [Hub|the]", on_topic=True)
    raised = squashed(0.1 + 1 / 2**0.5)
    assert strategy.rescored() == {url_key(url("A")): pytest.approx(raised)}
