"""PageRecord: everything we know of one fetch, ready to be stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec


class LinkRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link of a stored page with the score it was given there.

    Python never looks at it for garbage: thousands wait for the writer at a time.
    """

    url: str
    """Canonical, as the links of a page are."""
    score: float
    anchor: str = ""
    key: int | None = None
    """The frontier's key of *url*, where it is known; it is not stored."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One fetch: how we came there, what came back, what we made of it."""

    job: str
    key: int
    """The frontier's key of *url*."""
    url: str
    """As it was queued."""
    fetched_at: float
    """Seconds since the epoch."""
    final_url: str = ""
    canonical_url: str = ""
    status: int = 0
    """HTTP status; 0 when there was no response."""
    headers: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    """Why there is no page: ``timeout``, ``dns``, ``robots.txt forbids it``, ...; or empty."""
    seconds: float = 0.0
    size: int = 0
    depth: int = 0
    referrer: str = ""
    anchor: str = ""
    context: str = ""
    score: float = 0.0
    """The score before the fetch."""
    ageing: float = 0.0
    explored: bool = False
    passed_over: int = 0
    relevance: float = 0.0
    on_topic: bool = False
    unsure: bool = False
    topic: str = ""
    reason: str = ""
    numbers: tuple[tuple[str, float], ...] = ()
    graph_node: str = ""
    """The T-Graph node that the link matched best."""
    title: str = ""
    text: str = ""
    """Main text, for pages on topic."""
    language: str = ""
    html: bytes = field(default=b"", repr=False)
    """The body as it came, for pages whose HTML is kept (`TREASURE_REPOSITORY_HTML`)."""
    links: tuple[LinkRecord, ...] = ()
    explanation: dict[str, Any] = field(default_factory=dict)
    """Features and weights behind the score, as the strategy told them."""
