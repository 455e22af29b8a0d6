"""Snippets: the part of a text where a query's words are, marked.

A snippet is a list of pieces, marked or not, and no HTML: whoever shows it escapes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import Stemmer

SNIPPET_CHARACTERS = 240
READ_CHARACTERS = 50_000
"""How far into a text we look; the best place is nearly always before."""

_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_stemmer = Stemmer.Stemmer("porter")


class Piece(NamedTuple):
    """A piece of text; *marked* when the query asked for it."""

    text: str
    marked: bool


class _Match(NamedTuple):
    start: int
    stop: int
    stem: str


def stems_of(tokens: Iterable[str]) -> frozenset[str]:
    """Return the stems that count as hits."""
    return frozenset(_stem(token) for token in tokens)


def mark(text: str, stems: frozenset[str]) -> list[Piece]:
    """Return all of *text* with the hits marked."""
    return _pieces(text, _matches(text, stems), 0, len(text))


def snippet(text: str, stems: frozenset[str], width: int = SNIPPET_CHARACTERS) -> list[Piece]:
    """Return about *width* characters of *text* with most different hits, else its beginning."""
    text = text[:READ_CHARACTERS].strip()
    matches = _matches(text, stems)
    start = _word_start(text, _best_start(matches, len(text), width))
    stop = _word_stop(text, max(start + width, *(m.stop for m in matches[:1]), 0))
    inside = [match for match in matches if start <= match.start and match.stop <= stop]
    pieces = _pieces(text, inside, start, stop)
    if start:
        pieces.insert(0, Piece("… ", False))
    if stop < len(text):
        pieces.append(Piece(" …", False))
    return pieces


def _matches(text: str, stems: frozenset[str]) -> list[_Match]:
    """Return the words of *text* whose stem is wanted.

    Porter's stemmer changes the end of a word only, so a word that begins otherwise than the stem
    need not be stemmed. Accents may be anywhere: a text that has some is read word by word.
    """
    if not stems:
        return []
    words = _beginning_like(stems) if text.isascii() else _WORD
    found = (_Match(*match.span(), _stem(match[0])) for match in words.finditer(text))
    return [match for match in found if match.stem in stems]


@lru_cache(maxsize=64)
def _beginning_like(stems: frozenset[str]) -> re.Pattern[str]:
    starts = sorted({re.escape(stem[: max(1, len(stem) - 1)]) for stem in stems})
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(starts)})[^\W_]*", re.IGNORECASE)


def _best_start(matches: list[_Match], length: int, width: int) -> int:
    """Return where the window with most different hits begins, a few words before the first."""
    if not matches:
        return 0
    best, start, low = (0, 0), 0, 0
    inside: Counter[str] = Counter()
    for high, match in enumerate(matches):
        inside[match.stem] += 1
        while match.stop - matches[low].start > width - width // 6 and low < high:
            inside[matches[low].stem] -= 1
            low += 1
        worth = (sum(1 for count in inside.values() if count > 0), high - low)
        if worth > best:
            best, start = worth, matches[low].start
    return max(0, min(start - width // 6, length - width))


def _word_start(text: str, position: int) -> int:
    """Return the start of the first whole word from *position* on."""
    if position == 0 or text[position - 1].isspace():
        return position
    space = _SPACE.search(text, position, position + 40)
    return space.end() if space else position


def _word_stop(text: str, position: int) -> int:
    """Return the end of the word at *position*."""
    if position >= len(text):
        return len(text)
    space = _SPACE.search(text, position, position + 40)
    return space.start() if space else position


def _pieces(text: str, matches: list[_Match], start: int, stop: int) -> list[Piece]:
    pieces: list[Piece] = []
    for match in matches:
        if match.start > start:
            pieces.append(Piece(_SPACE.sub(" ", text[start : match.start]), False))
        pieces.append(Piece(text[match.start : match.stop], True))
        start = match.stop
    if start < stop:
        pieces.append(Piece(_SPACE.sub(" ", text[start:stop]), False))
    return pieces


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    word = word.lower()
    if not word.isascii():
        decomposed = unicodedata.normalize("NFD", word)
        word = "".join(c for c in decomposed if not unicodedata.combining(c))
    return str(_stemmer.stemWord(word))
