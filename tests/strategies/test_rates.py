"""Tallies: rates by kind, drawn to what is expected."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.strategies.rates import NamedTally, Tally


def ids(*kinds: int) -> np.ndarray:
    return np.array(kinds, np.int32)


def test_rates_by_hand() -> None:
    tally = Tally(10)
    kind = tally.new()
    tally.add(kind, 1.0)
    tally.add(kind, 0.5)
    # (1.5 + 2 x 0.1) / (2 + 2)
    assert tally.relevance(ids(kind), 0.1, 2.0) == pytest.approx([0.425])
    assert tally.fetched(ids(kind)) == pytest.approx([2.0])


def test_no_kind_is_what_is_expected() -> None:
    tally = Tally(10)
    tally.add(tally.new(), 1.0)
    assert tally.relevance(ids(-1), 0.3, 2.0) == pytest.approx([0.3])


def test_nothing_is_counted_for_no_kind() -> None:
    tally = Tally(10)
    kind, other = tally.new(), tally.new()
    tally.add(kind, 1.0)
    tally.add(-1, 1.0)
    assert tally.fetched(ids(kind, other, -1)).tolist() == [1.0, 0.0, 0.0]


def test_numbers_are_used_again_past_the_limit() -> None:
    tally = Tally(3)
    numbers = [tally.new() for _ in range(3)]
    tally.add(numbers[0], 1.0)
    assert tally.new() == numbers[0]
    assert tally.fetched(ids(numbers[0])) == [0.0]


def test_names_past_the_limit_share_a_number() -> None:
    tally = NamedTally(2)
    assert [tally.number(name) for name in ("a", "b", "c", "d", "a")] == [0, 1, 1, 1, 0]


def test_many_kinds_and_their_state() -> None:
    tally = NamedTally(5000)
    for n in range(3000):
        tally.add(tally.number(f"host{n}"), n / 3000)
    again = NamedTally(5000)
    again.restore(tally.state())
    kinds = np.arange(-1, 3000, dtype=np.int32)
    assert again.relevance(kinds, 0.1, 1.0).tolist() == tally.relevance(kinds, 0.1, 1.0).tolist()
    assert again.number("host17") == 17
    assert again.number("new") == 3000
