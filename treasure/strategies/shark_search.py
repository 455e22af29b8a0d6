"""Shark-Search: what is inherited from relevant ancestors, and what the neighbourhood promises.

Hersovici et al., "The shark-search algorithm - an application: tailored web site mapping"
(WWW 1998), fig. 2. With q the topic, p the page, c the linked page:

    inherited(c)     = delta x sim(q, p)         where sim(q, p) > 0
                       delta x inherited(p)      otherwise
    anchor(c)        = sim(q, anchor text)
    context(c)       = 1                         where anchor(c) > 0
                       sim(q, text around)       otherwise
    neighbourhood(c) = beta x anchor(c) + (1 - beta) x context(c)
    potential(c)     = gamma x inherited(c) + (1 - gamma) x neighbourhood(c)

The potential is between 0 and 1 as all parts are, and is the score. sim is a cosine of tf-idf
vectors, not our judge's probability, which is never 0. Decision: a link on several pages
has their best potential and passes its best inheritance on.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from treasure.pages import Link
from treasure.strategies.base import Arrival, Brief
from treasure.strategies.memory import Bounded, Rating, SeveralPages
from treasure.strategies.options import number
from treasure.text_model import Query
from treasure.urls import url_key


class _State(msgspec.Struct):
    ratings: list[Rating]
    inherited: list[tuple[int, float]]


class SharkSearch(SeveralPages):
    """Follows relevant pages, and for a while their descendants."""

    wants = frozenset({"examples", "background"})

    def __init__(
        self,
        brief: Brief,
        *,
        delta: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.8,
        several: str = "",
    ) -> None:
        super().__init__(brief, several=several)
        self.delta = number("delta", delta, 0, 1)
        self.beta = number("beta", beta, 0, 1)
        self.gamma = number("gamma", gamma, 0, 1)
        self._query = Query(brief.topic, brief.examples, brief.background)
        self._inherited: Bounded[int, float] = Bounded()

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the potential score of every link."""
        inherited = self.delta * self._worth(arrival)
        ratings = []
        for link in links:
            key = link.key
            self._inherited[key] = max(inherited, self._inherited.get(key, 0.0))
            nearby = self._neighbourhood(arrival, link)
            ratings.append(self.gamma * inherited + (1 - self.gamma) * nearby)
        return ratings

    def _worth(self, arrival: Arrival) -> float:
        """Return sim(q, p), or what p inherited itself when it has nothing of the topic."""
        own = self._query.similarity(arrival.page.main_terms)
        return own or self._inherited.get(url_key(arrival.url), 0.0)

    def _neighbourhood(self, arrival: Arrival, link: Link) -> float:
        page = arrival.page
        anchor = self._query.similarity(page.terms[link.anchor.start : link.anchor.stop])
        context = 1.0
        if not anchor:
            around = page.context(link)
            context = self._query.similarity(page.terms[around.start : around.stop])
        return self.beta * anchor + (1 - self.beta) * context

    def state(self) -> bytes:
        """Return the remembered potentials and inheritances."""
        return msgspec.json.encode(
            _State(list(self._ratings.items()), list(self._inherited.items()))
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        self._ratings.update(saved.ratings)
        self._inherited.update(saved.inherited)
