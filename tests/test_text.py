"""Cutting text into words, stems and their numbers."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treasure.text import MAX_SIGNS, STOP, Vocabulary, word_lists, words

_WORD = re.compile(r"[^\W_]+")
_MANY_SIGNS = "x".join(map(chr, range(0x2190, 0x2190 + MAX_SIGNS + 5)))


@given(st.text())
@example("ÉCOLE d'été — “Straße” Σς x_y\x01z\ud800 \u0130")
@example(_MANY_SIGNS)
def test_words_are_runs_of_letters_and_digits_in_lower_case(text):
    assert words(text) == _WORD.findall(text.lower())


@given(st.lists(st.text(), min_size=1))
@example(["Two\x01", "", "texts—", _MANY_SIGNS])
def test_texts_cut_together_are_cut_as_each_alone(texts):
    assert word_lists(texts) == [words(text) for text in texts]


def test_forms_of_a_word_have_one_number():
    vocabulary = Vocabulary()
    ids = vocabulary.ids(["galaxy", "galaxies", "star", "the", "1984", "x", "é"]).tolist()
    assert ids == [0, 0, 1, STOP, STOP, STOP, 2]
    assert vocabulary.stem(0) == "galaxi"
    assert vocabulary.id_of_stem("galaxi") == 0


@pytest.mark.parametrize("word", ["x" * 41, "²", "and"])
def test_monsters_have_none(word):
    assert Vocabulary()[word] == STOP
