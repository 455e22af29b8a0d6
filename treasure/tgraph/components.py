"""What a T-Graph node knows of a paragraph: ISH, SH, MH and DC as stemmed term frequencies.

ISH is the immediate sub-section heading, SH the headings that contain it, MH the main heading, DC
the text within the topical boundary (Patel 2010). The four vectors travel as one:
a key is ``term * 4 + component``, sorted, each with its count. Term numbers are of this process;
``stems`` and ``of_stems`` are the way in and out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        keys = np.concatenate((ish * 4, sh * 4 + SH, mh * 4 + MH, dc * 4 + DC))
        unique, counts = np.unique(keys[keys >= 0], return_counts=True)
        return cls(unique.astype(np.int32), np.minimum(counts, MAX_COUNT).astype(np.uint16))

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


def places(page: Page, links: Iterable[Link], boundary: Boundary = PARAGRAPH) -> list[Place]:
    """Return the paragraphs and whole lists that hold *links*, in reading order of the links."""
    found: dict[tuple[Span, int], list[Link]] = {}
    for link in links:
        block = page.blocks[link.block]
        found.setdefault((block.whole or block.span, block.heading), []).append(link)
    headings: dict[int, tuple[Terms, Terms]] = {}
    answer = []
    for (span, heading), inside in found.items():
        block = page.blocks[inside[0].block]
        if heading not in headings:
            headings[heading] = _headings(page, block)
        ish, sh = headings[heading]
        dc = boundary.terms(page, span, [link.anchor for link in inside])
        components = Components.of_terms(ish, sh, _terms(page, page.main_heading), dc)
        answer.append(Place(span, block, tuple(inside), components))
    return answer


def _headings(page: Page, block: Block) -> tuple[Terms, Terms]:
    spans = [_terms(page, span) for span in page.section_headings(block)]
    sections = np.concatenate(spans) if spans else np.empty(0, dtype=np.int32)
    return _terms(page, page.immediate_heading(block)), sections


def _terms(page: Page, span: Span) -> Terms:
    return page.terms[span.start : span.stop]
