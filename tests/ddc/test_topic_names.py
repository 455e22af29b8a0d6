from pathlib import Path

import pytest

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import digits, normal
from treasure.ddc.topic_names import GUESS, NAME, PART, TERM, TopicNames

LIST = Path(__file__).with_name("topic_names.txt")


@pytest.fixture(scope="module")
def own():
    return TopicNames(Lexicon.load())


def ordinary_names():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, numbers = line.split("|")
            yield name.strip(), [normal(number) for number in numbers.split(",")]


def test_95_percent_of_ordinary_names_are_understood(own):
    names = list(ordinary_names())
    wrong = [
        (name, found[0].number if found else None)
        for name, numbers in names
        if not (found := own.candidates(name))
        or not digits(found[0].number).startswith(tuple(map(digits, numbers)))
    ]
    assert len(names) >= 130
    assert len(wrong) <= 0.05 * len(names), wrong


def test_a_name_comes_before_a_term(small):
    names = TopicNames(small)
    assert [(c.number, c.why) for c in names.candidates("butterflies")] == [("595.789", NAME)]
    assert [(c.number, c.why) for c in names.candidates("beetles")] == [("595.7", TERM)]
    assert [(c.number, c.why) for c in names.candidates("fashion design")] == [("746.92", NAME)]


def test_all_numbers_of_a_term_are_candidates(small):
    found = TopicNames(small).candidates("clothing")
    assert {c.number for c in found} == {"155.95", "391", "746.92"}


def test_the_more_precise_of_two_alike_is_meant(own):
    assert own.candidates("planets")[0].number == "523.4"
    assert own.candidates("planets")[0].why == PART


def test_a_match_by_stem_alone_counts_less(own):
    # Porter cuts university and universe to the same stem, and fishes and fishing.
    assert own.candidates("universities")[0].number == "378"
    assert own.candidates("fishes")[0].number.startswith("597")


def test_unknown_names_are_guessed_or_nothing(own):
    assert {c.why for c in own.candidates("quantum xyzzy")} == {GUESS}
    assert own.candidates("xyzzy plugh") == []
    assert own.candidates("") == own.candidates("the of 42") == []


def test_names_with_a_single_letter(own):
    assert own.candidates("e-commerce")[0].name == "e-commerce"


def test_neighbours_lie_below_and_beside(own):
    found = own.neighbours(normal("520"))
    assert {c.why for c in found} == {"below", "beside"}
    assert all(c.number.startswith("52") for c in found if c.why == "below")
    assert {len(c.number) for c in found if c.why == "beside"} == {2}
