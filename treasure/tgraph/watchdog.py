"""The watchdog: what following a link led to changes the graph.

Patel (2010) leaves the watchdog to "observe the consequences"; our decisions are in ALGORITHMS.md,
section 2. A page on topic makes nodes of the paragraphs that led to it, back along the way the
crawl came: level 1 for the paragraph with its link, level 2 for the paragraph that led to that
page, and so on. So a graph grows from nothing.

Per page the work is bounded: at most MAX_STEPS nodes are touched, MAX_LINKS links remembered. So
is memory: the way back is kept for the last *remembered* links and REMEMBERED_PAGES pages.

A node of which a person took a change back is left as it is from then on.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treasure.pages import Link
from treasure.strategies.base import Arrival
from treasure.tgraph.components import DC, EMPTY, Components, Texts, cosine
from treasure.tgraph.graph import Matches, TGraph
from treasure.tgraph.journal import Entry
from treasure.tgraph.nodes import MAX_DESTINATIONS, Node
from treasure.urls import url_key

MAX_STEPS = 32
MAX_LINKS = 1_000
MAX_ORIGINS = 4
"""Paragraphs remembered as leading to one URL; more say little more."""
DEAD_AFTER = 8
DEAD_BELOW = 1 / 3
"""A node is dead after so many fetches with a mean below this part of the crawl's mean."""
NEAR_IDENTICAL = 0.9
INSPECTED_EVERY = 64
REMEMBERED_PAGES = 5_000


@dataclass(eq=False, slots=True)
class _Visited:
    """A page that was fetched, as far as its links are still remembered."""

    url: str
    origins: Sequence[_Origin]
    distance: int
    """Least known distance to a target by its links; 0 when it is one itself."""
    texts: Texts | None = None
    """The words of the places that hold those links."""
    keys: tuple[int, ...] = ()
    """Where the links lead, place by place."""
    places: tuple[int, ...] = ()
    """The place of each."""
    matched: tuple[int, ...] = ()
    """The node that each place matched best."""
    nodes: dict[int, int] = field(default_factory=dict)
    """Number of the node made of each place, by the place's index."""
    known: frozenset[tuple[int, int]] = frozenset()
    """Places, by index, and distances for which the graph knew a way alike."""

    def origin(self, key: int) -> _Origin:
        """Return the first place with a link to the URL with this key."""
        return self.place(self.places[self.keys.index(key)])

    def place(self, index: int) -> _Origin:
        """Return a place as that where a link was found."""
        return _Origin(self, index, self.matched[index])


@dataclass(eq=False, slots=True)
class _Origin:
    """A paragraph that held a link, and the node it matched best."""

    page: _Visited
    index: int
    matched: int

    @property
    def components(self) -> Components:
        """The words of the paragraph."""
        return self.page.texts[self.index] if self.page.texts else EMPTY


class _Way(NamedTuple):
    """A paragraph on the way to a target."""

    origin: _Origin
    towards: str
    """The page that it leads to."""
    distance: int
    """Documents from there to the target, that one included."""


class Watchdog:
    """Grows, corrects and trims a graph while a crawl runs."""

    def __init__(
        self,
        graph: TGraph,
        *,
        max_nodes: int = 5_000,
        remembered: int = 50_000,
        novelty: float = 0.5,
    ) -> None:
        self.graph = graph
        self.max_nodes = max_nodes
        self.remembered = remembered
        self.novelty = novelty
        """A way to a target is new when no node of its level has an OSM above this."""
        self._origins: OrderedDict[int, _Visited] = OrderedDict()
        """The page that led to a URL first, by the URL's key; on which of its places, it knows."""
        self._further: dict[int, list[_Origin]] = {}
        """Others that lead there; few URLs have any, and a list for each would be garbage to be."""
        self._pages: deque[_Visited] = deque()
        self._by_hand = graph.journal.by_hand()

    def take_back(self, change: int, node: int | None = None) -> Entry:
        """Take one change of the journal back for good, because a person says so."""
        entry = self.graph.journal.take_back(change, node)
        self._by_hand.add(entry.node)
        return entry

    def observe(self, arrival: Arrival, links: Sequence[Link]) -> int | None:
        """Take in a page and its links; return the node that the link to it matched, if any."""
        graph, relevance = self.graph, arrival.verdict.relevance
        graph.fetches += 1
        graph.relevance += relevance
        origins = self._led_to(url_key(arrival.url))
        matched = [number for number in {o.matched: None for o in origins} if number in graph]
        for number in matched:
            graph.credit(number, relevance)
        unknown = graph.levels + 1
        page = _Visited(arrival.url, origins, 0 if arrival.verdict.on_topic else unknown)
        if arrival.verdict.on_topic:
            self._trace_back(arrival.url, origins)
        self._remember(page, arrival, links)
        if graph.fetches % INSPECTED_EVERY == 0:
            self._inspect()
        self._keep_budget()
        return matched[0] if matched else None

    def _led_to(self, key: int) -> list[_Origin]:
        """Return what led to a URL, and forget it."""
        first = self._origins.pop(key, None)
        return [] if first is None else [first.origin(key), *self._further.pop(key, ())]

    def _remember(self, page: _Visited, arrival: Arrival, links: Sequence[Link]) -> None:
        links = links if len(links) <= MAX_LINKS else links[:MAX_LINKS]
        if not links:
            return
        nodes = self.graph.match(arrival.page, links).node.tolist()
        found = self.graph.places(arrival.page, links)
        page.texts = found.texts
        page.matched = tuple([nodes[inside[0]] for inside in found.inside])
        bounds = found.texts.bounds.tolist()
        keys, places, known = [], [], self._origins
        for place, inside in enumerate(found.inside):
            if bounds[place] == bounds[place + 1]:
                continue
            for at in inside:
                key = links[at].key
                keys.append(key)
                places.append(place)
                if key not in known:
                    known[key] = page
                elif len(further := self._further.setdefault(key, [])) < MAX_ORIGINS - 1:
                    further.append(page.place(place))
        page.keys, page.places = tuple(keys), tuple(places)
        while len(known) > self.remembered:
            key, _ = known.popitem(last=False)
            self._further.pop(key, None)
        self._pages.append(page)
        if len(self._pages) > REMEMBERED_PAGES:
            # Ways back end here; without this a page would hold on to all that led to it.
            self._pages.popleft().origins = ()

    def _trace_back(self, target: str, origins: Sequence[_Origin]) -> None:
        """Have a node for each paragraph that led to *target*, nearest first."""
        graph = self.graph
        ways = self._ways_to(target, origins)
        similar = _Similar(graph, ways, self.novelty)
        for at, (origin, towards, distance) in enumerate(ways):
            nodes = origin.page.nodes
            number = nodes.get(origin.index, -1)
            if number in self._by_hand:
                continue
            if number not in graph:
                number, alike = similar.to(at)
                if number < 0:
                    if not alike:
                        node = Node(origin.page.url, distance, origin.components, (towards,))
                        reason = f"{distance} from {target}"
                        nodes[origin.index] = graph.journal.add(node, reason)
                    continue
                nodes[origin.index] = number
                if number in self._by_hand:
                    continue
            self._strengthen(number, distance, towards, target)

    def _ways_to(self, target: str, origins: Sequence[_Origin]) -> list[_Way]:
        """Return the paragraphs from which *target* can be reached, and note how far that is."""
        ways: list[_Way] = []
        last = [_Way(origin, target, 1) for origin in origins]
        for distance in range(1, self.graph.levels + 1):
            last = last[: MAX_STEPS - len(ways)]
            ways += last
            longer = []
            for origin, _, _ in last:
                page = origin.page
                if distance < page.distance:
                    page.distance = distance
                    longer += [_Way(before, page.url, distance + 1) for before in page.origins]
            last = longer
        return ways

    def _strengthen(self, number: int, distance: int, towards: str, target: str) -> None:
        """Take in that a node leads to *target*, *distance* away, over *towards*."""
        node, journal = self.graph.node(number), self.graph.journal
        if distance < node.distance:
            journal.change("distance", number, distance, f"shorter way to {target}")
            journal.change("destinations", number, (towards,), f"shorter way to {target}")
        elif distance == node.distance and len(node.destinations) < MAX_DESTINATIONS:
            after = tuple(dict.fromkeys((*node.destinations, towards)))
            journal.change("destinations", number, after, f"leads to {target} too")

    def _inspect(self) -> None:
        """Mark nodes whose links led only to useless pages, and revive those that do better."""
        graph = self.graph
        bar = graph.mean_relevance * DEAD_BELOW
        numbers, fetches = graph.column("number"), graph.column("fetches")
        mean = graph.column("hits") / np.maximum(fetches, 1)
        useless = (fetches >= DEAD_AFTER) & (mean < bar)
        for at in np.flatnonzero(useless != graph.column("dead")).tolist():
            if int(numbers[at]) in self._by_hand:
                continue
            reason = f"mean relevance {mean[at]:.3f} of {fetches[at]} fetches, bar {bar:.3f}"
            graph.journal.change("dead", int(numbers[at]), bool(useless[at]), reason)

    def _keep_budget(self) -> None:
        """Forget the least useful: lowest success first, then the longest unused."""
        excess = len(self.graph) - self.max_nodes
        if excess <= 0:
            return
        for number in self.graph.least_useful(excess + self.max_nodes // 100):
            if number in self._by_hand:
                continue
            self.graph.journal.forget(number, f"beyond the budget of {self.max_nodes} nodes")


class _Similar:
    """What the graph has that is like the paragraphs of some ways: all are compared at once.

    Compared again when the graph has changed under our hands.
    """

    def __init__(self, graph: TGraph, ways: Sequence[_Way], novelty: float) -> None:
        self._graph, self._ways, self._novelty = graph, ways, novelty
        self._first, self._state = 0, -1
        self._matches: Matches | None = None

    def to(self, at: int) -> tuple[int, bool]:
        """Return a near-identical node of the same level, or -1; and whether the way is known."""
        graph = self._graph
        origin, _, distance = self._ways[at]
        page, way = origin.page, (origin.index, distance)
        if way in page.known:
            return -1, True
        if self._matches is None or self._state != graph.state:
            queries = [origin.components for origin, _, _ in self._ways[at:]]
            self._matches = graph.match_components(queries)
            self._first, self._state = at, graph.state
        row = at - self._first
        number = int(self._matches.node[row])
        if (
            number >= 0
            and self._matches.distance[row] == distance
            and cosine(graph.components(number), origin.components, DC) > NEAR_IDENTICAL
        ):
            return number, True
        alike = float(self._matches.osm[row, distance - 1]) > self._novelty
        if alike:
            page.known |= {way}
        return -1, alike
