"""What a T-Graph node knows of a paragraph: ISH, SH, MH and DC as stemmed term frequencies.

ISH is the immediate sub-section heading, SH the headings that contain it, MH the main heading, DC
the text within the topical boundary (Patel 2010). The four vectors travel as one:
a key is ``term * 4 + component``, sorted, each with its count. Term numbers are of this process;
``stems`` and ``of_stems`` are the way in and out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Block, Link, Page, Span
from treasure.text import VOCABULARY
from treasure.tgraph.boundary import PARAGRAPH, Boundary

ISH, SH, MH, DC = range(4)
NAMES = ("ISH", "SH", "MH", "DC")
MAX_COUNT = np.iinfo(np.uint16).max

Terms = NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Components:
    """Four term-frequency vectors in one sparse vector."""

    keys: NDArray[np.int32]
    counts: NDArray[np.uint16]

    @classmethod
    def of_terms(cls, ish: Terms, sh: Terms, mh: Terms, dc: Terms) -> Components:
        """Count the terms of each component; stop words (-1) do not count."""
        return next(_counted([[ish * 4, sh * 4 + SH, mh * 4 + MH, dc * 4 + DC]]))

    @classmethod
    def of_stems(cls, parts: Sequence[Mapping[str, int]]) -> Components:
        """Return the components that ``stems`` wrote."""
        pairs = sorted(
            (VOCABULARY.id_of_stem(stem) * 4 + component, count)
            for component, part in enumerate(parts)
            for stem, count in part.items()
        )
        known = [(key, min(count, MAX_COUNT)) for key, count in pairs if key >= 0 and count > 0]
        return cls(
            np.array([key for key, _ in known], dtype=np.int32),
            np.array([count for _, count in known], dtype=np.uint16),
        )

    def stems(self) -> tuple[dict[str, int], dict[str, int], dict[str, int], dict[str, int]]:
        """Return ISH, SH, MH and DC as counts of stems."""
        parts: tuple[dict[str, int], ...] = ({}, {}, {}, {})
        for key, count in zip(self.keys.tolist(), self.counts.tolist(), strict=True):
            parts[key & 3][VOCABULARY.stem(key >> 2)] = count
        return parts[0], parts[1], parts[2], parts[3]

    @property
    def mask(self) -> int:
        """Which components have words: bit 0 for ISH to bit 3 for DC."""
        return int(np.bitwise_or.reduce(1 << (self.keys & 3), initial=0))

    def only(self, component: int) -> Components:
        """Return one component alone."""
        chosen = (self.keys & 3) == component
        return Components(self.keys[chosen], self.counts[chosen])


EMPTY = Components(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16))


def cosine(one: Components, other: Components, component: int) -> float:
    """Return the cosine of a component's term frequencies; 0 when either is empty."""
    a, b = one.only(component), other.only(component)
    norm = float(np.sqrt(_squares(a) * _squares(b)))
    _, here, there = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    return (
        float(a.counts[here].astype(float) @ b.counts[there].astype(float)) / norm if norm else 0.0
    )


def _squares(part: Components) -> float:
    counts = part.counts.astype(float)
    return float(counts @ counts)


@dataclass(frozen=True, slots=True)
class Place:
    """A paragraph or list that holds links: what becomes one node."""

    span: Span
    block: Block
    links: tuple[Link, ...]
    components: Components


def by_place(page: Page, links: Iterable[Link]) -> dict[tuple[Span, int], list[Link]]:
    """Return *links* by paragraph or whole list: its words and its heading."""
    found: dict[tuple[Span, int], list[Link]] = {}
    for link in links:
        block = page.blocks[link.block]
        found.setdefault((block.whole or block.span, block.heading), []).append(link)
    return found


def places(page: Page, links: Iterable[Link], boundary: Boundary = PARAGRAPH) -> list[Place]:
    """Return the paragraphs and whole lists that hold *links*, in the order of the links.

    A boundary of its own for each link makes each link a place of its own.
    """
    found = list(by_place(page, links).items())
    if boundary.per_link:
        found = [(name, [link]) for name, inside in found for link in inside]
    main = _keys(page, page.main_heading, MH)
    above: dict[int, list[Terms]] = {}
    texts = []
    for (span, heading), inside in found:
        if heading not in above:
            above[heading] = [main, *_headings(page, page.blocks[inside[0].block])]
        dc = boundary.terms(page, span, [link.anchor for link in inside])
        texts.append([*above[heading], dc * 4 + DC])
    return [
        Place(span, page.blocks[inside[0].block], tuple(inside), components)
        for ((span, _), inside), components in zip(found, _counted(texts), strict=True)
    ]


def _headings(page: Page, block: Block) -> list[Terms]:
    spans = [(page.immediate_heading(block), ISH)]
    spans += [(span, SH) for span in page.section_headings(block)]
    return [_keys(page, span, component) for span, component in spans]


def _keys(page: Page, span: Span, component: int) -> Terms:
    return page.terms[span.start : span.stop] * 4 + component


def _counted(texts: Sequence[Sequence[Terms]]) -> Iterator[Components]:
    """Count the keys of each text, all texts in one go; stop words have negative keys."""
    if not texts:
        return
    parts = [part for text in texts for part in text]
    sizes = [sum(map(len, text)) for text in texts]
    codes = np.concatenate(parts) | (np.repeat(np.arange(len(texts)), sizes) << 32)
    codes = np.sort(codes[np.concatenate(parts) >= 0])
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.minimum(np.diff(first, append=len(codes)), MAX_COUNT).astype(np.uint16)
    keys = codes[first].astype(np.int32)  # the lower half
    bounds = np.searchsorted(codes[first] >> 32, np.arange(len(texts) + 1)).tolist()
    for start, stop in pairwise(bounds):
        yield Components(keys[start:stop], counts[start:stop])
