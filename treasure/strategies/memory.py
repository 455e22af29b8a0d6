"""What a strategy remembers of queued links: never more than a bounded number of them."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from treasure.pages import Link, Page
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.urls import url_key

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_REMEMBERED = 200_000
"""Links a strategy remembers; a queue may be longer, its oldest links are then forgotten here."""


class Bounded(OrderedDict[Key, Value]):
    """A dict of at most *limit* entries: a new one pushes the oldest out."""

    def __init__(self, limit: int = MAX_REMEMBERED) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        if len(self) > self.limit:
            self.popitem(last=False)


def link_keys(page: Page) -> list[int]:
    """Return the keys of the pages that *page* links to, each once."""
    return list(dict.fromkeys(url_key(link.url) for link in page.links))


class KeepsBest(Strategy):
    """A link that several pages have keeps the best score that one of them gave it.

    The papers' crawlers put a link into their queue once and raise it when a better page has it
    too; in our contract the latest score counts, so the best one must be remembered.
    """

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        self._best: Bounded[int, float] = Bounded()

    @abstractmethod
    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return what this page alone says of its *links*, 0 to 1."""

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the best rating of each link so far."""
        scores = []
        for link, rating in zip(links, self.rate(arrival, links), strict=True):
            key = url_key(link.url)
            best = self._best[key] = max(rating, self._best.get(key, 0.0))
            scores.append(best)
        return scores

    def learn(self, arrival: Arrival) -> None:
        """Forget a link that is no longer queued."""
        self._best.pop(url_key(arrival.url), None)

    def failed(self, url: str) -> None:
        """Forget a link that is no longer queued."""
        self._best.pop(url_key(url), None)

    def state(self) -> bytes:
        """Return the remembered scores."""
        return msgspec.json.encode(list(self._best.items()))

    def restore(self, state: bytes) -> None:
        """Go on with the remembered scores."""
        self._best.clear()
        self._best.update(msgspec.json.decode(state, type=list[tuple[int, float]]))
