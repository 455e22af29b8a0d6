from __future__ import annotations

from tests.strategies.small_web import (
    arrival,
    bird_examples,
    brief,
    mixed_background,
    page,
    terms,
)
from treasure.strategies.anchor import Anchor
from treasure.strategies.base import FLOOR


def test_only_the_words_of_the_anchor_count() -> None:
    given = brief(examples=bird_examples(), background=mixed_background())
    read = page("Page", "birds birds birds [A|steam train] birds", "train [B|nest and egg] train")
    train, nest = Anchor(given).score(arrival(read, 1.0), read.links)
    assert train == given.judge.text_relevance(terms("steam train"))
    assert nest == given.judge.text_relevance(terms("nest and egg"))
    assert nest > 0.5 > train


def test_a_link_without_words_is_worth_the_floor() -> None:
    read = page("Page", "birds [A|]")
    assert Anchor(brief()).score(arrival(read, 1.0), read.links) == [FLOOR]
