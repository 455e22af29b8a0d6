"""The lexicon as the crawler uses it: packed, memory-mapped, matched on integers.

``Lexicon.load()`` opens the one that travels with the package (also from inside a zipped egg),
or a packed file that ``TREASURE_DDC_LEXICON`` names. A text is found as terms: phrases before
words, the longest phrase first, over Porter stems; stop words are skipped on both sides.

Packed stems have numbers of their own; at load they are tied to the vocabulary of this process,
so that a page's ``terms`` array is looked up as it is.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.core.matching import Matcher
from treasure.ddc.classes import stems_of
from treasure.ddc.container import load, open_file, unpack_strings
from treasure.ddc.numbers import digits, normal, pointed
from treasure.errors import LexiconError
from treasure.text import VOCABULARY

SETTING = "TREASURE_DDC_LEXICON"
_AFTER_DIGITS = ":"


@dataclass(frozen=True, slots=True)
class Hits:
    """Terms found in a text, in reading order: their numbers in the lexicon, and where.

    *start* and *stop* count words of the text; stop words inside a phrase are part of it.
    """

    term: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.term)

    def words(self, chosen: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
        """Return, for each of the text's *size* words, whether it is part of a *chosen* hit."""
        edges = np.zeros(size + 1, np.int32)
        edges[self.start[chosen]] += 1
        edges[self.stop[chosen]] -= 1  # hits do not overlap
        return edges[:-1].cumsum() > 0


class Lexicon:
    """Terms, the D-numbers they point to, and our names for the numbers."""

    def __init__(self, arrays: dict[str, NDArray[Any]], meta: dict[str, Any], source: str) -> None:
        self.source = source
        self.meta = meta
        try:
            self._surfaces = arrays["surfaces"]
            self.numbers = unpack_strings(arrays["numbers"])
            """Every D-number, in order; the three-digit classes are always among them."""
            self._names = dict(zip(self.numbers, unpack_strings(arrays["names"]), strict=True))
            self.term_start: NDArray[np.int32] = arrays["term_start"]
            self.term_stems: NDArray[np.int32] = arrays["term_stems"]
            self.posting_start: NDArray[np.int32] = arrays["posting_start"]
            self.posting_number: NDArray[np.int32] = arrays["posting_number"]
            self.posting_place: NDArray[np.int32] = arrays["posting_place"]
            """Where in its class's line a term stands; the first are the most telling."""
            self.rarity: NDArray[np.float32] = arrays["rarity"]
            """What each term tells beyond a common word, in nats."""
            self.faint_start: NDArray[np.int32] = arrays["faint_start"]
            self.faint_number: NDArray[np.int32] = arrays["faint_number"]
            self.faint_weight: NDArray[np.float16] = arrays["faint_weight"]
            self._stems = unpack_strings(arrays["stems"])
        except (KeyError, ValueError):
            raise LexiconError(
                f"{source} was packed by another version of Treasure. Pack or import it again."
            ) from None
        if not self._fits():
            raise LexiconError(f"{source} is damaged. Pack or import it again.")
        self._tie_to_vocabulary()

    @classmethod
    def load(cls, path: str | None = None) -> Lexicon:
        """Return the lexicon at *path*, else the one the environment names, else our own.

        The same path gives the same object as long as the file does not change.
        """
        path = path or os.environ.get(SETTING) or ""
        if not path:
            return _own()
        try:
            stamp = Path(path).stat().st_mtime_ns
        except OSError:
            raise LexiconError(
                f"There is no packed lexicon {path}. Make one with 'treasure ddc import',"
                f" or leave {SETTING} empty to use our own."
            ) from None
        return _opened(path, stamp)

    # -- looking up

    @property
    def size(self) -> int:
        """How many distinct terms there are."""
        return len(self.rarity)

    def name(self, number: str) -> str:
        """Return our name for *number* or, where it has none, for the nearest class above it."""
        rest = digits(normal(number))
        while rest:
            name = self._names.get(pointed(rest))
            if name:
                return name
            rest = rest[:-1]
        return ""

    def __contains__(self, number: str) -> bool:
        return bool(self._names.get(normal(number)))

    def term(self, index: int) -> str:
        """Return a term as it was written; past the last term, the stems, with a "~"."""
        return self.surfaces[index] if index < self.size else f"~{self._stems[index - self.size]}"

    def find(self, term: str) -> int | None:
        """Return the index of *term* (any form with the same stems), if it is in the lexicon."""
        stems = stems_of(term)
        hits = self.match(np.array([VOCABULARY.id_of_stem(stem) for stem in stems], np.int32))
        whole = len(hits) == 1 and int(hits.stop[0] - hits.start[0]) == len(stems)
        return int(hits.term[0]) if whole else None

    @lru_cache(maxsize=4_096)  # noqa: B019 - lexicons live as long as the process
    def under(self, prefixes: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return, for each of ``numbers``, whether it lies under one of *prefixes*."""
        under = np.zeros(len(self.numbers), np.bool_)
        for prefix in map(digits, prefixes):  # numbers that begin alike are neighbours
            first = bisect_left(self.digits, prefix)
            under[first : bisect_left(self.digits, prefix + _AFTER_DIGITS, first)] = True
        return under

    @cached_property
    def digits(self) -> list[str]:
        """The digits of each of ``numbers``."""
        return [digits(number) for number in self.numbers]

    @cached_property
    def surfaces(self) -> list[str]:
        """Every term as it was written."""
        return unpack_strings(self._surfaces)

    # -- matching

    def match(self, terms: NDArray[np.int32]) -> Hits:
        """Return the terms found in a text given as vocabulary ids, as in ``Page.terms``."""
        return self.match_stems(terms)[0]

    def match_stems(
        self, terms: NDArray[np.int32]
    ) -> tuple[Hits, NDArray[np.int32], NDArray[np.int32]]:
        """Return the same, the stem of each word that counts, -1 if unknown, and its place."""
        term, start, stop, stem, place = self._matcher.match(terms)
        return Hits(term, start, stop), stem, place

    def _fits(self) -> bool:
        """Return whether rows end where the next begin, and nothing points to what is not there.

        Compiled code goes where it is pointed to.
        """
        return (
            _rows_fit(self.term_start, self.term_stems, len(self._stems), least=1)
            and _rows_fit(self.posting_start, self.posting_number, len(self.numbers), least=1)
            and _rows_fit(self.faint_start, self.faint_number, len(self.numbers), least=0)
            and len(self.term_start) == len(self.posting_start) == self.size + 1
            and len(self.faint_start) == len(self._stems) + 1
            and len(self.faint_weight) == len(self.faint_number)
        )

    def _tie_to_vocabulary(self) -> None:
        ids = np.fromiter(map(VOCABULARY.id_of_stem, self._stems), np.int32, len(self._stems))
        self.vocabulary_ids = ids
        """Vocabulary id of each packed stem."""

    @cached_property
    def _matcher(self) -> Matcher:
        starts, sizes = self.term_start[:-1], np.diff(self.term_start)
        columns = np.full((int(sizes.max()) + 1, self.size), -1, np.int32)
        for depth, column in enumerate(columns):
            longer = sizes > depth
            column[longer] = self.term_stems[starts[longer] + depth]
        begin = np.append(0, np.bincount(columns[0], minlength=len(self._stems)).cumsum())
        single = np.full(len(self._stems), -1, np.int32)
        single[columns[0, sizes == 1]] = np.flatnonzero(sizes == 1)
        usable = np.flatnonzero(self.vocabulary_ids >= 0)
        words = np.full((int(self.vocabulary_ids.max()) + 1, 2), -1, np.int32)
        words[self.vocabulary_ids[usable]] = np.stack([usable, single[usable]], axis=1)
        return Matcher(words, begin.astype(np.int32), columns)


def _rows_fit(starts: NDArray[np.int32], values: NDArray[Any], size: int, least: int) -> bool:
    """Return whether rows from *starts* on have *least* values each, all from 0 to below *size*."""
    return (
        len(starts) > 1
        and starts[0] == 0
        and starts[-1] == len(values)
        and int(np.diff(starts).min()) >= least
        and int(values.min(initial=0)) >= 0
        and int(values.max(initial=0)) < size
    )


@lru_cache(maxsize=1)
def _own() -> Lexicon:
    resource = files("treasure.ddc") / "data" / "lexicon.bin"
    if isinstance(resource, Path):
        return Lexicon(*open_file(resource), "our own lexicon")
    return Lexicon(*load(resource.read_bytes(), "our own lexicon"), "our own lexicon")


@lru_cache(maxsize=4)
def _opened(path: str, _stamp: int) -> Lexicon:
    return Lexicon(*open_file(Path(path)), path)
