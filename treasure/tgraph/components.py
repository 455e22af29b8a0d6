"""What a T-Graph node knows of a paragraph: ISH, SH, MH and DC as stemmed term frequencies.

ISH is the immediate sub-section heading, SH the headings that contain it, MH the main heading, DC
the text within the topical boundary (Patel 2010). The four vectors travel as one:
a key is ``term * 4 + component``, sorted, each with its count. Term numbers are of this process;
``stems`` and ``of_stems`` are the way in and out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from treasure.core import osm, paragraphs
from treasure.pages import Block, Link, Page, Span
from treasure.text import VOCABULARY
from treasure.tgraph.boundary import PARAGRAPH, Boundary, Spans

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
        a, b, c, d = np.cumsum([len(ish), len(sh), len(mh), len(dc)]).tolist()
        headings = np.array([(a, b, -1), (0, a, 0), (b, c, -1)], np.int32)
        terms = np.concatenate([ish, sh, mh, dc])
        data, under = np.array([(c, d)], np.int32), np.array([1], np.int32)
        return Texts(*paragraphs.counted(terms, data, under, headings))[0]

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
        found: int = osm.mask(self.keys)
        return found


EMPTY = Components(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16))


def cosine(one: Components, other: Components, component: int) -> float:
    """Return the cosine of a component's term frequencies; 0 when either is empty."""
    found: float = osm.cosine(one.keys, one.counts, other.keys, other.counts, component)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The components of many paragraphs, one after the other in the same two arrays."""

    keys: NDArray[np.int32]
    counts: NDArray[np.uint16]
    bounds: NDArray[np.int32]
    """Where each text begins, and where the last ends."""

    @classmethod
    def of(cls, queries: Sequence[Components]) -> Texts:
        """Join components that were made one by one."""
        if len(queries) == 1:
            (one,) = queries
            return cls(one.keys, one.counts, np.array([0, len(one.keys)], np.int32))
        keys = np.concatenate([EMPTY.keys, *(query.keys for query in queries)])
        counts = np.concatenate([EMPTY.counts, *(query.counts for query in queries)])
        sizes = [0, *(len(query.keys) for query in queries)]
        return cls(keys, counts, np.cumsum(sizes, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> Components:
        part = slice(self.bounds[index], self.bounds[index + 1])
        return Components(self.keys[part], self.counts[part])


class Place(NamedTuple):
    """A paragraph or list that holds links: what becomes one node."""

    span: Span
    block: Block
    links: tuple[Link, ...]
    components: Components


class Places(Sequence[Place]):
    """The places of some links of a page; each is put together when it is asked for."""

    def __init__(
        self,
        page: Page,
        links: Sequence[Link],
        spans: Spans,
        inside: list[list[int]],
        of_link: NDArray[np.intp],
        texts: Texts,
    ) -> None:
        self.texts = texts
        self.inside = inside
        """Which links each place holds."""
        self.of_link = of_link
        """Which place each link is in."""
        self._page, self._links, self._spans = page, links, spans

    def __len__(self) -> int:
        return len(self.inside)

    @overload
    def __getitem__(self, index: int) -> Place: ...

    @overload
    def __getitem__(self, index: slice) -> list[Place]: ...

    def __getitem__(self, index: int | slice) -> Place | list[Place]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        links = tuple([self._links[at] for at in self.inside[index]])
        block = self._page.blocks[links[0].block]
        return Place(Span(*self._spans[index].tolist()), block, links, self.texts[index])


def by_place(page: Page, links: Sequence[Link]) -> list[list[int]]:
    """Return which of *links* are in the same paragraph or whole list, and under one heading."""
    headings = paragraphs.heading_table(page.headings, page.main_heading)
    inside: list[list[int]] = paragraphs.grouped(page.block_table, links, headings)[1]
    return inside


def places(page: Page, links: Sequence[Link], boundary: Boundary = PARAGRAPH) -> Places:
    """Return the paragraphs and whole lists that hold *links*, in the order of the links.

    A boundary of its own for each link makes each link a place of its own.
    """
    headings = paragraphs.heading_table(page.headings, page.main_heading)
    rows, inside, of_link = paragraphs.grouped(page.block_table, links, headings)
    if boundary.per_link:
        order = [at for numbers in inside for at in numbers]
        rows, inside = rows[of_link[order]], [[at] for at in order]
        of_link[order] = np.arange(len(order))
    spans = rows[:, :2]
    terms, data = boundary.cut(page, links, spans, inside)
    texts = Texts(*paragraphs.counted(terms, data, rows[:, 2], headings))
    return Places(page, links, spans, inside, of_link, texts)
