"""Rows of links, compiled and uncompiled."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.frontier.rows import place_of, unpack_link, unpack_state

INSTALLED, UNCOMPILED = both("places")

BIG = (1 << 62) - 1
KEYS = st.integers(-(1 << 63), (1 << 63) - 1)
SCORES = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 0.5, 1.0]), st.integers(-3, 3))
LINKS = st.lists(st.tuples(st.integers(0, (1 << 32) - 1), KEYS, SCORES), max_size=5)
RATES = st.sampled_from([0.0, 1 / 20_000, 1.0])


def rows_of(number, key, score, sequence, arrival, rate):
    """Return what is said in ``frontier.rows``, in the simplest way."""
    score = float(score) if math.isfinite(score) else 0.0
    place = place_of(number, rate * sequence - score, arrival)
    told = struct.pack(">dQ", score + 0.0, sequence)
    key_bytes = struct.pack(">q", key)
    return key_bytes, place + told, place, key_bytes + told


@given(LINKS, st.integers(0, BIG), st.integers(0, BIG), RATES)
def test_rows_of_new_links(links, sequence, arrival, rate):
    numbers, keys, scores = ([link[part] for link in links] for part in range(3))
    expected = [
        rows_of(number, key, score, sequence, arrival + at, rate)
        for at, (number, key, score) in enumerate(links)
    ]
    for places in (INSTALLED, UNCOMPILED):
        assert places.added(numbers, keys, scores, sequence, arrival, rate) == expected
    for key, (_, state, place, row) in zip(keys, expected, strict=True):
        assert unpack_link(place, row) == (key, unpack_state(state))


@given(LINKS, st.lists(SCORES, min_size=5, max_size=5), st.integers(0, BIG), RATES)
def test_rows_of_links_with_another_score(links, others, sequence, rate):
    known = [rows_of(*link, sequence, at, rate)[1] for at, link in enumerate(links)]
    states = [None, b"", *known]
    keys = [1, 2, *(key for _, key, _ in links)]
    scores = [0.5, 0.5, *others[: len(links)]]
    expected = []
    for at, (number, key, _) in enumerate(links, 2):
        rows = rows_of(number, key, scores[at], sequence, at - 2, rate)
        if unpack_state(rows[1]).score != unpack_state(states[at]).score:
            expected.append((at, number, rows))
    for places in (INSTALLED, UNCOMPILED):
        assert places.moved(states, keys, scores, rate) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2))
def test_places_sort_as_the_scores_do(scores):
    low, high = sorted(scores)
    for places in (INSTALLED, UNCOMPILED):
        worst, best = (rows[2] for rows in places.added([7, 7], [1, 2], [low, high], 0, 0, 0.0))
        assert (best < worst) == (high > low)


@pytest.mark.parametrize("state", [b"x", b"x" * 35, b"x" * 37])
def test_what_is_no_row_is_refused(state):
    for places in (INSTALLED, UNCOMPILED):
        with pytest.raises(ValueError, match="no state"):
            places.moved([state], [1], [0.5], 0.0)
