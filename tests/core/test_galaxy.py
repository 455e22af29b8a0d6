"""Strengths and weights of words, compiled and uncompiled, and as NumPy would have them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

MODULES = both("galaxy")
TERMS, NUMBERS, STEMS, FAINT = 6, 7, 5, 3
CLASS_OF = np.array([0, 0, 1, 2, 2, 2, 3], np.int32)
DIVISION_OF, MAIN_OF = np.array([0, 0, 1, 2], np.int32), np.array([0, 0, 0, 1], np.int32)
DIGITS = [b"52", b"5201", b"523", b"6", b"60012", b"6002", b"71"]
GAINS = (0.3, 0.2, 4.0)
RANDOM = np.random.default_rng(0)
SIZES = np.array([1, 2, 1, 3, 1, 2])
START = np.append(0, np.cumsum(SIZES)).astype(np.int32)
NUMBER = RANDOM.integers(0, NUMBERS, START[-1]).astype(np.int32)
WEIGHT = RANDOM.random(TERMS).astype(np.float32)
FAINT_CLASS = RANDOM.integers(0, 4, (STEMS, FAINT)).astype(np.uint16)
FAINT_WEIGHT = RANDOM.random((STEMS, FAINT)).astype(np.float32)


def scale(galaxy, faint=FAINT):
    return galaxy.Scale(
        (START, NUMBER, WEIGHT),
        (FAINT_CLASS[:, :faint], FAINT_WEIGHT[:, :faint]),
        (CLASS_OF, DIVISION_OF, MAIN_OF),
        GAINS,
        np.array([list(number.ljust(5, b"\0")) for number in DIGITS], np.uint8),
        0.5,
    )


def weighed(words, strengths):
    scores, own = np.zeros(NUMBERS), np.zeros(4)
    for word, strength in zip(words, strengths, strict=True):
        if word < TERMS:
            numbers = NUMBER[START[word] : START[word + 1]]
            np.add.at(scores, numbers, WEIGHT[word] * strength)
            np.add.at(own, CLASS_OF[numbers], WEIGHT[word] * strength)
        else:
            np.add.at(own, FAINT_CLASS[word - TERMS], FAINT_WEIGHT[word - TERMS] * strength)
    gain = GAINS[0] * np.bincount(DIVISION_OF, own)[DIVISION_OF]
    gain += GAINS[1] * np.bincount(MAIN_OF, own)[MAIN_OF]
    ranks = own + np.minimum(gain, GAINS[2] * own)
    return ranks / (ranks.sum() or 1.0), scores


@given(st.lists(st.tuples(st.integers(0, TERMS + STEMS - 1), st.floats(0.5, 9)), max_size=12))
def test_classes_rank_by_their_dots_and_by_those_around_them(words):
    word = np.array([word for word, _ in words], np.int32)
    strength = np.array([strength for _, strength in words], np.float64)
    ranks, scores = weighed(word, strength)
    for galaxy in MODULES:
        found = scale(galaxy).weigh(word, strength)
        assert found[0] == pytest.approx(ranks)
        assert found[1] == pytest.approx(scores)


def precise(place, scores):
    """Go down from a class to where its terms crowd."""
    found = [(own, w) for own, of, w in zip(DIGITS, CLASS_OF, scores, strict=True) if of == place]
    reached = found[0][0][:3].ljust(3, b"0")
    inside = sum(weight for _, weight in found)
    while True:
        below = {}
        for own, weight in found:
            if len(own) > len(reached):
                branch = own[: len(reached) + 1]
                below[branch] = below.get(branch, 0.0) + weight
        branch = max(below, key=below.__getitem__, default=b"")
        if not branch or below[branch] <= 0.5 * inside:
            return reached
        reached, inside = branch, below[branch]
        found = [(own, weight) for own, weight in found if own.startswith(reached)]


@given(
    st.lists(st.tuples(st.integers(0, TERMS + STEMS - 1), st.floats(0.5, 9)), max_size=12),
    st.integers(0, 5),
)
def test_the_best_classes_are_named_as_precisely_as_a_majority_backs(words, most):
    word = np.array([word for word, _ in words], np.int32)
    strength = np.array([strength for _, strength in words], np.float64)
    for galaxy in MODULES:
        ranks, scores = scale(galaxy).weigh(word, strength)
        best = np.argsort(-ranks, kind="stable")[:most].tolist()
        expected = [(precise(place, scores), ranks[place]) for place in best if ranks[place] > 0]
        found = scale(galaxy).ranked(word, strength, most)
        assert {type(share) for *_, share in found} <= {float}  # they are packed
        named = [(DIGITS[at][:size].ljust(3, b"0"), share) for at, size, share in found]
        assert named == expected


def test_stems_may_have_no_dots():
    for galaxy in MODULES:
        words = np.array([TERMS, TERMS + 1], np.int32)
        ranks, scores = scale(galaxy, 0).weigh(words, np.ones(2))
        assert not ranks.any()
        assert not scores.any()


PLACED = st.lists(st.integers(-1, 4), max_size=12)


@given(PLACED.map(lambda terms: [max(term, 0) for term in terms]), PLACED)
def test_words_of_the_opening_count_more_than_once(terms, stems):
    expected = {}
    for found, first in ((terms, 0), (stems, TERMS)):
        for place, word in enumerate(found):
            if word >= 0:
                expected[first + word] = expected.get(first + word, 0) + (3 if place < 4 else 1)
    arguments = [
        np.array(row, np.int32) for row in (terms, range(len(terms)), stems, range(len(stems)))
    ]
    for galaxy in MODULES:
        words, strengths = scale(galaxy).strengths(*arguments, 4, 3)
        assert words.tolist() == list(expected)
        assert strengths == pytest.approx(np.sqrt(list(expected.values())))
