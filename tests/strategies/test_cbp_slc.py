from __future__ import annotations

import pytest

from tests.strategies.small_web import (
    arrival,
    bird_examples,
    brief,
    mixed_background,
    terms,
    url,
)
from treasure.extract import read_page
from treasure.pages import Page
from treasure.strategies.base import FLOOR
from treasure.strategies.cbp_slc import Cbp, CbpSlc, Slc


def linked(*blocks: str) -> Page:
    """Return a page whose paragraphs are its content blocks."""
    rows = "".join(f"<tr><td>{block}</td></tr>" for block in blocks)
    return read_page(url("Page"), f"<html><body><table>{rows}</table></body></html>")


@pytest.fixture(scope="module")
def strategy() -> CbpSlc:
    return CbpSlc(brief(examples=bird_examples(), background=mixed_background()))


PAGE = linked(
    "nest egg feather wing <a href=A.htm>here</a> and <a href=B.htm>steam train</a>",
    "rail gauge station signal <a href=C.htm>nest</a> driver ticket locomotive",
    "rail gauge station signal driver <b>feather <a href=D.htm>more</a></b> ticket locomotive",
    "rail gauge station signal <a href=E.htm>steam</a> driver ticket locomotive",
)
BIRDS_BLOCK = "nest egg feather wing here and steam train"
TRAIN_BLOCK = "rail gauge station signal steam driver ticket locomotive"


def test_the_page_is_as_the_tests_below_assume(strategy: CbpSlc) -> None:
    relevant = [strategy._relevance(terms(t)) > 0.5 for t in (BIRDS_BLOCK, "nest", "feather more")]
    assert relevant == [True, True, True]
    others = [strategy._relevance(terms(t)) > 0.5 for t in (TRAIN_BLOCK, "steam", "more", "here")]
    assert others == [False, False, False, False]


def test_algorithm_4_by_hand(strategy: CbpSlc) -> None:
    ratings = strategy.ratings(PAGE)
    block = strategy._relevance(terms(BIRDS_BLOCK))
    assert ratings[url("A")] == ratings[url("B")] == block  # a relevant block: all its links
    assert ratings[url("C")] == strategy._relevance(terms("nest"))  # the anchor
    assert ratings[url("D")] == strategy._relevance(terms("feather more"))  # its parent's text
    tried = [terms(TRAIN_BLOCK), terms("steam")]  # the context is the whole block
    assert ratings[url("E")] == FLOOR * max(map(strategy._relevance, tried))


def test_cbp_stops_after_the_blocks() -> None:
    strategy = Cbp(brief(examples=bird_examples(), background=mixed_background()))
    ratings = strategy.ratings(PAGE)
    assert ratings[url("A")] == ratings[url("B")] > 0.5
    assert all(ratings[url(name)] <= FLOOR for name in "CDE")


def test_slc_knows_no_blocks() -> None:
    strategy = Slc(brief(examples=bird_examples(), background=mixed_background()))
    ratings = strategy.ratings(PAGE)
    assert ratings[url("A")] == strategy._relevance(terms(BIRDS_BLOCK))  # as context of "here"
    assert ratings[url("C")] == strategy._relevance(terms("nest"))
    assert ratings[url("E")] <= FLOOR


def test_contexts_of_several_blocks_are_joined(strategy: CbpSlc) -> None:
    page = linked(
        "rail gauge station <b>steam <a href=A.htm>here</a></b> signal driver ticket",
        "train rail gauge signal ticket <b>egg song feather <a href=A.htm>here</a></b> rail train",
    )
    joined = strategy._relevance(terms("steam here egg song feather here"))
    assert joined > 0.5
    assert strategy.ratings(page)[url("A")] == joined


def test_a_waiting_link_keeps_its_first_score(strategy: CbpSlc) -> None:
    poor, rich = (
        linked("train <a href=Twice.htm>rail</a>"),
        linked("nest egg <a href=Twice.htm>feather</a>"),
    )
    first = strategy.score(arrival(poor), poor.links)
    assert first[0] <= FLOOR
    assert strategy.score(arrival(rich), rich.links) == first


def test_without_a_background_the_judge_decides() -> None:
    given = brief()
    strategy = CbpSlc(given)
    assert strategy._relevance(terms("nest")) == given.judge.text_relevance(terms("nest"))
