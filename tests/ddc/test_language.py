"""The language of a text, guessed from its common words."""

from __future__ import annotations

import pytest

from treasure.ddc.language import guess
from treasure.text import words

TEXTS = {
    "en": "The owl is a bird of prey that hunts at night, and it is found in most of the world.",
    "de": "Die Eule ist ein Vogel, der in der Nacht jagt und auf der ganzen Welt zu finden ist.",
    "fr": "La chouette est un oiseau qui chasse la nuit et que l'on trouve dans le monde entier.",
    "es": "El búho es un ave que caza por la noche y que se encuentra en casi todo el mundo.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_common_languages_are_told_apart(language: str) -> None:
    assert guess(words(TEXTS[language] * 3)) == language


@pytest.mark.parametrize("text", ["", "owl", "zorblax frandle quibble " * 30])
def test_what_cannot_be_told_is_empty(text: str) -> None:
    assert guess(words(text)) == ""
