"""Counting and judging texts, compiled and uncompiled."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

MODULES = both("documents")
NUMBERS = st.lists(st.integers(-1, 5) | st.integers(-1, (1 << 31) - 1), max_size=60)
SPANS = st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=5)


@given(NUMBERS, SPANS)
def test_numbers_are_counted_in_the_order_in_which_they_come(numbers, spans):
    read = [n for start, stop in spans for n in numbers[max(start, 0) : max(stop, 0)] if n >= 0]
    for documents in MODULES:
        found, counts = documents.counted(np.array(numbers, np.int32), spans)
        expected = Counter(read)  # keeps that order
        assert found.tolist() == list(expected)
        assert counts.tolist() == list(expected.values())
        assert (found.dtype, counts.dtype) == (np.int32, np.float64)


@pytest.mark.parametrize("step", [1, 2, 1 << 10, 1 << 20])
def test_numbers_that_are_alike_in_their_last_digits_are_no_trouble(step):
    numbers = (np.arange(2_000) * step % (1 << 30)).astype(np.int32)
    found, _ = MODULES[0].counted(numbers, [(0, numbers.size)])
    assert found.tolist() == list(dict.fromkeys(numbers.tolist()))


TEXTS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=20)


@given(TEXTS, st.lists(st.tuples(st.floats(-2, 2), st.floats(0.1, 9)), min_size=1, max_size=20))
def test_a_margin_is_a_quotient_of_two_sums(text, rows):
    table = np.array([*rows, (0.0, 0.0)])
    gain = square = 0.0
    for term, count in text:
        weight, idf2 = rows[min(term, len(rows) - 1)]
        often = 1.0 + math.log(count)
        gain += often * weight
        square += often**2 * idf2
    terms = np.array([term for term, _ in text], np.int32)
    counts = np.array([count for _, count in text], np.float64)
    found = [documents.margin(terms, counts, table) for documents in MODULES]
    assert found[0] == found[1]
    assert found[0] == pytest.approx(gain / math.sqrt(square) if square else 0.0)


@given(st.sets(st.integers(-1, 30)))
def test_terms_are_added_where_they_have_a_place(terms):
    for documents in MODULES:
        sums = np.ones(20)
        documents.add(sums, np.array(sorted(terms), np.int32))
        assert sums.tolist() == [2.0 if place in terms else 1.0 for place in range(20)]
