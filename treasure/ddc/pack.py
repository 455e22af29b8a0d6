"""Lexicon text -> packed lexicon: stems, terms, numbers and weights as arrays.

Packing is done once, by us (the result travels with the package) or by a team that imports its
own edition. What is costly or needs judgement happens here, so that a crawl only looks up.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.classes import DeweyClass, read_folder, stems_of
from treasure.ddc.container import dump, pack_strings
from treasure.ddc.numbers import digits
from treasure.errors import LexiconError

FREQUENCIES = "frequencies.txt"
UNSEEN_FREQUENCY = 500.0
"""Of a thousand million words, for stems that the table does not hold."""


def pack_folder(folder: Path) -> bytes:
    """Return the packed lexicon of the text in *folder* (``data/ddc`` of a checkout)."""
    return pack(
        read_folder(folder),
        read_frequencies(folder / FREQUENCIES),
        {"title": "Treasure's own terms", "source": digest(folder)},
    )


def digest(folder: Path) -> str:
    """Return a digest of the text that a packed lexicon is made from."""
    total = hashlib.blake2b(digest_size=16)
    for path in [*sorted((folder / "classes").glob("*.txt")), folder / FREQUENCIES]:
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def read_frequencies(path: Path) -> dict[str, float]:
    """Return how often each stem occurs in a thousand million words of English."""
    found: dict[str, float] = {}
    for count, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        try:
            stem, number = line.split()
            found[stem] = float(number)
        except ValueError:
            raise LexiconError(f"{path}:{count}: expected 'stem count'. Got {line!r}.") from None
    return found


def rarity(stems: Sequence[str], frequencies: Mapping[str, float]) -> float:
    """Return how much a term tells: its self-information in nats, 0 to about 20.

    A phrase tells as much as its rarest word and a quarter of what the others add: its words
    rarely come independently.
    """
    each = sorted(
        (math.log(1e9 / max(frequencies.get(s, UNSEEN_FREQUENCY), 1.0)) for s in stems),
        reverse=True,
    )
    return each[0] + 0.25 * sum(each[1:])


def pack(
    classes: Iterable[DeweyClass], frequencies: Mapping[str, float], meta: Mapping[str, str]
) -> bytes:
    """Return *classes* as a packed lexicon."""
    names: dict[str, str] = {}
    surfaces: dict[tuple[str, ...], str] = {}
    postings: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for entry in classes:
        names.setdefault(entry.number, entry.name)
        for place, term in enumerate(entry.terms):
            stems = stems_of(term)
            if stems:
                surfaces.setdefault(stems, term)
                postings[stems].setdefault(entry.number, place)
    numbers = sorted(names, key=digits)
    index = {number: count for count, number in enumerate(numbers)}
    vocabulary = sorted({stem for term in postings for stem in term})
    stem_place = {stem: count for count, stem in enumerate(vocabulary)}
    terms = sorted(postings)
    pairs = [
        pair
        for term in terms
        for pair in sorted((index[number], place) for number, place in postings[term].items())
    ]
    arrays: dict[str, NDArray[Any]] = {
        "stems": pack_strings(vocabulary),
        "numbers": pack_strings(numbers),
        "names": pack_strings([names[number] for number in numbers]),
        "surfaces": pack_strings([surfaces[term] for term in terms]),
        "term_start": _starts(len(term) for term in terms),
        "term_stems": np.array([stem_place[s] for term in terms for s in term], np.int32),
        "posting_start": _starts(len(postings[term]) for term in terms),
        "posting_number": np.array([number for number, _ in pairs], np.int32),
        "posting_weight": np.ones(len(pairs), np.float32),
        "posting_place": np.array([place for _, place in pairs], np.int32),
        "rarity": np.array([rarity(term, frequencies) for term in terms], np.float32),
    }
    return dump(arrays, {**meta, "classes": len(numbers), "terms": len(terms)})


def _starts(sizes: Iterable[int]) -> NDArray[np.int32]:
    return np.cumsum([0, *sizes], dtype=np.int32)
