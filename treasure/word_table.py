"""WordTable: the numbers of a text's words, all looked up at once.

A dictionary needs a string for every word and waits for memory several times to find it. Here a
word is what it is to the machine: eight letters are one integer of 64 bits, read from the text
where the word begins, and words of up to 24 letters are three. All words of a page are hashed and
looked up by a dozen operations of numpy, and no string is made. What is not in the table, which
holds the words met first and so the common ones, is asked for one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SLOT_BITS = 20
MOST_WORDS = 1 << (SLOT_BITS - 3)
"""With more, too many words would meet in a slot; 130,000 words are nearly all of a text."""
MOST_BYTES = 24
_KEPT = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""What is left of eight bytes when only the first 0 to 8 belong to the word."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - SLOT_BITS)


class Reading(NamedTuple):
    """The words of a text: their numbers, and where in the text each begins and ends."""

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


class WordTable:
    """Remembers what *number* said of each word."""

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number = number
        self._words = 0
        self._adding = threading.Lock()
        # One slot more, since a word may stand next to its own slot.
        self._hashes = np.zeros((1 << SLOT_BITS) + 1, np.uint64)
        self._numbers = np.zeros((1 << SLOT_BITS) + 1, np.int32)
        self._hashes[:2] = 1  # no word's hash: where 0 is looked for it must not be found

    def read(self, text: bytes) -> Reading:
        """Return the words of *text*: runs of bytes greater than a space, in UTF-8."""
        text = b"".join((b" ", text, b" " * MOST_BYTES))
        letters = np.frombuffer(text, np.uint8) > 32
        edges = np.flatnonzero(letters[1:] != letters[:-1])
        starts, stops = edges[::2] + 1, edges[1::2] + 1
        hashes = _hashes(text, starts, stops - starts)
        slots = (hashes >> _SHIFT).astype(np.int64)
        # Hashes before numbers: whoever adds a word meanwhile writes them the other way round.
        missed = np.flatnonzero(self._hashes[slots] != hashes)
        numbers = self._numbers[slots]
        slots = slots[missed] + 1
        missed_again = self._hashes[slots] != hashes[missed]
        numbers[missed] = self._numbers[slots]
        missed = missed[missed_again]
        if missed.size:
            numbers[missed] = [
                self._ask(text[start:stop].decode(), word_hash)
                for start, stop, word_hash in zip(
                    starts[missed].tolist(),
                    stops[missed].tolist(),
                    hashes[missed].tolist(),
                    strict=True,
                )
            ]
        return Reading(numbers, starts - 1, stops - 1)

    def _ask(self, word: str, word_hash: int) -> int:
        """Ask for the number of *word*; remember it where there is room."""
        number = self._number(word)
        slot = word_hash >> int(_SHIFT)
        if word_hash and self._words < MOST_WORDS:
            with self._adding:
                for place in (slot, slot + 1):
                    if not self._hashes[place]:
                        self._numbers[place] = number
                        self._hashes[place] = word_hash
                        self._words += 1
                        break
        return number


def _hashes(text: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a hash of each word; 0, which is no hash, for words of more than MOST_BYTES.

    Words of eight bytes or less have one each; that others share one has yet to be seen.
    """
    eight = np.ndarray((len(text) - 7,), np.dtype("<u8"), text, strides=(1,))
    hashes = (eight[starts] & _KEPT.take(sizes, mode="clip")) * _ODD
    for done in range(8, MOST_BYTES, 8):
        long = np.flatnonzero(sizes > done)
        rest = eight[starts[long] + done] & _KEPT.take(sizes[long] - done, mode="clip")
        hashes[long] = ((hashes[long] >> np.uint64(29)) ^ hashes[long] ^ rest) * _ODD
    hashes[sizes > MOST_BYTES] = 0
    return hashes
