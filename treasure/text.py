"""Words, stop words and stems.

Words are runs of letters and digits in lower case; stems are Porter's original algorithm
(PyStemmer's ``porter``, equal to NLTK's ORIGINAL_ALGORITHM). A vocabulary gives each stem a
number, so that texts become integer arrays. Numbers are of this process: whatever is saved is
saved as stems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import Stemmer
from numpy.typing import NDArray

from treasure.word_table import Reading, WordTable

STOP = -1
"""Vocabulary id of stop words, numbers and monsters."""

MAX_WORD_LENGTH = 40
MAX_STEMS = 1 << 20
"""A crawl of millions of pages meets millions of misspellings; past this many they are dropped."""
NEW = MAX_STEMS
"""Stands for every word that was met in no text: no stem has this number."""
MAX_CACHED_WORDS = 1 << 21

MARK = "\x01"
"""May stand between texts that are cut into words together."""
_NO_WORD = re.compile(rf"[^\w{MARK}]|_")
_ASCII = bytes(range(128))
MAX_SIGNS = 100
"""Kinds of punctuation beyond ASCII that are replaced one by one; a text in earnest has a dozen."""
MAX_CAPITALS = 20
"""Kinds of capitals beyond ASCII that are made small one by one; more are quicker all at once."""


_CUT = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or chr(code) == MARK else 32
    for code in range(128)
) + bytes(range(128, 256))
"""What each byte of UTF-8 becomes: letters of ASCII in lower case, other signs a space."""

STOP_WORDS = frozenset(
    """a about above after again against all almost also although always am among an and
    another any are aren around as at away back be became because become been before being
    below between both but by came can cannot could couldn did didn do does doesn doing don
    done down during each either else even ever every few for from further get gets given go
    goes got had hadn has hasn have haven having he her here hers herself him himself his
    how however if in into is isn it its itself just know least less let like likely ll made
    make makes many may me might mine more most much must my myself near need never no nor
    not now of off often on once one only onto or other others our ours ourselves out over
    own part per perhaps put quite rather re really s said same say says see seem seen
    several shall she should shouldn since so some something soon still such t take than
    that the their theirs them themselves then there therefore these they thing things this
    those though three through thus to together too took toward two under until up upon us
    use used uses using ve very want was wasn way we well went were weren what when where
    whether which while who whole whom whose why will with within without won would wouldn
    yet you your yours yourself yourselves""".split()
)


def words(text: str) -> list[str]:
    """Return the words of *text* in lower case."""
    return plain(text.replace(MARK, " ")).decode().split()


def plain(written: str | bytes) -> bytes:
    """Return a text in lower case, with spaces for all but letters, digits and marks.

    To translate bytes takes a fifth of the time of a regular expression. Beyond ASCII that cannot
    tell signs from letters, so signs go first; most pages have no more than a few kinds of them.
    """
    if written.isascii():
        return (written.encode() if isinstance(written, str) else written).translate(_CUT)
    text = written if isinstance(written, str) else written.decode("utf-8", "replace")
    beyond = set(text.encode("utf-8", "replace").translate(None, _ASCII).decode())
    capitals = [c for c in beyond if c != c.lower()]
    if len(capitals) > MAX_CAPITALS or "Σ" in capitals:  # which becomes ς where a word ends
        return plain(text.lower())
    for capital in capitals:
        text = text.replace(capital, capital.lower())
        beyond.update(capital.lower())
    signs = [c for c in beyond if not (c.isalnum() or c.isascii())]
    if len(signs) > MAX_SIGNS:
        text = _NO_WORD.sub(" ", text.lower())
    else:
        for sign in signs:
            text = text.replace(sign, " ")
    return text.encode("utf-8", "replace").translate(_CUT)


class Vocabulary(dict[str, int]):
    """Maps a word to the number of its stem, learning new words as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer("porter", 0)
        self._numbers: dict[str, int] = {}
        self._stems: list[str] = []
        self._table = WordTable(self.__getitem__, MARK)

    def __missing__(self, word: str) -> int:
        number = self._number(word)
        if len(self) < MAX_CACHED_WORDS:
            self[word] = number
        return number

    def _number(self, word: str) -> int:
        return STOP if _stops(word) else self.id_of_stem(self._stemmer.stemWord(word))

    def met(self, word: str) -> int:
        """Return the number of *word*, NEW unless a text had one of its stem; nothing is learned.

        For words of addresses: every address has one of its own, and few of them tell anything.
        """
        number = self.get(word)
        if number is None:
            if _stops(word):
                return STOP
            number = self._numbers.get(self._stemmer.stemWord(word), NEW)
        return number

    def ids(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the stem numbers of *words*, STOP for those that do not count."""
        return np.fromiter(map(self.__getitem__, words), dtype=np.int32)

    def read(self, text: bytes) -> Reading:
        """Return the same for all words of a text that ``plain`` made, and where they stand."""
        return self._table.read(text)

    def id_of_stem(self, stem: str) -> int:
        """Return the number of *stem*, such as one that was saved earlier; no stemming is done."""
        number = self._numbers.get(stem)
        if number is None:
            if len(self._stems) >= MAX_STEMS:
                return STOP
            number = self._numbers[stem] = len(self._stems)
            self._stems.append(stem)
        return number

    def stem(self, number: int) -> str:
        """Return the stem behind *number*."""
        return self._stems[number]

    def stems(self, numbers: Iterable[int]) -> list[str]:
        """Return the stems behind *numbers*."""
        known = self._stems
        return [known[number] for number in numbers]

    @property
    def size(self) -> int:
        """How many stems are known."""
        return len(self._stems)


def _stops(word: str) -> bool:
    """Return whether a word does not count."""
    return (
        word in STOP_WORDS
        or len(word) > MAX_WORD_LENGTH
        or (len(word) == 1 and word.isascii())
        or word.isdigit()
    )


VOCABULARY = Vocabulary()
"""The vocabulary of this process."""


def distinct(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the different *numbers* (-1 or more) in order, and which of them each one is.

    As ``np.unique`` does by sorting, in a fifth of the time: numbers of words are small.
    """
    if not numbers.size:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    places = np.zeros(int(numbers.max()) + 2, np.int32)
    places[numbers + 1] = 1
    known = np.flatnonzero(places)
    places[known] = np.arange(known.size, dtype=np.int32)
    return known - 1, places.take(numbers + 1)
