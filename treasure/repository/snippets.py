"""Snippets: the part of a text where a query's words are, marked.

A snippet is a list of pieces, marked or not, and no HTML: whoever shows it escapes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import Stemmer

SNIPPET_WORDS = 36
READ_CHARACTERS = 30_000
"""How far into a text we look; the best place is nearly always before."""

_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_stemmer = Stemmer.Stemmer("porter")


class Piece(NamedTuple):
    """A piece of text; *marked* when the query asked for it."""

    text: str
    marked: bool


def stems_of(tokens: Iterable[str]) -> frozenset[str]:
    """Return the stems that count as hits."""
    return frozenset(_stem(token) for token in tokens)


def mark(text: str, stems: frozenset[str]) -> list[Piece]:
    """Return all of *text* with the hits marked."""
    return _pieces(
        text, [m.span() for m in _WORD.finditer(text) if _stem(m[0]) in stems], 0, len(text)
    )


def snippet(text: str, stems: frozenset[str], width: int = SNIPPET_WORDS) -> list[Piece]:
    """Return the *width* words of *text* with most different hits, else its beginning."""
    text = text[:READ_CHARACTERS]
    spans = [match.span() for match in _WORD.finditer(text)]
    if not spans:
        return []
    found = [_stem(text[start:stop]) for start, stop in spans]
    hits = [i for i, stem in enumerate(found) if stem in stems]
    first = _best_start(found, hits, width)
    last = min(len(spans), first + width)
    start, stop = spans[first][0], spans[last - 1][1]
    pieces = _pieces(text, [spans[i] for i in hits if first <= i < last], start, stop)
    if first:
        pieces.insert(0, Piece("… ", False))
    if last < len(spans):
        pieces.append(Piece(" …", False))
    return pieces


def _best_start(found: list[str], hits: list[int], width: int) -> int:
    """Return where the window with most different hits begins, a few words before the first."""
    if not hits:
        return 0
    best, best_start, low = (0, 0), hits[0], 0
    inside: Counter[str] = Counter()
    for high, position in enumerate(hits):
        inside[found[position]] += 1
        while position - hits[low] >= width - width // 6:
            inside[found[hits[low]]] -= 1
            low += 1
        worth = (sum(1 for count in inside.values() if count > 0), high - low)
        if worth > best:
            best, best_start = worth, hits[low]
    return max(0, min(best_start - width // 6, len(found) - width))


def _pieces(text: str, marks: list[tuple[int, int]], start: int, stop: int) -> list[Piece]:
    pieces: list[Piece] = []
    for begin, end in marks:
        if begin > start:
            pieces.append(Piece(_SPACE.sub(" ", text[start:begin]), False))
        pieces.append(Piece(text[begin:end], True))
        start = end
    if start < stop:
        pieces.append(Piece(_SPACE.sub(" ", text[start:stop]), False))
    return pieces


def _stem(word: str) -> str:
    word = word.lower()
    if not word.isascii():
        decomposed = unicodedata.normalize("NFD", word)
        word = "".join(c for c in decomposed if not unicodedata.combining(c))
    return str(_stemmer.stemWord(word))
