"""Strategy, the contract: what is a link worth before it is fetched?

A strategy meets every page that arrives. It may learn from it, then it scores the page's links,
all at once. A link found on several pages is scored again each time; the latest score counts.
Strategies that change their mind about queued links say so through ``rescored``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.pages import Link, Page, Verdict
from treasure.topics import Topic

if TYPE_CHECKING:
    from treasure.ddc.judge import Judge
    from treasure.tgraph.graph import TGraph

FLOOR = 0.01
"""Score of links that look worthless: the papers keep them, at the end of the queue."""


@dataclass(frozen=True)
class Brief:
    """What a strategy is told before the crawl. Whatever is empty was not given."""

    topic: Topic
    judge: Judge
    seeds: Sequence[str] = ()
    examples: Sequence[Page] = ()
    negatives: Sequence[Page] = ()
    background: Sequence[Page] = ()
    """Unlabelled pages, drawn without looking at them."""
    graph: TGraph | None = None
    random_seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the strategy as the user gave them (``TREASURE_STRATEGY_OPTIONS``)."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A page that came in for a queued link."""

    url: str
    """The address as it was queued; ``page.url`` is where redirects led."""
    page: Page
    verdict: Verdict
    depth: int = 0
    score: float = 1.0
    """The score that the link was taken with."""


class Measured(NamedTuple):
    """The features behind scores: a row of *values* per key, a column per name and weight."""

    names: Sequence[str]
    weights: NDArray[np.float64]
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    nodes: NDArray[np.int64] | None = None
    """T-Graph node of each link that was scored, in their order; -1 where none matched."""


class Strategy(ABC):
    """Gives links a score between 0 and 1."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """Fields of the brief that this strategy cannot do without: "examples", "background", ..."""
    wants: ClassVar[frozenset[str]] = frozenset()
    """Fields of the brief that make it better; the result says which were missing."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief

    def learn(self, arrival: Arrival) -> None:  # noqa: B027 - many strategies do not learn
        """Take in what following a link led to; called before ``score`` for the same page."""

    def failed(self, url: str) -> None:  # noqa: B027
        """Take in that a link led nowhere (404, timeout, no page)."""

    def fresh(self, links: Sequence[Link]) -> Sequence[Link]:
        """Return the links that no page has pointed to before, as far as the strategy remembers."""
        return links

    @abstractmethod
    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return one score per link of *arrival*; *links* hold each URL at most once a block."""

    def measured(self) -> Measured | None:
        """Return the features behind the scores just given, where the strategy has features."""
        return None

    def rescored(self) -> Mapping[int, float]:
        """Return new scores by URL key (``urls.url_key``) of queued links, since last asked."""
        return {}

    def explain(self, url: str) -> dict[str, Any]:  # noqa: ARG002
        """Return what is known of a queued link: features, weights, words. JSON-able."""
        return {}

    def state(self) -> bytes:
        """Return what was learned, to be kept by the repository (JSON or msgpack, no pickle)."""
        return b""

    def restore(self, state: bytes) -> None:  # noqa: B027
        """Go on from what ``state`` returned."""
