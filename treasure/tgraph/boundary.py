"""Where the text around a link ends: the topical boundary, pluggable as the papers ask.

A boundary gets the break points of links (their paragraph, or their whole list) and the anchors
within, and answers with the terms that count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Link, Page, Span

if TYPE_CHECKING:
    from treasure.ddc.galaxy import PlainGalaxy, Plot

DENSE = 0.6
"""Share of dots in the anchor's own region at which the break points move out (ALGORITHMS 1)."""
MAX_MOVES = 2
REMEMBERED_ANCHORS = 10_000
"""Anchors whose own numbers are remembered: menus say the same on every page."""


Spans = NDArray[np.int32]
"""Begin and end, a row each."""


class Boundary(Protocol):
    """Chooses the terms around links."""

    per_link: bool
    """Whether two links of one paragraph may have different boundaries."""

    def cut(
        self, page: Page, links: Sequence[Link], spans: Spans, inside: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.int32], Spans]:
        """Return terms, and which of them are within the boundary of each place of *page*.

        A place has its break points in *spans* and the numbers of its links in *inside*. The terms
        begin with those of the page; what a boundary has cut, so that it is no part of the page
        any more, comes after them.
        """


class Paragraph:
    """The paragraph or list itself: the papers' first break points, nothing cut."""

    per_link = False

    def cut(
        self,
        page: Page,
        links: Sequence[Link],  # noqa: ARG002 - part of the contract
        spans: Spans,
        inside: Sequence[Sequence[int]],  # noqa: ARG002 - part of the contract
    ) -> tuple[NDArray[np.int32], Spans]:
        """Return all terms between the break points."""
        return page.terms, spans


PARAGRAPH = Paragraph()


class Around(NamedTuple):
    """Break points, and the D-numbers of the galaxy between them; none where no word is known."""

    span: Span
    numbers: tuple[str, ...]


class GalaxyBoundary:
    """The papers' boundary (Patel 2010): the words of the galaxy around the anchor.

    Break points move out to the neighbouring paragraphs while the galaxy is, and stays, dense
    around the anchor, never across a heading; then the outliers are cut. A text without any known
    word keeps all its words: there is nothing to tell outliers by.
    """

    per_link = True

    def __init__(self, galaxy: PlainGalaxy) -> None:
        self._galaxy = galaxy
        self._page: Page | None = None
        self._found: dict[tuple[Span, tuple[Span, ...]], Around] = {}
        self._plots: dict[Span, Plot] = {}
        self._terms: dict[Around, NDArray[np.int32]] = {}
        self._own = lru_cache(REMEMBERED_ANCHORS)(self._numbers_of)

    def cut(
        self, page: Page, links: Sequence[Link], spans: Spans, inside: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.int32], Spans]:
        """Return the terms of the galaxies, outliers cut."""
        parts = [page.terms]
        for span, numbers in zip(spans.tolist(), inside, strict=True):
            parts.append(self.terms(page, Span(*span), [links[at].anchor for at in numbers]))
        ends = np.cumsum([len(part) for part in parts], dtype=np.int32)
        return np.concatenate(parts), np.stack([ends[:-1], ends[1:]], axis=1)

    def terms(self, page: Page, span: Span, anchors: Sequence[Span]) -> NDArray[np.int32]:
        """Return the terms of the galaxy around *anchors*, outliers cut."""
        around = self.around(page, span, anchors)
        if around not in self._terms:
            inside = page.terms[around.span.start : around.span.stop]
            if around.numbers:
                plot = self._plot(page, around.span)
                inside = inside[plot.boundary(around.numbers, len(inside))]
            self._terms[around] = inside
        return self._terms[around]

    def around(self, page: Page, span: Span, anchors: Sequence[Span]) -> Around:
        """Return what is found around *anchors*, whose break points are *span* to begin with."""
        if page is not self._page:
            self._page, self._found, self._plots, self._terms = page, {}, {}, {}
        name = (span, tuple(anchors))
        if name not in self._found:
            self._found[name] = self._search(page, span, anchors)
        return self._found[name]

    def _search(self, page: Page, span: Span, anchors: Sequence[Span]) -> Around:
        own = self._own(b"".join(page.terms[a.start : a.stop].tobytes() for a in anchors))
        if own and self._share_of_dots(page, span, own) >= DENSE:
            for _ in range(MAX_MOVES):
                wider = _moved_out(page, span)
                if wider == span or self._share_of_dots(page, wider, own) < DENSE:
                    break  # "as the points become sparse the plotting is stopped"
                span = wider
        marked = np.zeros(span.stop - span.start, np.bool_)
        for anchor in anchors:
            marked[max(0, anchor.start - span.start) : max(0, anchor.stop - span.start)] = True
        return Around(span, self._plot(page, span).winners(marked))

    def _numbers_of(self, anchor: bytes) -> tuple[str, ...]:
        """Return the numbers that the terms of an anchor have by themselves."""
        return self._galaxy.classify(np.frombuffer(anchor, np.int32)).winners()

    def _share_of_dots(self, page: Page, span: Span, own: tuple[str, ...]) -> float:
        """Return the share of dots that lie in the winning regions of the anchor's own galaxy."""
        dots = self._plot(page, span).number
        return float(self._galaxy.lexicon.under(own)[dots].mean()) if len(dots) else 0.0

    def _plot(self, page: Page, span: Span) -> Plot:
        if span not in self._plots:
            self._plots[span] = self._galaxy.plot(page.terms[span.start : span.stop])
        return self._plots[span]


def _moved_out(page: Page, span: Span) -> Span:
    """Return *span* with the paragraphs before and after it, unless a heading is between."""
    starts = [block.span.start for block in page.blocks]
    first = bisect_left(starts, span.start)
    last = bisect_left(starts, span.stop) - 1
    if first >= len(page.blocks):
        return span
    heading = page.blocks[first].heading
    start, stop = span
    if _continues(page, first - 1, heading):
        start = page.blocks[first - 1].span.start
    if _continues(page, last + 1, heading):
        stop = page.blocks[last + 1].span.stop
    return Span(start, stop)


def _continues(page: Page, index: int, heading: int) -> bool:
    """Return whether a block is there, is text, and is under the same heading."""
    if not 0 <= index < len(page.blocks):
        return False
    block = page.blocks[index]
    return block.heading == heading and block.kind != "heading" and not block.boilerplate
