"""What the dots of a text weigh over D-numbers, and how its classes rank by them.

Serves ``ddc.weighted``, which says what dots are. As in ``matching``, what lies far apart in memory
is looked up before anything hangs on it.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np


@cython.cclass
class Scale:
    """The dots of all terms and stems, and the classes they lie in."""

    _start: cython.const[cython.int][:]
    _number: cython.const[cython.int][:]
    _weight: cython.const[cython.float][:]
    _faint_class: cython.const[cython.ushort][:, :]
    _faint_weight: cython.const[cython.float][:, :]
    _class_of: cython.const[cython.int][:]
    _division_of: cython.const[cython.int][:]
    _main_of: cython.const[cython.int][:]
    _division: cython.double
    _main: cython.double
    _most: cython.double

    def __init__(self, bright: Any, faint: Any, classes: Any, gains: Any) -> None:
        """Take arrays that are known to fit together; they are not copied.

        *bright*: the first place of each term, and one more; the numbers at these places; and the
        weight of a dot of each term. *faint*: classes and weights of the dots of stems, a row each.
        *classes*: the class of each number, the division and the main class of each class.
        *gains*: what parts of the weight of its division and main class a class gains, and how many
        times its own weight it gains at most.
        """
        self._start, self._number, self._weight = bright
        self._faint_class, self._faint_weight = faint
        self._class_of, self._division_of, self._main_of = classes
        self._division, self._main, self._most = gains

    def scores(
        self, terms: cython.const[cython.int][:], strengths: cython.const[cython.double][:]
    ) -> Any:
        """Return what the dots of distinct *terms* weigh, by number."""
        scores = np.zeros(self._class_of.shape[0])
        spans = np.empty((terms.shape[0], 2), np.int32)
        weights = np.empty(terms.shape[0])
        score_of: cython.double[:] = scores
        span_of: cython.int[:, :] = spans
        weight_of: cython.double[:] = weights
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        for i in range(terms.shape[0]):
            span_of[i, 0] = self._start[terms[i]]
            span_of[i, 1] = self._start[terms[i] + 1]
            weight_of[i] = self._weight[terms[i]] * strengths[i]
        for i in range(terms.shape[0]):
            for place in range(span_of[i, 0], span_of[i, 1]):
                score_of[self._number[place]] += weight_of[i]
        return scores

    def ranks(
        self,
        scores: cython.const[cython.double][:],
        stems: cython.const[cython.int][:],
        strengths: cython.const[cython.double][:],
    ) -> Any:
        """Return the rank of each class as a share of all, by *scores* and faint dots of *stems*.

        All is 0 where nothing weighs anything.
        """
        size: cython.Py_ssize_t = self._division_of.shape[0]
        # There are no more divisions and main classes than classes.
        ranks, divisions, mains = np.zeros((3, size))
        rank_of: cython.double[:] = ranks
        sum_of_division: cython.double[:] = divisions
        sum_of_main: cython.double[:] = mains
        gain: cython.double
        total: cython.double = 0.0
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        for i in range(scores.shape[0]):
            rank_of[self._class_of[i]] += scores[i]
        for i in range(stems.shape[0]):
            for j in range(self._faint_class.shape[1]):
                rank_of[self._faint_class[stems[i], j]] += (
                    self._faint_weight[stems[i], j] * strengths[i]
                )
        for i in range(size):
            sum_of_division[self._division_of[i]] += rank_of[i]
            sum_of_main[self._main_of[i]] += rank_of[i]
        for i in range(size):
            gain = self._division * sum_of_division[self._division_of[i]]
            gain += self._main * sum_of_main[self._main_of[i]]
            rank_of[i] += min(gain, self._most * rank_of[i])
            total += rank_of[i]
        if total > 0.0:
            for i in range(size):
                rank_of[i] /= total
        return ranks
