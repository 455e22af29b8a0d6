"""Told: what a worker has told the shared frontier already, so that it need not say it again.

Two of three links that a page repeats have the score that they had before. To hear them costs the
server as much as a new link. What another worker said of a link in the meantime stands: saying the
same again would be no news. Of a link with another score than before, its key is enough.
"""

from __future__ import annotations

from math import inf

LIMIT = 100_000
"""Links remembered, some 100 bytes each; when there are more we begin anew."""
DONE = inf
"""The score of a link that will never be queued again; others are finite."""


class Told:
    """Scores of links as the server heard them from us."""

    def __init__(self) -> None:
        self._scores: dict[int, float] = {}
        self._forgotten = 0

    def has(self, key: int, score: float) -> bool:
        """Whether to tell of this link would change nothing."""
        return self._scores.get(key) in (score, DONE)

    def add(self, key: int, score: float) -> None:
        """The server has this link with this score; or it is DONE."""
        if len(self._scores) >= LIMIT:
            self._scores.clear()
        self._scores[key] = score

    def drop(self, key: int) -> bool:
        """The link is under way, or its score is no longer what we said; had we told of it?"""
        return self._scores.pop(key, None) is not None

    def clear(self) -> None:
        """The server may have lost something."""
        self._scores.clear()

    def heed(self, forgotten: int) -> None:
        """Begin anew when the server has forgotten links since: they may be queued again."""
        if forgotten != self._forgotten:
            self._forgotten = forgotten
            self._scores.clear()
