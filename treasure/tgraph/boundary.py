"""Where the text around a link ends: the topical boundary, pluggable as the papers ask.

A boundary gets the break points of a link (its paragraph, or its whole list) and the anchors
within, and answers with the terms that count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Page, Span

if TYPE_CHECKING:
    from treasure.ddc.galaxy import Galaxy, PlainGalaxy

DENSE = 0.6
"""Share of dots in the anchor's own region at which the break points move out (ALGORITHMS 1)."""
MAX_MOVES = 2


class Boundary(Protocol):
    """Chooses the terms around links."""

    per_link: bool
    """Whether two links of one paragraph may have different boundaries."""

    def terms(self, page: Page, span: Span, anchors: Sequence[Span]) -> NDArray[np.int32]:
        """Return the terms within the boundary of *anchors*, whose break points are *span*."""


class Paragraph:
    """The paragraph or list itself: the papers' first break points, nothing cut."""

    per_link = False

    def terms(
        self,
        page: Page,
        span: Span,
        anchors: Sequence[Span],  # noqa: ARG002 - part of the contract
    ) -> NDArray[np.int32]:
        """Return all terms between the break points."""
        return page.terms[span.start : span.stop]


PARAGRAPH = Paragraph()


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
        self._found: dict[tuple[Span, tuple[Span, ...]], tuple[Span, Galaxy]] = {}

    def terms(self, page: Page, span: Span, anchors: Sequence[Span]) -> NDArray[np.int32]:
        """Return the terms of the galaxy, outliers cut."""
        wide, galaxy = self.galaxy(page, span, anchors)
        inside = page.terms[wide.start : wide.stop]
        return inside[galaxy.boundary(len(inside))] if galaxy else inside

    def galaxy(self, page: Page, span: Span, anchors: Sequence[Span]) -> tuple[Span, Galaxy]:
        """Return the galaxy around *anchors* and the break points it was found between."""
        if page is not self._page:
            self._page, self._found = page, {}
        name = (span, tuple(anchors))
        if name not in self._found:
            self._found[name] = self._search(page, span, anchors)
        return self._found[name]

    def _search(self, page: Page, span: Span, anchors: Sequence[Span]) -> tuple[Span, Galaxy]:
        own = self._galaxy.classify(
            np.concatenate([page.terms[a.start : a.stop] for a in anchors]) if anchors else _NONE
        )
        galaxy = self._classify(page, span, anchors)
        if not own or _share_of_dots(galaxy, own) < DENSE:
            return span, galaxy
        for _ in range(MAX_MOVES):
            wider = _moved_out(page, span)
            if wider == span:
                break
            found = self._classify(page, wider, anchors)
            if _share_of_dots(found, own) < DENSE:
                break  # "as the points become sparse the plotting is stopped"
            span, galaxy = wider, found
        return span, galaxy

    def _classify(self, page: Page, span: Span, anchors: Sequence[Span]) -> Galaxy:
        marked = np.zeros(span.stop - span.start, np.bool_)
        for anchor in anchors:
            marked[max(0, anchor.start - span.start) : max(0, anchor.stop - span.start)] = True
        return self._galaxy.classify(page.terms[span.start : span.stop], marked)


_NONE = np.empty(0, np.int32)


def _share_of_dots(galaxy: Galaxy, own: Galaxy) -> float:
    """Return the share of dots that lie in the winning regions of the anchor's own galaxy."""
    if not len(galaxy.dot_number):
        return 0.0
    under = galaxy.lexicon.under(tuple(number for number, _ in own.numbers))
    return float(under[galaxy.dot_number].mean())


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
