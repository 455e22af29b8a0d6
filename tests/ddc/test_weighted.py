import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.weighted import WeightedGalaxy
from treasure.text import VOCABULARY, words

RARITY = math.log(1e9 / 500) - 6
"""Of every stem in the small lexicon, which has no background."""
PART = 0.2
"""The faint dots of a word that is itself a term."""
OPENING = math.sqrt(3)


@pytest.fixture(scope="module")
def weighted(small):
    return WeightedGalaxy(small)


@pytest.fixture(scope="module")
def own():
    return WeightedGalaxy(Lexicon.load())


def test_a_dot_weighs_rarity_shared_among_the_terms_numbers(weighted):
    galaxy = weighted.classify_text("clothing planet")
    dots = {}
    for number, weight in zip(galaxy.dot_number, galaxy.dot_weight, strict=True):
        name = galaxy.lexicon.numbers[number]
        dots[name] = dots.get(name, 0) + weight
    assert dots == pytest.approx(
        {
            "155.95": RARITY * OPENING * (1 + PART) / 3,
            "391": RARITY * OPENING * (1 + PART) / 3,
            "746.92": RARITY * OPENING * (1 + PART) / 3,
            "523": RARITY * OPENING * (1 + PART),
        },
        rel=1e-3,
    )


def test_repetition_counts_by_its_root_and_the_opening_three_times(weighted):
    filler = "xyzzy " * 15
    once = weighted.classify_text(filler + "planet").dot_weight.sum()
    four = weighted.classify_text(filler + "planet " * 4).dot_weight.sum()
    opening = weighted.classify_text("planet").dot_weight.sum()
    assert four == pytest.approx(2 * once)
    assert opening == pytest.approx(OPENING * once)


def test_anchor_words_weigh_more(weighted):
    terms = VOCABULARY.ids(words("planet china"))
    even = weighted.classify(terms)
    tipped = weighted.classify(terms, np.array([False, True]))
    assert even.share(["950"]) == pytest.approx(0.5)
    assert tipped.share(["950"]) == pytest.approx(1.4 / 2.4)
    assert tipped.numbers[0][0] == "951"


def test_unknown_words_of_an_anchor_lift_nothing(weighted):
    last = weighted.lexicon.surfaces[-1]
    terms = VOCABULARY.ids(words(f"{last} unheardofword"))
    even = weighted.classify(terms)
    linked = weighted.classify(terms, np.array([False, True]))
    assert len(even.dot_weight)
    assert linked.dot_weight.tolist() == even.dot_weight.tolist()


def test_parts_of_phrases_speak_faintly(weighted):
    galaxy = weighted.classify_text("a civil matter")
    assert galaxy.numbers[0][0] == "973"
    assert len(galaxy.hits) == 0


def test_numbers_are_as_precise_as_a_majority_of_terms(weighted):
    assert weighted.classify_text("butterfly").numbers[0][0] == "595.789"
    assert weighted.classify_text("butterfly beetle").numbers[0][0] == "595.7"
    assert weighted.classify_text("butterfly insect insect insect insect").numbers[0][0] == "595"


def test_numbers_come_best_first_and_their_weights_are_shares(own):
    galaxy = own.classify_text("The Hubble telescope photographs galaxies and distant planets.")
    shares = [share for _, share in galaxy.numbers]
    assert galaxy.numbers[0][0].startswith("52")
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 1


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("The surgeon removed the tumour and the patient started chemotherapy.", "61"),
        ("Simmer the onions in butter, add flour and stock, then season the sauce.", "641"),
        (
            "The striker scored two goals before half time and the referee sent off a defender.",
            "796",
        ),
        ("A compiler turns source code into machine instructions.", "005"),
        ("Monarch caterpillars feed on milkweed before the butterfly emerges.", "595.78"),
        ("The court held that the contract was void for want of consideration.", "34"),
    ],
)
def test_plain_english_is_understood(own, text, prefix):
    galaxy = own.classify_text(text)
    assert galaxy.numbers[0][0].startswith(prefix)
    assert galaxy.share([prefix]) > 0.25


@given(st.lists(st.sampled_from("butterfly planet war clothing the xyzzy civil 42".split())))
def test_shares_of_the_main_classes_add_up(weighted, text):
    galaxy = weighted.classify(VOCABULARY.ids(text))
    parts = [galaxy.share([digit]) for digit in "0123456789"]
    assert all(0 <= part <= 1 for part in parts)
    assert sum(parts) == pytest.approx(1.0 if galaxy else 0.0)


def test_a_topic_as_a_word_vector(own):
    vector = own.share_of_terms(["595.78"])
    caterpillar, parliament = (VOCABULARY[word] for word in ("caterpillar", "parliament"))
    assert vector[caterpillar] > 1
    assert vector[parliament] < 0.1


def test_explanation_tells_terms_from_faint_words(own):
    explanation = own.classify_text("milkweed for caterpillars in the meadow").explain()
    found = [word["word"] for number in explanation["numbers"] for word in number["words"]]
    assert "milkweed" in found
    assert any(word.startswith("~") for word in found)
    assert explanation["regions"][0][0]["won"]


@pytest.mark.parametrize("text", ["", "42 1999", "the of and", "これは日本語の文章です"])
def test_nothing_known_gives_an_empty_galaxy(own, text):
    galaxy = own.classify_text(text)
    assert not galaxy
    assert galaxy.share(["5"]) == 0.0
    assert galaxy.explain()["numbers"] == []


def test_ten_megabytes_are_no_trouble(own):
    text = "The telescope shows planets and moons of distant stars. " * 180_000
    assert len(text) > 10_000_000
    assert own.classify_text(text).numbers[0][0].startswith("52")


@given(
    st.lists(st.sampled_from(["star", "temple", "clothing", "civil", "war", "zzz", "butterfly"]))
)
def test_numbers_alone_are_those_of_the_galaxy(weighted, text):
    terms = VOCABULARY.ids(text)
    assert weighted.numbers(terms) == weighted.classify(terms).numbers
    assert weighted.numbers(terms, 2) == weighted.classify(terms).numbers[:2]
