"""Where the text around a link ends: the topical boundary, pluggable as the papers ask.

A boundary gets the break points of a link (its paragraph, or its whole list) and the anchors
within, and answers with the terms that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Page, Span


class Boundary(Protocol):
    """Chooses the terms around links."""

    def terms(self, page: Page, span: Span, anchors: Sequence[Span]) -> NDArray[np.int32]:
        """Return the terms within the boundary of *anchors*, whose break points are *span*."""


class Paragraph:
    """The paragraph or list itself: the papers' first break points, nothing cut."""

    def terms(
        self,
        page: Page,
        span: Span,
        anchors: Sequence[Span],  # noqa: ARG002 - part of the contract
    ) -> NDArray[np.int32]:
        """Return all terms between the break points."""
        return page.terms[span.start : span.stop]


PARAGRAPH = Paragraph()
