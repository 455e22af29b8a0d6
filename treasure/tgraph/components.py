"""What a T-Graph node knows of a paragraph: ISH, SH, MH and DC as stemmed term frequencies.

ISH is the immediate sub-section heading, SH the headings that contain it, MH the main heading, DC
the text within the topical boundary (Patel 2010). The four vectors travel as one:
a key is ``term * 4 + component``, sorted, each with its count. Term numbers are of this process;
``stems`` and ``of_stems`` are the way in and out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, overload

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
        return _counted([(ish, sh, mh, dc)], [(ISH, SH, MH, DC)], [0])[0]

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


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The components of many paragraphs, one after the other in the same two arrays."""

    keys: NDArray[np.int32]
    counts: NDArray[np.uint16]
    bounds: NDArray[np.int64]
    """Where each text begins, and where the last ends."""
    groups: NDArray[np.int64]
    """Equal for neighbours that have the same headings."""

    @classmethod
    def of(cls, queries: Sequence[Components]) -> Texts:
        """Join components that were made one by one."""
        keys = np.concatenate([EMPTY.keys, *(query.keys for query in queries)])
        counts = np.concatenate([EMPTY.counts, *(query.counts for query in queries)])
        bounds = np.cumsum([0, *(len(query.keys) for query in queries)])
        chosen = np.flatnonzero((keys & 3) != DC)
        headings = keys[chosen].astype(np.int64) << 16 | counts[chosen]
        ends = chosen.searchsorted(bounds).tolist()
        known = [headings[start:stop].tobytes() for start, stop in pairwise(ends)]
        changes = [one != other for one, other in pairwise(["", *known])]
        return cls(keys, counts, bounds, np.cumsum(changes, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.groups)

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
        self, page: Page, found: list[tuple[Span, list[int]]], links: Sequence[Link], texts: Texts
    ) -> None:
        self.texts = texts
        self.of_link = np.zeros(len(links), np.intp)
        """Which place each link is in."""
        self.inside = [inside for _, inside in found]
        """Which links each place holds."""
        sizes = [len(inside) for inside in self.inside]
        self.of_link[list(chain.from_iterable(self.inside))] = np.repeat(
            np.arange(len(found)), sizes
        )
        self._page, self._found, self._links = page, found, links

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Place: ...

    @overload
    def __getitem__(self, index: slice) -> list[Place]: ...

    def __getitem__(self, index: int | slice) -> Place | list[Place]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        span, inside = self._found[index]
        links = tuple([self._links[at] for at in inside])
        return Place(span, self._page.blocks[links[0].block], links, self.texts[index])


def by_place(page: Page, links: Iterable[Link]) -> dict[tuple[Span, int], list[int]]:
    """Return which of *links* are in the same paragraph or whole list, and under one heading."""
    found: dict[tuple[Span, int], list[int]] = {}
    blocks = page.blocks
    for at, link in enumerate(links):
        block = blocks[link.block]
        name = (block.whole or block.span, block.heading)
        if name in found:
            found[name].append(at)
        else:
            found[name] = [at]
    return found


def places(page: Page, links: Sequence[Link], boundary: Boundary = PARAGRAPH) -> Places:
    """Return the paragraphs and whole lists that hold *links*, in the order of the links.

    A boundary of its own for each link makes each link a place of its own.
    """
    found = [(span, heading, inside) for (span, heading), inside in by_place(page, links).items()]
    if boundary.per_link:
        found = [(span, heading, [at]) for span, heading, inside in found for at in inside]
    above: dict[int, tuple[list[Terms], list[int]]] = {}
    parts, kinds = [], []
    for span, heading, inside in found:
        if heading not in above:
            above[heading] = _headings(page, page.blocks[links[inside[0]].block])
        terms, components = above[heading]
        parts.append([*terms, boundary.terms(page, span, [links[at].anchor for at in inside])])
        kinds.append([*components, DC])
    texts = _counted(parts, kinds, [heading for _, heading, _ in found])
    return Places(page, [(span, inside) for span, _, inside in found], links, texts)


def _headings(page: Page, block: Block) -> tuple[list[Terms], list[int]]:
    """Return the terms of the headings above *block*, and which component each belongs to."""
    spans = [(page.main_heading, MH), (page.immediate_heading(block), ISH)]
    spans += [(span, SH) for span in page.section_headings(block)]
    terms = [page.terms[span.start : span.stop] for span, _ in spans]
    return terms, [component for _, component in spans]


def _counted(
    parts: Sequence[Sequence[Terms]], kinds: Sequence[Sequence[int]], groups: list[int]
) -> Texts:
    """Count the terms of each text, all texts in one go; stop words (-1) do not count.

    A text comes in *parts*, each of them of one of the *kinds* of components.
    """
    if not parts:
        return Texts.of([])
    flat = list(chain.from_iterable(parts))
    tags = [owner << 32 | kind for owner, of_text in enumerate(kinds) for kind in of_text]
    terms = np.concatenate(flat)
    codes = np.repeat(np.array(tags, np.int64), [len(part) for part in flat])
    codes += terms.astype(np.int64) << 2
    codes = np.sort(codes[terms >= 0])
    new = np.ones(len(codes) + 1, np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=new[1:-1])
    edges = np.flatnonzero(new)
    counts = np.minimum(edges[1:] - edges[:-1], MAX_COUNT).astype(np.uint16)
    distinct = codes[edges[:-1]]
    bounds = distinct.searchsorted(np.arange(len(parts) + 1) << 32)
    lower = distinct.astype(np.int32)
    return Texts(lower, counts, bounds, np.array(groups, np.int64))
