"""LinkModel: logistic regression that has an opinion before it has seen anything.

The weights have a Gaussian prior around a hand-set mean, so that links rank sensibly from the first
page on; each outcome moves them (maximum a posteriori, by Newton's method):

    minimise  sum_i  cross-entropy(y_i, sigmoid(w . x_i))  +  precision / 2 x |w - prior|^2

Outcomes are relevances, so y_i may lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treasure.ddc.page_model import Floats, sigmoid

ENOUGH = 0.01
"""What a step gained, over all outcomes, when the next would gain next to nothing: near the end
each gains about the square of the one before."""


class LinkModel:
    """Probability that a link leads to a page on topic, from its features."""

    def __init__(self, prior: Floats, precision: Floats | float, *, memory: int = 3_000) -> None:
        self.prior = np.asarray(prior, np.float64)
        self.precision = np.broadcast_to(np.asarray(precision, np.float64), self.prior.shape)
        self.weights = self.prior.copy()
        self.outcomes = 0
        self._rows = np.zeros((64, self.prior.size))
        self._labels = np.zeros(64)
        self._memory = memory

    @property
    def size(self) -> int:
        """Outcomes remembered."""
        return min(self.outcomes, self._memory)

    def add(self, features: Floats, outcome: float) -> None:
        """Remember an outcome; the oldest is forgotten when memory is full."""
        place = self.outcomes % self._memory
        if place >= len(self._labels):
            room = min(max(64, 2 * len(self._labels)), self._memory)
            more = room - len(self._labels)
            self._rows = np.concatenate([self._rows, np.zeros((more, self.prior.size))])
            self._labels = np.concatenate([self._labels, np.zeros(more)])
        self._rows[place] = features
        self._labels[place] = outcome
        self.outcomes += 1

    def refit(self, steps: int = 4) -> None:
        """Move the weights to what the outcomes say, by Newton steps that never overshoot.

        No more than it takes: outcomes are added one by one, and the first step takes most of them
        in.
        """
        count = self.size
        if not count:
            return
        rows, labels = self._rows[:count], self._labels[:count]
        loss = self._loss(self.weights, rows, labels)
        for _ in range(steps):
            chance = sigmoid(rows @ self.weights)
            gradient = rows.T @ (chance - labels) + self.precision * (self.weights - self.prior)
            curve = (rows * (chance * (1.0 - chance))[:, None]).T @ rows
            step = np.linalg.solve(curve + np.diag(self.precision), gradient)
            for shorter in (1.0, 0.5, 0.25, 0.1, 0.03):
                moved = self.weights - shorter * step
                new_loss = self._loss(moved, rows, labels)
                if new_loss < loss:
                    break
            else:
                return
            gain, self.weights, loss = loss - new_loss, moved, new_loss
            if gain < ENOUGH:
                return

    def _loss(self, weights: Floats, rows: Floats, labels: Floats) -> float:
        margins = rows @ weights
        pull = 0.5 * float(self.precision @ (weights - self.prior) ** 2)
        return float(np.sum(np.logaddexp(0.0, margins) - labels * margins)) + pull

    def state(self) -> dict[str, Any]:
        """Return weights and outcomes, ready for msgpack."""
        count = self.size
        return {
            "weights": self.weights.tolist(),
            "outcomes": self.outcomes,
            "rows": self._rows[:count].tobytes(),
            "labels": self._labels[:count].tobytes(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self.weights = np.array(state["weights"], np.float64)
        self.outcomes = state["outcomes"]
        self._labels = np.frombuffer(state["labels"], np.float64).copy()
        self._rows = np.frombuffer(state["rows"], np.float64).reshape(-1, self.prior.size).copy()
