"""What the dots of a text weigh over D-numbers, and how its classes rank by them.

Serves ``ddc.weighted``, which says what dots are. As in ``matching``, what lies far apart in memory
is looked up before anything hangs on it.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import sqrt as _sqrt

from treasure.core.documents import counted


@cython.cclass
class Scale:
    """The dots of all words of a lexicon, and the classes they lie in.

    Words are its terms and, after these, its stems, whose dots are the faint ones.
    """

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
    _fetched: cython.double

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
        self._fetched = 0.0

    def strengths(
        self,
        terms: cython.const[cython.int][:],
        starts: cython.const[cython.int][:],
        stems: cython.const[cython.int][:],
        places: cython.const[cython.int][:],
        opening: cython.int,
        times: cython.int,
    ) -> tuple[Any, Any]:
        """Return the distinct words of a text, terms first, and the root of how often each comes.

        Terms and stems are given with their places; those before *opening* count so many *times*.
        """
        size: cython.Py_ssize_t = self._weight.shape[0]
        term_count: cython.Py_ssize_t = terms.shape[0]
        count: cython.Py_ssize_t = term_count + stems.shape[0]
        joined = np.empty(count, np.int32)
        word_of: cython.int[:] = joined
        first_terms: cython.Py_ssize_t = 0
        first_stems: cython.Py_ssize_t = term_count
        i: cython.Py_ssize_t
        for i in range(term_count):
            word_of[i] = terms[i]
            first_terms += starts[i] < opening
        for i in range(stems.shape[0]):
            word_of[term_count + i] = size + stems[i] if stems[i] >= 0 else -1
            first_stems += places[i] < opening
        again = [(0, first_terms), (term_count, first_stems)]
        words, strengths = counted(joined, [(0, count)] + again * (times - 1))
        strength_of: cython.double[:] = strengths
        for i in range(strength_of.shape[0]):
            strength_of[i] = _sqrt(strength_of[i])
        return words, strengths

    def weigh(
        self, words: cython.const[cython.int][:], strengths: cython.const[cython.double][:]
    ) -> tuple[Any, Any]:
        """Return the rank of each class as a share of all, and the weight of terms by number.

        All is 0 where nothing weighs anything.
        """
        size: cython.Py_ssize_t = self._weight.shape[0]
        classes: cython.Py_ssize_t = self._division_of.shape[0]
        ranks = np.zeros(classes)
        scores = np.zeros(self._class_of.shape[0])
        rank_of: cython.double[:] = ranks
        score_of: cython.double[:] = scores
        weight: cython.double
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        stem: cython.Py_ssize_t
        self._fetch(words)
        for i in range(words.shape[0]):
            if words[i] < size:
                weight = self._weight[words[i]] * strengths[i]
                for j in range(self._start[words[i]], self._start[words[i] + 1]):
                    score_of[self._number[j]] += weight
            else:
                stem = words[i] - size
                for j in range(self._faint_class.shape[1]):
                    weight = self._faint_weight[stem, j] * strengths[i]
                    rank_of[self._faint_class[stem, j]] += weight
        for i in range(scores.shape[0]):
            rank_of[self._class_of[i]] += score_of[i]
        self._rank(rank_of)
        return ranks, scores

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fetch(self, words: cython.const[cython.int][:]) -> cython.void:
        """Look once at all that will be needed.

        Nobody wants the sum, but nothing in this loop waits for anything else, so that the memory
        is asked for many words at once. Else ``weigh`` would take more than twice as long.
        """
        size: cython.Py_ssize_t = self._weight.shape[0]
        last: cython.Py_ssize_t = self._faint_class.shape[1] - 1
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(words.shape[0]):
            if words[i] < size:
                total += self._weight[words[i]] + self._number[self._start[words[i]]]
            elif last >= 0:
                total += self._faint_class[words[i] - size, 0]
                total += self._faint_weight[words[i] - size, last]
        self._fetched = total

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rank(self, rank_of: cython.double[:]) -> cython.void:
        """Turn the weights of classes into shares, after what each gains from those around it."""
        size: cython.Py_ssize_t = rank_of.shape[0]
        # There are no more divisions and main classes than classes.
        sums: cython.double[:, :] = np.zeros((2, size))
        gain: cython.double
        total: cython.double = 0.0
        i: cython.Py_ssize_t
        for i in range(size):
            sums[0, self._division_of[i]] += rank_of[i]
            sums[1, self._main_of[i]] += rank_of[i]
        for i in range(size):
            gain = self._division * sums[0, self._division_of[i]]
            gain += self._main * sums[1, self._main_of[i]]
            rank_of[i] += min(gain, self._most * rank_of[i])
            total += rank_of[i]
        if total > 0.0:
            for i in range(size):
                rank_of[i] /= total
