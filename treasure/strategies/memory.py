"""What a strategy remembers of queued links: never more than a bounded number of them."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec

from treasure.errors import ConfigError, did_you_mean
from treasure.pages import Link, Page
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.urls import url_key

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_REMEMBERED = 200_000
"""Links a strategy remembers; a queue may be longer, its oldest links are then forgotten here."""


class Bounded(OrderedDict[Key, Value]):
    """A dict of at most *limit* entries: a new one pushes the oldest out."""

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self.limit = MAX_REMEMBERED if limit is None else limit

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        if len(self) > self.limit:
            self.popitem(last=False)


def link_keys(page: Page) -> list[int]:
    """Return the keys of the pages that *page* links to, each once."""
    return list(dict.fromkeys(link.key for link in page.links))


class SeveralPages(Strategy):
    """A strategy whose pages rate their links one by one; a link may stand on several pages.

    In our contract the latest score of a link counts. What the papers do, if they say, is one of:
    the *first* rating stays, the *best* stays, or the *mean* of all counts. Where a paper is silent
    the best counts, unless that puts what everybody links to first (benchmarks/several_pages.py).
    """

    several: ClassVar[str] = "best"

    def __init__(self, brief: Brief, *, several: str = "") -> None:
        super().__init__(brief)
        several = several or self.several
        if several not in _COMBINED:
            raise ConfigError(
                f"The option 'several' must be one of {', '.join(_COMBINED)}."
                f" Got {several!r} instead.{did_you_mean(several, _COMBINED)}"
            )
        self._combined = _COMBINED[several]
        self._ratings: Bounded[int, tuple[float, int]] = Bounded()

    @abstractmethod
    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return what this page alone says of its *links*, 0 to 1."""

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return what all pages so far say of each link."""
        scores = []
        for link, rating in zip(links, self.rate(arrival, links), strict=True):
            key = link.key
            known, pages = self._ratings.get(key, (rating, 0))
            score = self._combined(known, rating, pages + 1)
            self._ratings[key] = score, pages + 1
            scores.append(score)
        return scores

    def learn(self, arrival: Arrival) -> None:
        """Forget a link that is no longer queued."""
        self._ratings.pop(url_key(arrival.url), None)

    def failed(self, url: str) -> None:
        """Forget a link that is no longer queued."""
        self._ratings.pop(url_key(url), None)

    def explain(self, url: str) -> dict[str, Any]:
        """Return what was said of a waiting link, and by how many pages."""
        known = self._ratings.get(url_key(url))
        return {"rating": known[0], "pages": known[1]} if known else {}

    def state(self) -> bytes:
        """Return the remembered ratings."""
        return msgspec.json.encode(list(self._ratings.items()))

    def restore(self, state: bytes) -> None:
        """Go on with the remembered ratings."""
        self._ratings.update(msgspec.json.decode(state, type=list[Rating]))


Rating = tuple[int, tuple[float, int]]
"""Key of a link, what was said of it, by how many pages."""

_COMBINED: dict[str, Callable[[float, float, int], float]] = {
    "first": lambda known, _, __: known,
    "best": lambda known, new, _: max(known, new),
    "mean": lambda known, new, pages: known + (new - known) / pages,
}
