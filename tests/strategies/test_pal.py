from __future__ import annotations

import pytest

from tests.strategies.small_web import arrival, brief, page, url
from treasure.pages import Page
from treasure.strategies.base import FLOOR
from treasure.strategies.pal import Pal
from treasure.topics import Topic
from treasure.urls import url_key

# A table of one word, owl = 1: the relevance of a text is 1 / sqrt(distinct words) if each occurs
# once. "small" and "test" of the host are in every address.
OWL = Topic(name="owl")
HILLS = "hill " * 100
"""Makes a page irrelevant that has the word owl in an anchor."""


def squashed(link_score: float) -> float:
    return FLOOR + (1 - FLOOR) * link_score / (1 + link_score)


def below(link_score: float) -> float:
    return FLOOR * link_score / (1 + link_score)


def read(strategy: Pal, what: Page, *, depth: int = 1) -> list[float]:
    came = arrival(what, depth=depth)
    strategy.learn(came)
    return strategy.score(came, what.links)


def test_link_score_sums_address_anchor_relevant_parents_and_their_relevance() -> None:
    strategy = Pal(brief(OWL))
    # P: owl, barn: relevance 1/sqrt(2), above the least limit.
    # URL small test owl: 1/sqrt(3); anchor "barn owl": 1/sqrt(2); one relevant parent.
    r = 1 / 2**0.5
    first = 3**-0.5 + 2**-0.5 + 1 + r
    assert read(strategy, page("P", "[Owl|barn owl]")) == [pytest.approx(squashed(first))]
    # A second parent, irrelevant (no owl): counts with its relevance, 0.
    assert read(strategy, page("Q", "[Owl|hill]")) == [pytest.approx(squashed(first))]
    # A third, relevant like the first, with a better anchor.
    third = 3**-0.5 + 1 + 2 + r + 1
    assert read(strategy, page("R", "[Owl|owl]")) == [pytest.approx(squashed(third))]


def test_a_page_counts_once_however_often_it_is_scored() -> None:
    strategy = Pal(brief(OWL))
    twice = page("P", "owl [A|hill]", "[A|tower]")
    came = arrival(twice)
    strategy.learn(came)
    once = strategy.score(came, twice.links)
    assert strategy.score(came, twice.links) == once
    assert once[0] == once[1]


def test_table_2_of_the_paper() -> None:
    """P is irrelevant; c and e are downloaded and relevant, then b, which is not."""
    strategy = Pal(brief(OWL))
    links = " ".join(
        f"[{name}|{'owl ' * count}{'x' + name + ' y'}]"
        for name, count in zip("cebad", (9, 6, 4, 2, 0), strict=True)
    )
    scores = dict(zip("cebad", read(strategy, page("P", f"{HILLS * 10} {links}")), strict=True))
    ranked = sorted(scores, key=lambda name: -scores[name])
    assert ranked == list("cebad")
    below_c = read(strategy, page("c", "owl [f|hill] [g|hill]"))
    assert all(score > FLOOR for score in below_c)
    levels = {name: strategy._candidates[url_key(url(name))].level for name in "ebadfg"}
    assert levels == {"e": 0, "b": 0, "a": 0, "d": 0, "f": 1, "g": 1}
    read(strategy, page("e", "owl [h|hill]"))
    read(strategy, page("b", "hill"))
    levels = {name: strategy._candidates[url_key(url(name))].level for name in "adfgh"}
    assert levels == {"a": 1, "d": 1, "f": 1, "g": 1, "h": 1}


def test_beyond_max_level_links_wait_below_the_floor() -> None:
    strategy = Pal(brief(OWL), max_level=0)
    read(strategy, page("P", HILLS + "[A|tower] [B|owl tower] [C|the]"))
    read(strategy, page("B", HILLS + "[D|owl]"))  # irrelevant: A and C move to level 1
    relevance = strategy.table.page_relevance(page("P", HILLS + "tower owl tower"))
    moved = strategy.rescored()
    assert moved == {url_key(url(name)): pytest.approx(below(relevance)) for name in "AC"}
    assert strategy.rescored() == {}
    d = strategy._candidates[url_key(url("D"))]
    assert d.level == 1
    assert strategy._squashed(d) == pytest.approx(below(d.link_score))


def test_links_of_relevant_pages_leave_their_table() -> None:
    strategy = Pal(brief(OWL))
    read(strategy, page("P", "hill [A|tower]"))
    assert strategy._candidates[url_key(url("A"))].table == url_key(url("P"))
    read(strategy, page("Q", "owl [A|tower]"))
    assert strategy._candidates[url_key(url("A"))].table == 0


def test_relevant_pages_of_a_table_go_deeper_until_max_level() -> None:
    strategy = Pal(brief(OWL), max_level=1)
    read(strategy, page("P", HILLS + "[A|owl]"))
    assert read(strategy, page("A", "owl [B|hill]"))[0] > FLOOR  # level 1
    assert read(strategy, page("B", "owl [C|hill]"))[0] < FLOOR  # level 2


def test_relevancy_limit_is_half_the_median_within_bounds() -> None:
    texts = ("owl", "owl hill tower moor", "hill")
    examples = [page(f"E{i}", text) for i, text in enumerate(texts)]
    strategy = Pal(brief(OWL, examples=examples))
    median = sorted(strategy.table.page_relevance(e) for e in examples)[1]
    assert strategy.relevancy_limit == pytest.approx(median / 2)
    cold = Pal(brief(OWL))
    assert cold.relevancy_limit == 0.05
    read(cold, page("Seed", "owl hill"), depth=0)
    assert cold.relevancy_limit == pytest.approx(0.5 / 2**0.5)


def test_failed_links_are_forgotten() -> None:
    strategy = Pal(brief(OWL))
    read(strategy, page("P", "owl [A|hill]"))
    strategy.failed(url("A"))
    assert not strategy._candidates
