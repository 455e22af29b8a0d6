"""LinkModel: logistic regression that has an opinion before it has seen anything.

The weights have a Gaussian prior around a hand-set mean, so that links rank sensibly from the first
page on; each outcome moves them (maximum a posteriori, by Newton's method):

    minimise  sum_i  cross-entropy(y_i, sigmoid(w . x_i))  +  precision / 2 x |w - prior|^2

Outcomes are relevances, so y_i may lie between 0 and 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sigmoid(values: Floats) -> Floats:
    """Return 1 / (1 + e^-x)."""
    result: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
    return result


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

    def add(self, features: Floats, outcome: float) -> int:
        """Remember an outcome; return its place. The oldest is forgotten when memory is full."""
        place = self.outcomes % self._memory
        if place >= len(self._labels):
            room = min(2 * len(self._labels), self._memory)
            self._rows = np.resize(self._rows, (room, self.prior.size))
            self._labels = np.resize(self._labels, room)
        self._rows[place] = features
        self._labels[place] = outcome
        self.outcomes += 1
        return place

    def relabel(self, places: NDArray[np.int64], outcomes: Floats) -> None:
        """Change what was found, after the judge has learned more."""
        self._labels[places] = outcomes

    def refit(self, steps: int = 4) -> None:
        """Move the weights to what the outcomes say, by Newton steps that never overshoot."""
        count = min(self.outcomes, self._memory)
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
                    self.weights, loss = moved, new_loss
                    break
            else:
                return

    def _loss(self, weights: Floats, rows: Floats, labels: Floats) -> float:
        margins = rows @ weights
        pull = 0.5 * float(self.precision @ (weights - self.prior) ** 2)
        return float(np.sum(np.logaddexp(0.0, margins) - labels * margins)) + pull

    def probability(self, features: Floats) -> Floats:
        """Return the chance of each row of *features*."""
        return sigmoid(features @ self.weights)
