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

from treasure.ddc.classes import MAX_TERM_WORDS, stems_of
from treasure.ddc.container import load, open_file, unpack_strings
from treasure.ddc.numbers import digits, normal, pointed
from treasure.errors import LexiconError
from treasure.text import VOCABULARY

SETTING = "TREASURE_DDC_LEXICON"
_FILTER_BITS = 20
_MIX = np.uint32(0x9E3779B1)
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
        self._tie_to_vocabulary()
        self._index_terms()

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
        ids = [self._stem_place.get(stem, -1) for stem in stems_of(term)]
        if len(ids) == 1:
            found = int(self._single[ids[0]]) if ids[0] >= 0 else -1
            return None if found < 0 else found
        if len(ids) < 2 or min(ids) < 0:
            return None
        key = _pair_keys(np.array(ids[:1]), np.array(ids[1:2]))
        pair = int(np.searchsorted(self._pairs, key)[0])
        if self._pairs[pair] != key[0]:
            return None
        return next((term for phrase, term in self._phrases(pair) if phrase == ids), None)

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
        return self.match_stems(*self.stems_in(terms))

    def match_stems(self, kept: NDArray[np.int64], known: NDArray[np.int32]) -> Hits:
        """Return the terms found among what ``stems_in`` gave."""
        found, width = self.terms_at(known)
        places = np.flatnonzero(found >= 0)
        start = kept[places]
        stop = kept[places + width[places] - 1] + 1
        return Hits(found[places], start.astype(np.int32), stop.astype(np.int32))

    def terms_at(self, known: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the term that begins at each stem, -1 where none does, and how many it takes."""
        found = self._single.take(known)  # known == -1 takes the last place, which holds -1
        width = np.ones(len(found), np.int32)
        self._match_phrases(known, found, width)
        return found, width

    def stems_in(self, terms: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where words that count stand, and their stems' numbers here, -1 if unknown."""
        kept = np.flatnonzero(terms >= 0)
        ids = terms[kept]
        # Words met later than the lexicon take the last place, which holds -1.
        return kept, self._stem_of.take(ids, mode="clip")

    def _match_phrases(
        self, known: NDArray[np.int32], found: NDArray[np.int32], width: NDArray[np.int32]
    ) -> None:
        first, second = known[:-1], known[1:]
        candidates = np.flatnonzero(self._pair_filter.take(_filter_places(first, second)))
        keys = _pair_keys(first[candidates], second[candidates])
        pairs = np.searchsorted(self._pairs, keys)
        real = np.flatnonzero(self._pairs.take(pairs) == keys)
        places, pairs = candidates.take(real), pairs.take(real)
        terms = self._pair_term.take(pairs)
        sizes = np.where(terms >= 0, 2, 0)
        for at in np.flatnonzero(self._pair_has_longer.take(pairs)).tolist():
            text = known[places[at] : places[at] + MAX_TERM_WORDS].tolist()
            for phrase, term in self._phrases(int(pairs[at])):
                if text[: len(phrase)] == phrase:
                    terms[at], sizes[at] = term, len(phrase)
                    break
        chosen = np.array(_without_overlaps(places.tolist(), sizes.tolist()), np.int64)
        places, sizes = places.take(chosen), sizes.take(chosen)
        found[places] = terms.take(chosen)
        width[places] = sizes
        for more in range(1, int(sizes.max(initial=0))):
            found[places[sizes > more] + more] = -1

    def _phrases(self, pair: int) -> list[tuple[list[int], int]]:
        """Return the phrases that begin with a pair of stems, and their terms, longest first."""
        phrases = self._phrases_of.get(pair)
        if phrases is None:
            # Phrases are in order, so a phrase comes after those that it begins with.
            low, high = self._pair_start[pair], self._pair_start[pair + 1]
            phrases = self._phrases_of[pair] = [
                (self.term_stems[self.term_start[term] : self.term_start[term + 1]].tolist(), term)
                for term in self._phrase_terms[low:high][::-1].tolist()
            ]
        return phrases

    def _tie_to_vocabulary(self) -> None:
        ids = np.fromiter(map(VOCABULARY.id_of_stem, self._stems), np.int32, len(self._stems))
        self.vocabulary_ids = ids
        """Vocabulary id of each packed stem."""
        self._stem_of = np.full(VOCABULARY.size + 1, -1, np.int32)
        usable = ids >= 0
        self._stem_of[ids[usable]] = np.flatnonzero(usable)

    @cached_property
    def _stem_place(self) -> dict[str, int]:
        return {stem: place for place, stem in enumerate(self._stems)}

    def _index_terms(self) -> None:
        sizes = np.diff(self.term_start)
        singles = np.flatnonzero(sizes == 1)
        self._single = np.full(len(self._stems) + 1, -1, np.int32)
        self._single[self.term_stems[self.term_start[singles]]] = singles
        self._phrase_terms = np.flatnonzero(sizes > 1)
        starts = self.term_start[self._phrase_terms]
        first, second = self.term_stems[starts], self.term_stems[starts + 1]
        self._pair_filter = np.zeros(1 << _FILTER_BITS, np.bool_)
        self._pair_filter[_filter_places(first, second)] = True
        pairs, pair_start = np.unique(_pair_keys(first, second), return_index=True)
        self._pairs = np.append(pairs, np.iinfo(np.int64).max)  # so that every search ends inside
        self._pair_start = np.append(pair_start, len(starts))
        # Of the phrases with a pair, that of two stems comes first, if there is one.
        shortest = self._phrase_terms[pair_start]
        of_two = sizes[shortest] == 2
        self._pair_term = np.where(of_two, shortest, -1).astype(np.int32)
        self._pair_has_longer = np.diff(self._pair_start) > of_two
        self._phrases_of: dict[int, list[tuple[list[int], int]]] = {}


def _without_overlaps(places: list[int], sizes: list[int]) -> list[int]:
    """Return which of the phrases stand, read from the left; those of size 0 are none."""
    free = 0
    chosen = []
    for at, (place, size) in enumerate(zip(places, sizes, strict=True)):
        if size and place >= free:
            chosen.append(at)
            free = place + size
    return chosen


def _pair_keys(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return one number for each pair of stems, in the order of the pairs."""
    return (first.astype(np.int64) << 32) | second.astype(np.int64)


def _filter_places(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Return places in a filter that tells most pairs of stems that begin no phrase."""
    mixed = (first.view(np.uint32) * _MIX + second.view(np.uint32)) * _MIX
    return mixed >> np.uint32(32 - _FILTER_BITS)


@lru_cache(maxsize=1)
def _own() -> Lexicon:
    resource = files("treasure.ddc") / "data" / "lexicon.bin"
    if isinstance(resource, Path):
        return Lexicon(*open_file(resource), "our own lexicon")
    return Lexicon(*load(resource.read_bytes(), "our own lexicon"), "our own lexicon")


@lru_cache(maxsize=4)
def _opened(path: str, _stamp: int) -> Lexicon:
    return Lexicon(*open_file(Path(path)), path)
