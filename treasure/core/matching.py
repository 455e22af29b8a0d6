"""Finds the terms of a lexicon in a text: phrases before words, the longest first.

Serves ``ddc.lexicon``. Terms are rows of stems in the order of a dictionary, so that those that
begin alike are neighbours, and the shortest of them comes first.

What a lexicon has is not in the processor's cache when the next page comes, and to wait for it is
most of the work. So all words are looked up before one of them decides anything, and where that
only fills the cache as well: the processor then waits for many at a time.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

FILTER_BYTES = 1 << 17
"""A bit for each of 2^20 kinds of pairs; a lexicon has a few 10,000 pairs."""


@cython.cfunc
@cython.exceptval(check=False)
def _bit(first: cython.longlong, second: cython.longlong) -> cython.longlong:
    """Return which of the filter's bits is that of a pair of stems."""
    mix: cython.longlong = 2654435761
    other: cython.longlong = 2246822519
    first = cython.cast(cython.longlong, first) * mix
    second = cython.cast(cython.longlong, second) * other
    return ((first ^ second) >> 12) & 0xFFFFF


@cython.cclass
class Matcher:
    """The terms of a lexicon, ready to be found."""

    _words: cython.const[cython.int][:, ::1]
    _begin: cython.const[cython.int][::1]
    _columns: cython.const[cython.int][:, ::1]
    _filter: cython.uchar[::1]
    _fetched: cython.longlong

    def __init__(self, words: Any, begin: Any, columns: Any) -> None:
        """Take arrays that are known to fit together; they are not copied.

        *words* are the stem of each word's number and the term of this stem alone, -1 for none.
        *begin* is the first term of each stem, and one more. *columns* are first, second, third
        stem of all terms, -1 where a term has ended; the last is -1 throughout.
        """
        self._words = words
        self._begin = begin
        self._columns = columns
        # Most pairs of words begin no phrase, which a look at one bit tells.
        self._filter = np.zeros(FILTER_BYTES, np.uint8)
        term: cython.Py_ssize_t
        bit: cython.longlong
        for term in range(self._columns.shape[1]):
            if self._columns[1, term] >= 0:
                bit = _bit(self._columns[0, term], self._columns[1, term])
                self._filter[bit >> 3] |= 1 << (bit & 7)

    def match(self, words: cython.const[cython.int][::1]) -> tuple[Any, Any, Any, Any, Any]:
        """Return the terms found with first word and end of each, then the stems and their words.

        Words below 0 are skipped, also inside a phrase. Words that are no stem, or came later, have
        the stem -1, which is part of nothing.
        """
        size: cython.Py_ssize_t = words.shape[0]
        rows = np.empty((7, size), np.int32)
        row: cython.int[:, ::1] = rows
        term_of: cython.int[::1] = row[0]
        start_of: cython.int[::1] = row[1]
        stop_of: cython.int[::1] = row[2]
        stem_at: cython.int[::1] = row[3]
        place_of: cython.int[::1] = row[4]
        single_at: cython.int[::1] = row[5]
        pair_at: cython.int[::1] = row[6]
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        known: cython.Py_ssize_t = self._words.shape[0]
        count: cython.Py_ssize_t = 0
        found: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        for i in range(size):
            if words[i] >= 0:
                stem_at[count] = self._words[words[i], 0] if words[i] < known else -1
                single_at[count] = self._words[words[i], 1] if words[i] < known else -1
                place_of[count] = i
                count += 1
        bit: cython.longlong
        for i in range(count - 1):
            bit = _bit(stem_at[i], stem_at[i + 1])
            pair_at[i] = (self._filter[bit >> 3] >> (bit & 7)) & 1
        fetched: cython.longlong = 0  # nobody wants the sum, see above
        for i in range(count - 1):
            if pair_at[i] and stem_at[i] >= 0:
                low = self._begin[stem_at[i]]
                high = self._begin[stem_at[i] + 1]
                if low < high:
                    fetched += self._columns[1, (low + high) // 2]
        self._fetched = fetched
        term: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        i = 0
        while i < count:
            term = single_at[i]
            stop = i + 1
            if stop < count and pair_at[i]:
                term = self._longest(stem_at, i, count, term)
                while term >= 0 and self._columns[stop - i, term] >= 0:
                    stop += 1
            if term >= 0:
                term_of[found] = term
                start_of[found] = place_of[i]
                stop_of[found] = place_of[stop - 1] + 1
                found += 1
            i = stop
        return (
            rows[0, :found],
            rows[1, :found],
            rows[2, :found],
            rows[3, :count],
            rows[4, :count],
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _longest(
        self,
        stems: cython.int[::1],
        at: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        longest: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Return the longest phrase that begins at a stem, *longest* if there is none."""
        if stems[at] < 0:
            return longest
        low: cython.Py_ssize_t = self._begin[stems[at]]
        high: cython.Py_ssize_t = self._begin[stems[at] + 1]
        depth: cython.Py_ssize_t = 1
        while low < high and at + depth < stop and stems[at + depth] >= 0:
            low = self._first(stems[at + depth], depth, low, high)
            high = self._first(stems[at + depth] + 1, depth, low, high)
            depth += 1
            if low < high and self._columns[depth, low] < 0:
                longest = low
        return longest

    @cython.cfunc
    @cython.exceptval(check=False)
    def _first(
        self,
        stem: cython.int,
        depth: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Return the first of some terms whose stem at *depth* is *stem* or comes after it."""
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) // 2
            if self._columns[depth, middle] >= stem:
                high = middle
            else:
                low = middle + 1
        return low
