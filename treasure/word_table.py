"""WordTable: the numbers of a text's words, looked up without making a string of any.

A dictionary needs a string for every word. Here a word is looked for by a hash of its 64 bits,
made while its end is found (``core.words``): with 130,000 words that two share one has yet to
be seen. What is not in the table, which holds the words met first and so the common ones, is
asked for one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.core.words import MOST_BYTES, SHIFT, cut, keep

SLOTS = 1 << (64 - SHIFT)
MOST_WORDS = SLOTS >> 3
"""With more, too many words would meet in a slot; 130,000 words are nearly all of a text."""

__all__ = ["MOST_BYTES", "Reading", "WordTable"]


class Reading(NamedTuple):
    """The words of a text: their numbers, where in the text each begins and ends, and the marks."""

    numbers: NDArray[np.int32]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    marks: NDArray[np.int32]
    """How many words stand before each mark."""


class WordTable:
    """Remembers what *number* said of each word."""

    def __init__(self, number: Callable[[str], int], mark: str) -> None:
        self._number = number
        self._mark = ord(mark)
        self._words = 0
        self._adding = threading.Lock()
        # Hash and number of each word side by side; one slot more, as a word may stand next to its
        # own.
        self._table = np.zeros((SLOTS + 1, 2), np.uint64)
        self._table[:2] = 1  # a word without a hash looks here, and must not be found

    def read(self, text: bytes) -> Reading:
        """Return the words of *text*: runs of bytes greater than a space, in UTF-8."""
        numbers, starts, stops, marks, missing = cut(text, self._mark, self._table)
        if missing:
            places = zip(starts[missing].tolist(), stops[missing].tolist(), strict=True)
            numbers[missing] = [self._ask(text[start:stop]) for start, stop in places]
        return Reading(numbers, starts, stops, marks)

    def _ask(self, word: bytes) -> int:
        """Ask for the number of a word; remember it where there is room."""
        number = self._number(word.decode())
        if self._words < MOST_WORDS:
            with self._adding:
                self._words += keep(self._table, word, number)
        return number
