"""TGraph: example paragraphs in levels by their distance to the targets.

A node is a paragraph or list that holds links. Its level is its link distance: how many documents
must be downloaded, by following one of its links, to hold a target (Patel 2010; Seyfi 2013,
section 5.2). Level 0 are the targets themselves; they are no nodes.

New nodes wait until there are enough of them to be worth indexing, an eighth of the young index or
64, so that adding a node costs the same however large the graph is. ``refresh`` does not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treasure.errors import GraphError
from treasure.pages import Link, Page
from treasure.tgraph.boundary import PARAGRAPH, Boundary
from treasure.tgraph.components import Components, Places, Texts, places
from treasure.tgraph.index import Best, Floats
from treasure.tgraph.journal import Journal
from treasure.tgraph.nodes import NEW, NOWHERE, OLD, Node, NodeTable
from treasure.topics import Topic

if TYPE_CHECKING:
    from treasure.repository.jobs import JobStore

LEVELS = 4
THRESHOLD = 0.05
MAX_LEVELS = 100
OFF_TOPIC = 0.01
"""Priority of links whose predicted topic is another one: last, but not lost."""
TIE = 1e-3
"""The part of a score that OSM decides, so that links at equal distance have an order."""
YOUNG = 2_048
"""Nodes the young index holds before it is merged into the old one."""
WAITING = 64
"""New nodes that wait to be indexed, at most."""
PRIOR_FETCHES = 2.0
"""Fetches at the crawl's mean that every node's success rate starts with."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What the graph says of each link; rows are links."""

    osm: Floats
    """Best OSM per level, dead nodes passed over: column 0 is level 1."""
    nodes: NDArray[Any]
    """The node with the best OSM as it was then, or nobody (``NodeTable``)."""
    mean_relevance: float
    """That of the crawl so far."""

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def best(self) -> Floats:
        """The best OSM of each link."""
        best: Floats = self.osm.max(axis=1, initial=0)
        return best

    @property
    def node(self) -> NDArray[np.int64]:
        """Number of the node, -1 where no node shares a word."""
        numbers: NDArray[np.int64] = self.nodes["number"]
        return numbers

    @property
    def distance(self) -> NDArray[np.int8]:
        """Distance of that node, levels + 1 where there is none."""
        distances: NDArray[np.int8] = self.nodes["distance"]
        return distances

    @property
    def success(self) -> NDArray[np.float64]:
        """What links that matched that node led to: mean relevance, drawn to the crawl's mean."""
        return _drawn(self.fetches, self.nodes["hits"], self.mean_relevance)

    @property
    def fetches(self) -> NDArray[np.int32]:
        """How many fetches that success rests on."""
        fetches: NDArray[np.int32] = self.nodes["fetches"]
        return fetches


class TGraph:
    """Nodes in levels, and how any link compares with them."""

    def __init__(
        self,
        topic: str,
        numbers: Sequence[str] = (),
        *,
        levels: int = LEVELS,
        threshold: float = THRESHOLD,
        weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        boundary: Boundary = PARAGRAPH,
    ) -> None:
        if not 1 <= levels <= MAX_LEVELS:
            raise GraphError(
                f"A T-Graph has between 1 and {MAX_LEVELS} levels. Got {levels} instead."
            )
        if len(weights) != 4 or min(weights) < 0 or not sum(weights) > 0:
            raise GraphError(
                "A T-Graph needs four weights (ISH, SH, MH, DC), none negative, not all 0."
                f" Got {list(weights)} instead."
            )
        self.topic = topic
        self.numbers = tuple(sorted(numbers))
        self.levels = levels
        self.threshold = threshold
        self.weights = np.asarray(weights, np.float64)
        self.boundary = boundary
        self.version = 0
        """Counts changes of the nodes, whoever made them."""
        self.fetches = 0
        """Pages of the crawl whose outcome was seen."""
        self.relevance = 0.0
        """The sum of their relevance."""
        self.journal = Journal(self)
        self._table = NodeTable(nowhere=levels + 1)
        self._old = self._young = self._table.index(np.empty(0, np.int64), NEW)
        self._waiting: set[int] = set()
        self._state = 0
        # The watchdog and the strategy ask for the same page, one after the other.
        self._places: tuple[Page, Sequence[Link], Places] | None = None
        self._matches: tuple[Places, int, Matches] | None = None

    @classmethod
    def empty(
        cls,
        topic: Topic,
        levels: int = LEVELS,
        *,
        threshold: float = THRESHOLD,
        boundary: Boundary = PARAGRAPH,
    ) -> TGraph:
        """Return a graph without nodes, for a watchdog to grow."""
        return cls(topic.name, topic.numbers, levels=levels, threshold=threshold, boundary=boundary)

    # -- kept and shared (store.py)

    def to_bytes(self) -> bytes:
        """Return the graph with its journal, as the repository keeps it."""
        from treasure.tgraph import store

        return store.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> TGraph:
        """Return the graph that ``to_bytes`` wrote."""
        from treasure.tgraph import store

        return store.from_bytes(data)

    def save(self, path: str | Path) -> None:
        """Write the graph to a .json or .parquet file."""
        from treasure.tgraph import store

        store.save(self, Path(path))

    @classmethod
    def load(
        cls, place: str | Path, *, topic: Topic | None = None, repository: JobStore | None = None
    ) -> TGraph:
        """Read a .json or .parquet file, or find a graph by its name in *repository*.

        A graph for another topic than *topic* is refused.
        """
        from treasure.tgraph import store

        if repository is None or store.is_file_name(place):
            graph = store.load(Path(place))
        else:
            graph = store.find(repository, str(place))
        if topic is not None:
            graph.check_topic(topic)
        return graph

    def check_topic(self, topic: Topic) -> None:
        """Raise GraphError unless this graph was built for *topic*."""
        if self.numbers and topic.numbers:
            same = self.numbers == tuple(sorted(topic.numbers))
        else:
            same = self.topic.casefold() == topic.name.casefold()
        if not same:
            raise GraphError(
                f"This T-Graph was built for {_called(self.topic, self.numbers)}, the crawl is"
                f" about {_called(topic.name, topic.numbers)}. Build one for it with"
                " `treasure tgraph build`, or leave TREASURE_TGRAPH empty to grow one."
            )

    # -- nodes

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, number: int) -> bool:
        return number in self._table

    def node(self, number: int) -> Node:
        """Return the node called *number*."""
        return self._table.node(number)

    def components(self, number: int) -> Components:
        """Return the words of the node called *number*."""
        return self._table.components(self._table.row(number))

    def nodes(self) -> Iterator[Node]:
        """Return all nodes, oldest first."""
        for number in self.column("number").tolist():
            yield self._table.node(number)

    def words(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Return the words of all nodes, oldest first: how many each has, their keys and counts."""
        return self._table.words()

    def column(self, name: str) -> NDArray[Any]:
        """Return number, distance, dead, fetches, hits or used of all nodes, oldest first."""
        return self._table.column(name)[self._table.live_rows()]

    def sources(self) -> list[str]:
        """Return the pages that the nodes come from, oldest node first."""
        return [self._table.source(row) for row in self._table.live_rows().tolist()]

    def destinations(self) -> list[tuple[str, ...]]:
        """Return where the nodes lead, oldest node first."""
        return [self._table.destinations(row) for row in self._table.live_rows().tolist()]

    def level_sizes(self) -> list[int]:
        """Return how many nodes are on level 1, 2, ..."""
        sizes: list[int] = np.bincount(self.column("distance"), minlength=self.levels + 1)[
            1:
        ].tolist()
        return sizes

    def add(self, node: Node) -> int:
        """Add a node and return its number; one that was forgotten keeps the number it had."""
        self._check_distance(node.distance)
        number = self._table.add(node)
        self._waiting.add(number)
        self.version += 1
        return number

    def remove(self, number: int) -> None:
        """Forget a node."""
        self._switch(number, on=False)
        self._waiting.discard(number)
        self._table.remove(number)
        self.version += 1

    def set_distance(self, number: int, distance: int) -> None:
        """Move a node to another level."""
        self._check_distance(distance)
        self._switch(number, on=False)
        row = self._table.row(number)
        self._table.column("distance")[row] = distance
        self._table.column("home")[row] = NOWHERE
        self._waiting.add(number)
        self.version += 1

    def set_dead(self, number: int, dead: bool) -> None:
        """Say whether links that match the node are passed to the next."""
        self._table.column("dead")[self._table.row(number)] = dead
        self._switch(number, on=not dead)
        self.version += 1

    def set_destinations(self, number: int, destinations: Iterable[str]) -> None:
        """Say where the node's links lead."""
        self._table.set_destinations(number, destinations)
        self.version += 1

    def credit(self, number: int, relevance: float) -> None:
        """Count that a link which matched the node led to a page of this *relevance*."""
        row = self._table.row(number)
        self._table.column("fetches")[row] += 1
        self._table.column("hits")[row] += relevance
        self._table.column("used")[row] = self.fetches

    def success(self) -> NDArray[np.float64]:
        """Return each node's success: mean relevance, drawn to the crawl's mean while young."""
        return _drawn(self.column("fetches"), self.column("hits"), self.mean_relevance)

    def least_useful(self, count: int) -> list[int]:
        """Return the nodes we can best do without: least success first, then longest unused."""
        order = np.lexsort((self.column("number"), self.column("used"), self.success()))
        numbers: list[int] = self.column("number")[order[:count]].tolist()
        return numbers

    @property
    def mean_relevance(self) -> float:
        """Mean relevance of the crawl's pages so far."""
        return self.relevance / self.fetches if self.fetches else 0.0

    # -- matching

    def match(self, page: Page, links: Sequence[Link]) -> Matches:
        """Compare *links* of *page* with all nodes."""
        places = self.places(page, links)
        if self._matches and self._matches[0] is places and self._matches[1] == self.version:
            return self._matches[2]
        matches = self._match(places.texts, places.of_link)
        self._matches = (places, self.version, matches)
        return matches

    def places(self, page: Page, links: Sequence[Link]) -> Places:
        """Return the paragraphs and lists of *page* that hold *links*."""
        if self._places and self._places[0] is page and self._places[1] is links:
            return self._places[2]
        found = places(page, links, self.boundary)
        self._places = (page, links, found)
        return found

    def match_components(self, queries: Sequence[Components]) -> Matches:
        """Compare *queries* with all nodes."""
        return self._match(Texts.of(queries))

    def _match(self, texts: Texts, which: NDArray[np.intp] | None = None) -> Matches:
        """Compare *texts* with all nodes; *which* names the text of each row of the answer."""
        self._settle()
        best = Best.none(len(texts), self.levels)
        for index in (self._old, self._young):  # among equals the old one is best
            index.improve(best, texts, self.weights)
        if which is not None:
            best = Best(best.osm[which], best.row[which])
        return Matches(best.osm, self._table.records(best.row), self.mean_relevance)

    def nearest(self, matches: Matches) -> NDArray[np.int64]:
        """Return the least distance among the nodes that match each link; levels + 1 for none."""
        above = matches.osm >= self.threshold
        return np.where(above.any(axis=1), above.argmax(axis=1) + 1, self.levels + 1)

    def priority(
        self, matches: Matches, off_topic: NDArray[np.bool_] | None = None, *, ties: bool = True
    ) -> NDArray[np.float64]:
        """Return the papers' priority of each link: 1 / least distance of the matching nodes.

        1 / (levels + 1) where none matches, OFF_TOPIC where *off_topic* says so. With *ties* a
        thousandth of the score is OSM, which orders links at equal distance.
        """
        nearest = self.nearest(matches)
        priority = 1.0 / nearest
        if ties:
            osm = np.append(matches.osm, np.zeros((len(matches), 1)), axis=1)
            chosen = np.take_along_axis(osm, nearest[:, None] - 1, axis=1)[:, 0]
            priority = (1 - TIE) * priority + TIE * chosen
        return priority if off_topic is None else np.where(off_topic, OFF_TOPIC, priority)

    def refresh(self) -> None:
        """Index every node now."""
        self._settle(at_once=True)

    @property
    def state(self) -> int:
        """Changes when the same link might match otherwise than before."""
        self._settle()
        return self._state

    @property
    def nbytes(self) -> int:
        """Memory of nodes and index; URLs not counted."""
        return self._table.nbytes + self._old.nbytes + self._young.nbytes

    # -- the index

    def _settle(self, *, at_once: bool = False) -> None:
        """Index the waiting nodes when they are worth it."""
        enough = 0 if at_once else min(len(self._young) // 8, WAITING)
        if len(self._waiting) <= enough:
            return
        table = self._table
        if len(self._young) + len(self._waiting) > max(YOUNG, len(self._old) // 8):
            if table.swept_share > 0.25:
                table.sweep()
            self._old = table.index(table.live_rows(), OLD)
            self._young = table.index(np.empty(0, np.int64), NEW)
        else:
            waiting = np.array([table.row(number) for number in self._waiting], np.int64)
            young = self._young.rows
            stay = (table.column("home")[young] == NEW) & ~table.column("gone")[young]
            self._young = table.index(np.sort(np.append(young[stay], waiting)), NEW)
        self._waiting.clear()
        self._state += 1

    def _switch(self, number: int, *, on: bool) -> None:
        """Let a node match, or not."""
        row = self._table.row(number)
        home = self._table.column("home")[row]
        if home != NOWHERE:
            self._state += 1
            index = self._old if home == OLD else self._young
            index.alive[self._table.column("slot")[row]] = on

    def _check_distance(self, distance: int) -> None:
        if not 1 <= distance <= self.levels:
            raise GraphError(
                f"A node's distance must be between 1 and {self.levels}. Got {distance} instead."
            )


def _drawn(fetches: NDArray[Any], hits: NDArray[Any], mean_relevance: float) -> NDArray[np.float64]:
    """Return the success of nodes with so many fetches and hits."""
    drawn: NDArray[np.float64] = (hits + PRIOR_FETCHES * mean_relevance) / (fetches + PRIOR_FETCHES)
    return drawn


def _called(name: str, numbers: Sequence[str]) -> str:
    return f"{name!r} ({', '.join(numbers)})" if numbers else repr(name)
