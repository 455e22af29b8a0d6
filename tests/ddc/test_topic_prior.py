"""What a topic's words are worth before a page was read."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.topic_prior import (
    dewey_weights,
    english_rarity,
    english_texts,
    related,
    topic_prior,
)
from treasure.text import VOCABULARY
from treasure.topics import Topic

BIRDS = Topic("birds", "Birds: their plumage and song.", numbers=("598",))


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.load()


@pytest.mark.parametrize(
    ("number", "prefixes"),
    [("598", ["598"]), ("916", ["916", "96"]), ("941", ["941", "9141"]), ("910", ["91"])],
)
def test_history_and_geography_of_a_place_belong_together(number: str, prefixes: list[str]) -> None:
    assert related(number) == prefixes


def test_words_of_the_topic_weigh_for_it_and_others_against(lexicon: Lexicon) -> None:
    prior = topic_prior(BIRDS, lexicon)
    assert prior[VOCABULARY["kestrel"]] > 0.01
    assert prior[VOCABULARY["locomotive"]] < 0
    assert np.linalg.norm(prior) == pytest.approx(1.0)


def test_a_topic_without_numbers_has_its_own_words(lexicon: Lexicon) -> None:
    prior = topic_prior(Topic("beekeeping at home"), lexicon)
    assert prior[VOCABULARY["beekeeping"]] == prior.max()


def test_short_texts_are_told_by_their_numbers(lexicon: Lexicon) -> None:
    mine, everything = dewey_weights([BIRDS], lexicon)
    kestrel, tax = VOCABULARY["kestrel"], VOCABULARY["tax"]
    assert mine[kestrel] > 0.8 * everything[kestrel] > 0
    assert mine[tax] < 0.1 * everything[tax]
    assert mine[-1] == everything[-1] == 0.0


def test_common_english_is_the_same_every_time() -> None:
    first, again = english_texts(), english_texts.__wrapped__()
    assert len(first) == 100
    assert all(np.array_equal(a.terms, b.terms) for a, b in zip(first, again, strict=True))


def test_rare_words_are_rare() -> None:
    rarity = english_rarity()
    assert rarity[VOCABULARY["year"]] < rarity[VOCABULARY["kestrel"]] <= 1.0
    assert rarity[-1] == 0.0
