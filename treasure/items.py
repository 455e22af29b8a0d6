"""PageItem: a page on topic, as item pipelines and feed exports see it; LinkBatch: its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treasure.crawl import Decision
from treasure.frontier.base import Lease
from treasure.pages import Link, Page

if TYPE_CHECKING:
    from scrapy.http import Response

LEASE = "treasure_lease"
"""Key in ``request.meta``: the Lease that the request fulfils."""
SCORE = "treasure_score"
"""Key in ``request.meta``: the score of a request that somebody else's spider yielded."""
FOUND = "treasure_found"
"""Key in ``request.meta``, on its way to the scheduler: what an entry says of where it was met."""
SITEMAP = "sitemap"
"""Key in an entry's meta: it is a sitemap, named by so many sitemaps above it."""
ORIGIN = "origin"
"""Key in an entry's meta: the queued URL whose redirect led here."""
HOPS = "hops"
"""Key in an entry's meta: how many redirects led here, one after the other."""


def headers_of(response: Response) -> dict[str, str]:
    """Return the headers as they are stored: those that came several times joined."""
    return {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        # Not the items of Scrapy's own class, which looks each name up once more.
        for name, values in dict.items(response.headers)
    }


@dataclass
class Draft:
    """What becomes a PageRecord once all is known; travels with the item, is never exported."""

    lease: Lease | None
    fetched_at: float
    final_url: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    seconds: float = 0.0
    body: bytes = field(default=b"", repr=False)
    page: Page | None = None
    decision: Decision | None = None
    explanation: dict[str, Any] = field(default_factory=dict)


class Carrier:
    """Carries a draft. No dataclass: feed exports see the fields of dataclasses only."""

    draft: Draft


@dataclass
class PageItem(Carrier):
    """A fetched page. Those that leave the pipelines are on topic and stored."""

    url: str = ""
    title: str = ""
    topic: str = ""
    relevance: float = 0.0
    numbers: list[tuple[str, float]] = field(default_factory=list)
    language: str = ""
    text: str = ""
    depth: int = 0
    referrer: str = ""
    score: float = 0.0
    fetched_at: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkBatch:
    """The links of one page on their way to the scheduler."""

    page: Page
    links: Sequence[Link]
    lease: Lease | None
    listing: bool = False
    """True when the page is a mere list (a sitemap): its links are scored, it is not judged."""

    @property
    def depth(self) -> int:
        """Return how many links lead from a seed to those of the page."""
        return self.lease.entry.depth + 1 if self.lease is not None else 1
