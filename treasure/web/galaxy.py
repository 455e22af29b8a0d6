"""The galaxy of a stored page as dots to plot: D-numbers against their length."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import across, digits, written
from treasure.ddc.weighted import WeightedGalaxy
from treasure.text import STOP, VOCABULARY, words

MAX_DOTS = 1_500
MAX_CHARACTERS = 100_000


def plot(text: str, anchor: str) -> dict[str, Any]:
    """Return the dots of *text*, those of the *anchor*'s words marked, and the regions that won."""
    galaxy = _classifier().classify_text(text[:MAX_CHARACTERS])
    anchor_stems = _stems(anchor)
    lexicon = galaxy.lexicon
    parts = zip(
        galaxy.dot_term.tolist(),
        galaxy.dot_number.tolist(),
        galaxy.dot_weight.tolist(),
        strict=True,
    )
    heaviest = sorted(parts, key=lambda dot: -dot[2])[:MAX_DOTS]
    dots = []
    for term, number, weight in heaviest:
        own, said = digits(lexicon.numbers[number]), lexicon.term(term)
        dots.append(
            {
                "number": written(lexicon.numbers[number]),
                "x": across(own),
                "length": len(own),
                "weight": round(weight, 4),
                "word": said,
                "anchor": not anchor_stems.isdisjoint(_stems(said)),
            }
        )
    return galaxy.explain(8) | {"dots": dots}


def _stems(text: str) -> set[int]:
    return {stem for stem in VOCABULARY.ids(words(text)).tolist() if stem != STOP}


@lru_cache(maxsize=1)
def _classifier() -> WeightedGalaxy:
    return WeightedGalaxy(Lexicon.load())
