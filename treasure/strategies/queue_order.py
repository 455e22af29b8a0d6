"""QueueOrder: which waiting links are looked at again, and which new scores the frontier is told.

To re-score the whole queue with every page would cost more and more. The best links are looked at
every time, the others in slices, the next one each time; and of the changed scores only those are
passed on that matter for what is fetched next: links that are, or wrongly were, among the best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treasure.core.witness import settle
from treasure.strategies.evidence import Evidence

SLICE, HEAD = 512, 256
"""Links re-scored at a time: a slice of the queue, and the best of all."""
LEAST_SLICE = 256
ROUND = 10
"""Pages in which the whole queue is re-scored, unless it is too long for that."""
BEST = 96
"""Links at the head of the queue whose scores are kept exact."""
MOVED = 0.05
"""Share of a score below which a change is too small to tell the frontier."""
PASSED_ON = 256
"""Changed scores passed on at once, but for ties."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class QueueOrder:
    """Keeps what the frontier was told (``sent``) near to what is known (``score``)."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._cursor = 0
        self._bar = self._edge = 0.0
        """Scores of the last of the best, and of the head."""
        self._changed: dict[int, float] = {}

    def due(self, pages: int) -> Rows:
        """Return the links to re-score after so many *pages*: the head and the next slice."""
        size = self.evidence.size
        step = min(SLICE, max(LEAST_SLICE, -(-size * pages // ROUND)))
        if self._cursor >= size:
            self._cursor = 0
        rows = self.evidence.live(self._cursor, self._cursor + step)
        self._cursor += step
        return np.append(rows, self._head()) if len(self.evidence) > step else rows

    def _head(self) -> Rows:
        """Return the best links, and note how good they must be."""
        # The head does not fall by a tenth within a few pages, or seldom: others need no look.
        high = self._above(0.9 * self._edge)
        if high.size < BEST:
            high = self._above(0.0)
        if high.size <= BEST:
            self._bar = self._edge = 0.0
            return high
        column = self.evidence.column
        scores = np.maximum(column["score"][high], column["sent"][high])
        last = min(HEAD, high.size) - 1
        head = np.argpartition(-scores, [BEST - 1, last])[: last + 1]
        self._bar, self._edge = float(scores[head[BEST - 1]]), float(scores[head[-1]])
        return high[head]

    def _above(self, score: float) -> Rows:
        """Return the links above a score. The frontier goes by what it was told last."""
        column, size = self.evidence.column, self.evidence.size
        return np.flatnonzero((column["score"][:size] > score) | (column["sent"][:size] > score))

    def settle(self, rows: Rows) -> Rows:
        """Return the links, of those that were just met, with a new score, or one that moved.

        The others keep the score that the frontier has: most links of a page were on the pages
        before it, and are as good as they were.
        """
        column = self.evidence.column
        return np.array(settle(rows, column["score"], column["sent"], MOVED), np.int64)

    def pass_on(self, rows: Rows) -> None:
        """Tell the frontier which scores of *rows* changed, as far as that matters."""
        column = self.evidence.column
        scores, sent = column["score"][rows], column["sent"][rows]
        higher = np.maximum(scores, sent)
        matter = _moved(scores, sent) & (higher >= self._bar)
        if np.count_nonzero(matter) > PASSED_ON:
            # The others wait: what was not passed on is looked at again.
            matter &= higher >= np.partition(higher[matter], -PASSED_ON)[-PASSED_ON]
        self.tell(rows[matter])

    def tell(self, rows: Rows) -> None:
        """Tell the frontier the scores of *rows*."""
        column = self.evidence.column
        column["sent"][rows] = column["score"][rows]
        self._changed.update(
            zip(column["key"][rows].tolist(), column["score"][rows].tolist(), strict=True)
        )

    def changed(self) -> dict[int, float]:
        """Return what the frontier is to be told, once."""
        changed, self._changed = self._changed, {}
        return changed

    def state(self) -> tuple[int, float]:
        """Return where the next slice begins, and how good the best are."""
        return self._cursor, self._bar

    def restore(self, state: tuple[int, float]) -> None:
        """Go on from what ``state`` returned."""
        self._cursor, self._bar = state


def _moved(scores: Floats, sent: Floats) -> NDArray[np.bool_]:
    moved: NDArray[np.bool_] = np.abs(scores - sent) > MOVED * np.maximum(scores, sent)
    return moved
