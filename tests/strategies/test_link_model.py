"""The link model: an opinion at the start, and what outcomes do to it."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.ddc.page_model import sigmoid
from treasure.strategies.link_model import LinkModel


def test_before_any_outcome_the_prior_ranks() -> None:
    model = LinkModel(np.array([-2.0, 3.0]), 10.0)
    model.refit()
    assert sigmoid(np.array([[1.0, 0.5]]) @ model.weights) == pytest.approx(
        sigmoid(np.array([-0.5]))
    )


def test_one_outcome_moves_the_weight_as_the_equation_says() -> None:
    # With one feature, x = 1, y = 1, prior 0 and precision 2:  2 w = 1 - sigmoid(w)
    model = LinkModel(np.array([0.0]), 2.0)
    model.add(np.array([1.0]), 1.0)
    model.refit(steps=30)
    weight = model.weights[0]
    assert 2 * weight == pytest.approx(1 - 1 / (1 + np.exp(-weight)), abs=1e-9)


def test_outcomes_that_a_line_parts_do_not_run_away() -> None:
    model = LinkModel(np.array([-2.0, 1.0]), 1.0)
    for _ in range(200):
        model.add(np.array([1.0, 1.0]), 1.0)
        model.add(np.array([1.0, -1.0]), 0.0)
        model.refit()
    assert np.abs(model.weights).max() < 15
    assert sigmoid(np.array([[1.0, 1.0]]) @ model.weights)[0] > 0.95


def test_old_outcomes_are_forgotten() -> None:
    model = LinkModel(np.array([0.0]), 1.0, memory=50)
    for _ in range(200):
        model.add(np.array([1.0]), 1.0)
    for _ in range(50):
        model.add(np.array([1.0]), 0.0)
    model.refit(steps=20)
    assert sigmoid(np.array([[1.0]]) @ model.weights)[0] < 0.1


def test_state_is_all_there_is() -> None:
    first = LinkModel(np.array([0.0, 0.0]), 1.0)
    for n in range(10):
        first.add(np.array([1.0, n / 10]), float(n > 5))
    first.refit()
    second = LinkModel(np.array([0.0, 0.0]), 1.0)
    second.restore(first.state())
    for model in (first, second):
        model.add(np.array([1.0, 0.9]), 1.0)
        model.refit()
    assert first.weights.tolist() == second.weights.tolist()
