from __future__ import annotations

from tests.strategies.small_web import (
    arrival,
    bird_examples,
    brief,
    mixed_background,
    page,
    terms,
)
from treasure.strategies.link_context import LinkContext


def test_words_around_the_anchor_count_within_its_paragraph() -> None:
    given = brief(examples=bird_examples(), background=mixed_background())
    read = page("Page", "nest egg feather [A|here] song wing", "rail [B|here] steam train")
    bird, train = LinkContext(given).score(arrival(read, 0.5), read.links)
    assert bird == given.judge.text_relevance(terms("nest egg feather here song wing"))
    assert train == given.judge.text_relevance(terms("rail here steam train"))
    assert bird > 0.5 > train


def test_the_window_is_twelve_words_each_side() -> None:
    given = brief(examples=bird_examples(), background=mixed_background())
    near = " ".join(["tower"] * 11 + ["nest"])
    read = page("Page", f"egg {near} [A|here] {near[::-1]} egg")
    window = f"{near} here {near[::-1]}"
    assert LinkContext(given).score(arrival(read), read.links) == [
        given.judge.text_relevance(terms(window))
    ]
