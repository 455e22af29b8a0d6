from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from treasure.strategies.scores import logistic, saturated, uniform

numbers = st.floats(-1e6, 1e6)


@given(numbers, numbers)
def test_logistic_keeps_the_order(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0.0 <= logistic(low) <= logistic(high) <= 1.0


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_saturated_keeps_the_order(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0.0 <= saturated(low) <= saturated(high) < 1.0


def test_known_values() -> None:
    assert logistic(0.0) == 0.5
    assert math.isclose(logistic(math.log(3)), 0.75)
    assert saturated(0.0) == 0.0
    assert saturated(3.0) == 0.75


def test_draws_depend_on_their_values_alone_and_are_even() -> None:
    assert uniform(1, "a") == uniform(1, "a") != uniform(1, "b")
    draws = [uniform("even", i) for i in range(2_000)]
    assert abs(sum(draws) / 2_000 - 0.5) < 0.03
    assert min(draws) < 0.01
    assert max(draws) > 0.99
