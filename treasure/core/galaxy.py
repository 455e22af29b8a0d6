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

    _start: cython.const[cython.int][::1]
    _number: cython.const[cython.int][::1]
    _weight: cython.const[cython.float][::1]
    _faint_class: cython.const[cython.ushort][:, :]
    _faint_weight: cython.const[cython.float][:, :]
    _class_of: cython.const[cython.int][::1]
    _members: cython.const[cython.int][::1]
    _digits: cython.const[cython.uchar][:, ::1]
    _majority: cython.double
    _division_of: cython.const[cython.int][::1]
    _main_of: cython.const[cython.int][::1]
    _division: cython.double
    _main: cython.double
    _most: cython.double
    _fetched: cython.double

    def __init__(
        self, bright: Any, faint: Any, classes: Any, gains: Any, digits: Any, majority: float
    ) -> None:
        """Take arrays that are known to fit together; they are not copied.

        *bright*: the first place of each term, and one more; the numbers at these places; and the
        weight of a dot of each term. *faint*: classes and weights of the dots of stems, a row each.
        *classes*: the class of each number, the division and the main class of each class.
        *gains*: what parts of the weight of its division and main class a class gains, and how many
        times its own weight it gains at most. *digits*: a row a number, filled up with zeros; a
        number is made more precise while one digit more holds more than a *majority* of the weight.
        Numbers are in the order of their digits.
        """
        self._start, self._number, self._weight = bright
        self._faint_class, self._faint_weight = faint
        self._class_of, self._division_of, self._main_of = classes
        self._division, self._main, self._most = gains
        self._members = np.searchsorted(classes[0], np.arange(len(classes[1]) + 1)).astype(np.int32)
        self._digits, self._majority = digits, majority
        self._fetched = 0.0

    def strengths(
        self,
        terms: cython.const[cython.int][::1],
        starts: cython.const[cython.int][::1],
        stems: cython.const[cython.int][::1],
        places: cython.const[cython.int][::1],
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
        word_of: cython.int[::1] = joined
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
        strength_of: cython.double[::1] = strengths
        for i in range(strength_of.shape[0]):
            strength_of[i] = _sqrt(strength_of[i])
        return words, strengths

    def weigh(
        self, words: cython.const[cython.int][::1], strengths: cython.const[cython.double][::1]
    ) -> tuple[Any, Any]:
        """Return the rank of each class as a share of all, and the weight of terms by number.

        All is 0 where nothing weighs anything.
        """
        size: cython.Py_ssize_t = self._weight.shape[0]
        classes: cython.Py_ssize_t = self._division_of.shape[0]
        ranks = np.zeros(classes)
        scores = np.zeros(self._class_of.shape[0])
        rank_of: cython.double[::1] = ranks
        score_of: cython.double[::1] = scores
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

    def ranked(
        self,
        words: cython.const[cython.int][::1],
        strengths: cython.const[cython.double][::1],
        most: cython.Py_ssize_t,
    ) -> list[tuple[int, int, float]]:
        """Return the best classes, each as the most precise number that a majority backs.

        A number is told by one that begins with it and by how many digits it has, with its share.
        """
        ranks, scores = self.weigh(words, strengths)
        rank_of: cython.double[::1] = ranks
        score_of: cython.double[::1] = scores
        best: list[tuple[int, int, float]] = []
        place: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while len(best) < most:
            place = 0
            for i in range(rank_of.shape[0]):
                if rank_of[i] > rank_of[place]:
                    place = i
            if rank_of.shape[0] == 0 or rank_of[place] <= 0.0:
                break
            best.append((*self._precise(score_of, place), float(rank_of[place])))
            rank_of[place] = 0.0
        return best

    @cython.cfunc
    def _precise(self, score_of: cython.double[::1], place: cython.Py_ssize_t) -> tuple[int, int]:
        """Go down from a class to where its terms crowd."""
        first: cython.Py_ssize_t = self._members[place]
        stop: cython.Py_ssize_t = self._members[place + 1]
        width: cython.Py_ssize_t = self._digits.shape[1]
        depth: cython.Py_ssize_t = 3
        i: cython.Py_ssize_t
        branch: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        end: cython.Py_ssize_t
        inside: cython.double = 0.0
        below: cython.double
        most: cython.double
        for i in range(first, stop):
            inside += score_of[i]
        while depth < width:
            # Numbers with the same next digit are neighbours; the best branch is begin to end.
            most = 0.0
            branch = begin = end = first
            while branch < stop:
                i = branch
                below = 0.0
                while i < stop and self._digits[i, depth] == self._digits[branch, depth]:
                    below += score_of[i]
                    i += 1
                if below > most and self._digits[branch, depth]:
                    most, begin, end = below, branch, i
                branch = i
            if most <= self._majority * inside:
                break
            first, stop, inside = begin, end, most
            depth += 1
        return first, depth

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fetch(self, words: cython.const[cython.int][::1]) -> cython.void:
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
    def _rank(self, rank_of: cython.double[::1]) -> cython.void:
        """Turn the weights of classes into shares, after what each gains from those around it."""
        size: cython.Py_ssize_t = rank_of.shape[0]
        # There are no more divisions and main classes than classes.
        sums: cython.double[:, ::1] = np.zeros((2, size))
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
