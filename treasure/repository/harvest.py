"""The harvest of a crawl: pages on topic against pages fetched, in the order of time.

Whatever was asked for counts as fetched, dead links and failures too; redirects are but steps on
the way to a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select

from treasure.repository.models import pages
from treasure.repository.store import Store

CURVE_POINTS = 400


@dataclass(frozen=True, slots=True)
class Harvest:
    """How on-topic pages came in."""

    job: str
    pages: int
    on_topic: int
    curve: Sequence[tuple[int, int]]
    """On-topic pages so far, by pages fetched."""

    @property
    def rate(self) -> float:
        """Share of pages on topic."""
        return self.on_topic / self.pages if self.pages else 0.0

    def at(self, count: int) -> float | None:
        """Return the share on topic of the first *count* pages; None when there are fewer."""
        if count > self.pages:
            return None
        before, after = (0, 0), self.curve[-1]
        for point in self.curve:
            if point[0] >= count:
                after = point
                break
            before = point
        span = after[0] - before[0]
        share = (count - before[0]) / span if span else 0.0
        return (before[1] + share * (after[1] - before[1])) / count


def harvest(store: Store, job: str) -> Harvest:
    """Return the harvest of *job*; of a long crawl some points of its curve."""
    order = (pages.c.fetched_at, pages.c.id)
    place = func.row_number().over(order_by=order).label("place")
    found = func.sum(case((pages.c.on_topic, 1), else_=0)).over(order_by=order).label("found")
    fetched = (pages.c.job == job) & ~pages.c.status.between(300, 399)
    curve = select(place, found).where(fetched).subquery()
    with store.reading() as connection:
        total = connection.execute(select(func.count()).where(fetched)).scalar_one()
        step = max(1, total // CURVE_POINTS)
        query = select(curve).where((curve.c.place % step == 0) | (curve.c.place == total))
        rows = connection.execute(query.order_by(curve.c.place)).all()
    points = [(0, 0), *((int(place), int(found)) for place, found in rows)]
    return Harvest(job, *points[-1], points)
