"""Cutting text into words, stems and their numbers."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treasure.text import (
    MARK,
    MAX_SIGNS,
    NEW,
    STOP,
    VOCABULARY,
    Vocabulary,
    distinct,
    plain,
    words,
)

_WORD = re.compile(r"[^\W_]+")
_MANY_SIGNS = "x".join(map(chr, range(0x2190, 0x2190 + MAX_SIGNS + 5)))


@given(st.text())
@example("ÉCOLE d'été — “Straße” Σς x_y\x01z\ud800 \u0130")
@example("СЪЕШЬ ЖЕ ЕЩЁ ЭТИХ МЯГКИХ ФРАНЦУЗСКИХ БУЛОК «ДА ВЫПЕЙ ЧАЮ»")
@example("ΤΟ ΤΈΛΟΣ, Straße")
@example(_MANY_SIGNS)
def test_words_are_runs_of_letters_and_digits_in_lower_case(text):
    assert words(text) == _WORD.findall(text.lower())


@given(st.text())
@example("ÉCOLE d'été — “Straße” antidisestablishmentarianism donaudampfschifffahrtsgesellschaft")
@example(_MANY_SIGNS)
def test_a_text_read_at_once_has_the_numbers_of_its_words(text):
    data = plain(text)
    numbers, starts, stops, _ = VOCABULARY.read(data)
    found = [data[a:b].decode() for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    cut = words(text.replace(MARK, " "))
    assert found == cut
    assert numbers.tolist() == VOCABULARY.ids(cut).tolist()


def test_forms_of_a_word_have_one_number():
    vocabulary = Vocabulary()
    ids = vocabulary.ids(["galaxy", "galaxies", "star", "the", "1984", "x", "é"]).tolist()
    assert ids == [0, 0, 1, STOP, STOP, STOP, 2]
    assert vocabulary.stem(0) == "galaxi"
    assert vocabulary.id_of_stem("galaxi") == 0


@pytest.mark.parametrize("word", ["x" * 41, "²", "and"])
def test_monsters_have_none(word):
    assert Vocabulary()[word] == STOP


def test_words_of_addresses_are_looked_up_and_not_learned() -> None:
    vocabulary = Vocabulary()
    owls = vocabulary["owls"]
    assert vocabulary.met("owls") == vocabulary.met("owl") == owls
    assert vocabulary.met("xqzt17") == NEW
    assert vocabulary.met("the") == vocabulary.met("2026") == STOP
    assert vocabulary.size == len(vocabulary) == 1


@given(st.lists(st.integers(-1, 300) | st.just(NEW)))
def test_distinct_numbers_are_those_that_sorting_finds(numbers):
    terms = np.array(numbers, np.int32)
    known, places = distinct(terms)
    expected = np.unique(terms, return_inverse=True)
    assert known.tolist() == expected[0].tolist()
    assert places.tolist() == expected[1].tolist()
    assert places.dtype == np.int32
