"""Page, Link, Verdict: the words everything else speaks.

A page is read once into one list of words in reading order. Its title, headings, blocks and
anchors are spans of that list, so that any of them can be scored with prefix sums and no text
is copied. Spans count words, not characters. The parts of a page are named tuples: a page has
hundreds of them, and a frozen dataclass takes four times as long to make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from treasure.core import tables, written
from treasure.core.walk import BLOCK_KINDS

CONTEXT_WORDS = 12
"""Words of a link's context on each side of its anchor, within its block."""


class Span(NamedTuple):
    """Words ``start`` to ``stop`` (not included) of a page."""

    start: int
    stop: int

    def __bool__(self) -> bool:
        return self.stop > self.start


EMPTY = Span(0, 0)


class Heading(NamedTuple):
    """A heading: its level (1 to 6) and its words."""

    level: int
    span: Span
    text: str


class Block(NamedTuple):
    """A paragraph, list, table cell or the like: what the papers call break points.

    *heading* is the index of the nearest heading above, -1 when there is none.
    *boilerplate* marks navigation, headers, footers and menus.
    *whole* is the span of the whole list for a list item, and *span* itself for all others.
    """

    kind: str
    """paragraph, item, cell or heading."""
    span: Span
    heading: int
    boilerplate: bool
    whole: Span


class Link(NamedTuple):
    """A link of a page, once per distinct URL and block."""

    url: str
    anchor: Span
    anchor_text: str
    block: int
    tag_path: str
    nofollow: bool
    key: int
    """That of its URL (``urls.url_key``): every part of a crawl knows links by it."""


Part = TypeVar("Part")


class _Lazy(Sequence[Part]):
    """Parts of a page that are made when somebody asks for one: in a crawl, hardly anybody does."""

    def _make(self) -> list[Part]:
        raise NotImplementedError

    @cached_property
    def _made(self) -> list[Part]:
        return self._make()

    def __iter__(self) -> Iterator[Part]:
        return iter(self._made)

    @overload
    def __getitem__(self, index: int) -> Part: ...

    @overload
    def __getitem__(self, index: slice) -> list[Part]: ...

    def __getitem__(self, index: int | slice) -> Part | list[Part]:
        return self._made[index]


class Blocks(_Lazy[Block]):
    """The blocks of a page that was read; *walked* are those that ``core.walk`` found."""

    def __init__(self, walked: NDArray[np.int32], table: NDArray[np.int32]) -> None:
        self._walked = walked
        self.table = table
        """As ``Page.block_table``."""

    def __len__(self) -> int:
        return len(self.table)

    def _make(self) -> list[Block]:
        return [
            Block(BLOCK_KINDS[kind], Span(*row[:2]), row[2], bool(row[3]), Span(*row[4:]))
            for kind, row in zip(self._walked[:, 0].tolist(), self.table.tolist(), strict=True)
        ]


class BlockTexts(_Lazy[str]):
    """The text of each block of a page that was read."""

    def __init__(self, text: bytes, begins: NDArray[np.int32], walked: NDArray[np.int32]) -> None:
        self._text, self._begins, self._walked = text, begins, walked

    def __len__(self) -> int:
        return len(self._walked)

    def _make(self) -> list[str]:
        texts: list[str] = written.block_texts(self._text, self._begins, self._walked)
        return texts

    def main(self, table: NDArray[np.int32]) -> str:
        """Return ``Page.main_text``, without making the others."""
        text: str = written.main_text(self._text, self._begins, self._walked, table)
        return text


@dataclass(frozen=True)
class Page:
    """A page as we read it."""

    url: str
    title: str
    title_span: Span
    plain: str
    """All words in lower case with spaces between them; ``words`` is seldom asked for."""
    terms: NDArray[np.int32]
    """Vocabulary id of each word's stem; -1 for stop words and numbers."""
    headings: Sequence[Heading]
    blocks: Sequence[Block]
    links: Sequence[Link]
    block_texts: Sequence[str] = field(default=(), repr=False)
    """The text of each block as it was written, with one space between words."""
    language: str = ""
    """The language the page declares, as an ISO 639-1 code; empty when it declares none."""
    canonical: str = ""
    """The address in rel=canonical, absolute; empty when there is none."""
    description: str = ""
    robots: frozenset[str] = frozenset()
    """Directives of the robots meta tag: noindex, nofollow, none, noarchive, ..."""
    html: str = field(default="", repr=False, compare=False)
    scripted_shell: bool = False
    """True when the page has scripts and next to no text: it may need a browser."""
    places: tuple[NDArray[np.int32], NDArray[np.int32]] | None = field(
        default=None, repr=False, compare=False
    )
    """Where each word begins and ends in the bytes of ``plain``; None: nobody has looked yet."""

    @cached_property
    def words(self) -> list[str]:
        """The words in lower case: title first, then the body in reading order."""
        return self.plain.split()

    def context(self, link: Link, width: int = CONTEXT_WORDS) -> Span:
        """Return the link's context: *width* words each side of the anchor, within its block."""
        block = self.blocks[link.block].span
        return Span(
            max(block.start, link.anchor.start - width), min(block.stop, link.anchor.stop + width)
        )

    def contexts(self, links: Sequence[Link], width: int = CONTEXT_WORDS) -> list[str]:
        """Return the text of each link's context: ``text`` of ``context``, for all at once."""
        texts: list[str] = written.contexts(*self._cut, self.block_table, links, width)
        return texts

    def counts(self, span: Span) -> Counter[int]:
        """Return the term frequencies of *span*, stop words left out."""
        counts = Counter(self.terms[span.start : span.stop].tolist())
        counts.pop(-1, None)
        return counts

    def text(self, span: Span) -> str:
        """Return the words of *span* as lower-case text."""
        if not span:
            return ""
        data, starts, stops = self._cut
        text: str = written.shown(data, starts[span.start], stops[span.stop - 1])
        return text

    @cached_property
    def _cut(self) -> tuple[bytes, NDArray[np.int32], NDArray[np.int32]]:
        """The text as bytes, and where each word begins and ends: quicker than to make them all."""
        data = self.plain.encode()
        if self.places is not None:
            return data, *self.places
        letters = np.frombuffer(b" %b " % data, np.uint8) > ord(" ")
        edges = np.flatnonzero(letters[1:] != letters[:-1]).astype(np.int32)
        return data, edges[::2], edges[1::2]

    @cached_property
    def block_table(self) -> NDArray[np.int32]:
        """A row a block: begin, end, heading, boilerplate, and begin and end of its ``whole``."""
        if isinstance(self.blocks, Blocks):
            return self.blocks.table
        table: NDArray[np.int32] = tables.block_table(self.blocks)
        return table

    @cached_property
    def main_heading(self) -> Span:
        """MH of the T-Graph papers: the first h1, else the title."""
        for heading in self.headings:
            if heading.level == 1 and heading.span:
                return heading.span
        return self.title_span

    @cached_property
    def main_text(self) -> str:
        """The text of all blocks that are not boilerplate, a line each, as it was written."""
        if isinstance(self.block_texts, BlockTexts):
            return self.block_texts.main(self.block_table)
        return "\n".join(
            [
                text
                for block, text in zip(self.blocks, self.block_texts, strict=True)
                if block.span and not block.boilerplate
            ]
        )

    @cached_property
    def main_terms(self) -> NDArray[np.int32]:
        """Terms of the title and of all blocks that are not boilerplate, stop words left out."""
        terms: NDArray[np.int32] = tables.main_terms(
            self.terms, self.title_span.stop, self.block_table
        )
        return terms


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one page."""

    relevance: float
    """Probability of being on topic, 0 to 1."""
    on_topic: bool
    topic: str = ""
    """Name of the topic it fits best, where a crawl has several."""
    numbers: tuple[tuple[str, float], ...] = ()
    """D-numbers of the page with their share of the galaxy, best first."""
    unsure: bool = False
    """Too little text, or another language: a policy decided, not the evidence."""
    reason: str = ""
