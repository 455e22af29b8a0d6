"""Lexicon text -> packed lexicon: stems, terms, numbers and weights as arrays.

Packing is done once, by us (the result travels with the package) or by a team that imports its
own edition. What is costly or needs judgement happens here, so that a crawl only looks up.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from treasure.ddc.background import Background
from treasure.ddc.classes import DeweyClass, read_folder, stems_of
from treasure.ddc.container import dump, pack_strings
from treasure.ddc.kinship import faint_dots
from treasure.ddc.numbers import class_of, digits, normal
from treasure.errors import LexiconError

COMMON = 6.0
"""Nats of information that we ignore: a word as common as "school" (1 in 400) tells nothing."""
LEAST = 0.1
_FURTHER_WORDS = 0.25
"""Words of a phrase seldom come independently: beside the rarest, each adds a quarter."""

_Stems = tuple[str, ...]
"""A term, as it is found in texts."""


def pack_folder(folder: Path) -> bytes:
    """Return the packed lexicon of the text in *folder* (``data/ddc`` of a checkout)."""
    meta = {"title": "Treasure's own terms", "source": digest(folder)}
    return pack(read_folder(folder), Background.own(), meta)


def digest(folder: Path) -> str:
    """Return a digest of all that a packed lexicon is made from."""
    total = hashlib.blake2b(digest_size=16)
    for path in sorted((folder / "classes").glob("*.txt")):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    total.update((files("treasure.ddc") / "data" / "background.bin").read_bytes())
    return total.hexdigest()


def information(stems: Sequence[str], background: Background) -> float:
    """Return what a term tells beyond a common word, in nats (rarity)."""
    each = sorted((math.log(1e9 / background.frequency(stem)) for stem in stems), reverse=True)
    return max(each[0] + _FURTHER_WORDS * sum(each[1:]) - COMMON, LEAST)


def pack(classes: Iterable[DeweyClass], background: Background, meta: Mapping[str, str]) -> bytes:
    """Return *classes* as a packed lexicon."""
    names, surfaces, found = _gathered(classes)
    numbers = sorted(names, key=digits)
    number_at = {number: at for at, number in enumerate(numbers)}
    vocabulary = sorted({stem for term in found for stem in term} | set(background.stems))
    stem_at = {stem: at for at, stem in enumerate(vocabulary)}
    terms = sorted(found)
    sequences = [[stem_at[stem] for stem in term] for term in terms]
    dots = [sorted((number_at[n], place) for n, place in found[term].items()) for term in terms]
    faint = faint_dots(
        vocabulary,
        sequences,
        _postings(dots, len(numbers)),
        numbers,
        np.array([information((stem,), background) for stem in vocabulary]),
        background,
    )
    arrays: dict[str, NDArray[Any]] = {
        "stems": pack_strings(vocabulary),
        "numbers": pack_strings(numbers),
        "names": pack_strings([names[number] for number in numbers]),
        "surfaces": pack_strings([surfaces[term] for term in terms]),
        "rarity": np.array([information(term, background) for term in terms], np.float32),
        "term_start": _starts(len(term) for term in terms),
        "term_stems": np.array([stem for term in sequences for stem in term], np.int32),
        "posting_start": _starts(len(row) for row in dots),
        "posting_number": np.array([number for row in dots for number, _ in row], np.int32),
        "posting_place": np.array([place for row in dots for _, place in row], np.int32),
        "faint_start": faint.indptr.astype(np.int32),
        "faint_number": faint.indices.astype(np.uint16 if len(numbers) < 1 << 16 else np.int32),
        "faint_weight": faint.data.astype(np.float16),
    }
    return dump(arrays, {**meta, "classes": len(numbers), "terms": len(terms)})


def _gathered(
    classes: Iterable[DeweyClass],
) -> tuple[dict[str, str], dict[_Stems, str], dict[_Stems, dict[str, int]]]:
    """Return names by number; spellings by term; and of each term its numbers, with its place."""
    names: dict[str, str] = {}
    surfaces: dict[_Stems, str] = {}
    found: dict[_Stems, dict[str, int]] = defaultdict(dict)
    for entry in classes:
        names.setdefault(entry.number, entry.name)
        for place, term in enumerate(entry.terms):
            stems = stems_of(term)
            if stems:
                surfaces.setdefault(stems, term)
                found[stems].setdefault(entry.number, place)
    if not found:
        raise LexiconError(
            "There is no term in the lexicon. Expected 'number | name | term; term'."
        )
    for number in list(names):  # every three-digit class has a place, named or not
        names.setdefault(normal(class_of(number)), "")
    return names, surfaces, found


def _postings(dots: Sequence[Sequence[tuple[int, int]]], numbers: int) -> sp.csr_matrix:
    """Return terms x numbers: a term is shared alike among its numbers."""
    shares = [1.0 / len(row) for row in dots for _ in row]
    terms = [at for at, row in enumerate(dots) for _ in row]
    columns = [number for row in dots for number, _ in row]
    return sp.csr_matrix((shares, (terms, columns)), shape=(len(dots), numbers))


def _starts(sizes: Iterable[int]) -> NDArray[np.int32]:
    return np.cumsum([0, *sizes], dtype=np.int32)
