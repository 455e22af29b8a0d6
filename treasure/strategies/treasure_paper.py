"""The Treasure-Crawler to the letter (Seyfi 2013, sections 5.1 to 5.3; Patel 2010).

For every link: the topical boundary around it gives a galaxy of D-numbers. When none of them lies
under the topic's number the link gets the least priority, 0.01. Else it is compared with all nodes
of the T-Graph: 1 / least distance of those with an OSM of at least 0.05, or 1 / (levels + 1) when
there is none. Decisions where the papers are silent are in ALGORITHMS.md, sections 1 and 2; a
link without any known word has no predicted topic, so the graph alone decides.

Without a graph, one is built from the example and background pages as far as they link to each
other; without those it is empty, and the watchdog may grow it. With the watchdog these priorities
are corrected by what became of other links (``promises``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treasure.ddc.galaxy import PlainGalaxy, on_topic
from treasure.ddc.lexicon import Lexicon
from treasure.errors import ConfigError, GraphError
from treasure.pages import Link, Page
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.strategies.promises import Promises
from treasure.strategies.scores import firm
from treasure.tgraph.boundary import PARAGRAPH, Boundary, GalaxyBoundary
from treasure.tgraph.build import Plan, top_down
from treasure.tgraph.graph import TGraph
from treasure.urls import canonical, url_key

REMEMBERED = 20_000
"""Links whose matching node can be told afterwards."""
OTHER, UNKNOWN = "off topic", "unknown"
PREDICTED = {1.0: "on topic", 0.5: "near the topic", 0.0: OTHER}
"""What is predicted of a link by the verdict on the words around it."""


class TreasurePaper(Strategy):
    """Predicted topic first, then 1 / distance in the T-Graph."""

    wants = frozenset({"graph", "examples"})

    def __init__(
        self, brief: Brief, *, boundary: str = "galaxy", lexicon: str = "", watchdog: bool = True
    ) -> None:
        """*boundary* is ``galaxy``, the papers' own, or ``paragraph``, which cuts nothing.

        Without *watchdog* a copy of the graph is used that stays as it is, and no priority is
        corrected: the papers to the letter.
        """
        super().__init__(brief)
        if boundary not in ("galaxy", "paragraph"):
            raise ConfigError(
                f"boundary must be 'galaxy' or 'paragraph'. Got {boundary!r} instead."
            )
        self._boundary = GalaxyBoundary(PlainGalaxy(Lexicon.load(lexicon or None)))
        chosen: Boundary = self._boundary if boundary == "galaxy" else PARAGRAPH
        self.graph = brief.graph if brief.graph is not None else TGraph.empty(brief.topic)
        if not watchdog:
            self.graph = TGraph.from_bytes(self.graph.to_bytes())
        self.graph.boundary = chosen
        self.promises = Promises() if watchdog else None
        if not len(self.graph):
            self._take_examples()
        self._told: dict[int, dict[str, Any]] = {}

    def learn(self, arrival: Arrival) -> None:
        """Compare what a link promised with what it led to."""
        if self.promises is not None:
            self.promises.kept(url_key(arrival.url), firm(arrival.verdict.relevance))

    def failed(self, url: str) -> None:
        """Take in that a link led nowhere."""
        if self.promises is not None:
            self.promises.kept(url_key(url), 0.0)

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the papers' priorities, corrected by what is known of such links."""
        page, graph = arrival.page, self.graph
        matches = graph.match(page, links)
        predicted = [self._predict(page, link) for link in links]
        off = np.array([topic == OTHER for topic in predicted], np.bool_)
        scores = graph.priority(matches, off)
        self._tell(links, matches.node.tolist(), matches.best.tolist(), predicted)
        if self.promises is not None:
            matched = (matches.best >= graph.threshold) & ~off
            blocks = [page.blocks[link.block] for link in links]
            scores = self.promises.make(
                [link.key for link in links],
                scores,
                graph.priority(matches, off, ties=False),
                np.where(matched, matches.node, -1).tolist(),
                predicted,
                [
                    (block.whole or block.span, _section(link.url))
                    for link, block in zip(links, blocks, strict=True)
                ],
            )
        ranked: list[float] = scores.tolist()
        return ranked

    def rescored(self) -> Mapping[int, float]:
        """Return the scores that outcomes have changed."""
        return {} if self.promises is None else self.promises.changed()

    def state(self) -> bytes:
        """Return what became of promises."""
        return b"" if self.promises is None else self.promises.state()

    def restore(self, state: bytes) -> None:
        """Go on from what ``state`` returned."""
        if self.promises is not None and state:
            self.promises.restore(state)

    def explain(self, url: str) -> dict[str, Any]:
        """Return the node that a link matched best, and whether its topic was another."""
        told = dict(self._told.get(url_key(url), {}))
        if told.get("node", -1) in self.graph:
            told["source"] = self.graph.node(told["node"]).source
        return told

    def _predict(self, page: Page, link: Link) -> str:
        """Return what the words around *link* say of its topic."""
        if not self.brief.topic.numbers:
            return UNKNOWN
        block = page.blocks[link.block]
        numbers = self._boundary.around(page, block.whole or block.span, [link.anchor]).numbers
        return PREDICTED[on_topic(numbers, self.brief.topic.numbers)] if numbers else UNKNOWN

    def _take_examples(self) -> None:
        """Fill the graph from the pages of the brief."""
        pages = [*self.brief.examples, *self.brief.background, *self.brief.negatives]
        known = {canonical(page.url): page for page in pages}
        plan = Plan(self.brief.topic, self.graph.levels, boundary=self.graph.boundary)
        try:
            built = top_down(plan, known, known.get, [page.url for page in self.brief.examples])
        except GraphError:  # no examples, or none that link to each other: an empty graph it is
            return
        for node in built.graph.nodes():
            self.graph.add(node)
        self.graph.refresh()

    def _tell(
        self, links: Sequence[Link], nodes: list[int], osm: list[float], predicted: list[str]
    ) -> None:
        for link, node, similarity, topic in zip(links, nodes, osm, predicted, strict=True):
            self._told[link.key] = {
                "node": node,
                "osm": round(similarity, 4),
                "predicted": topic,
            }
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]


def _section(url: str) -> str:
    """Return the host and the first directory of a canonical address."""
    _, _, host, path = url.split("/", 3)
    first, slash, _ = path.partition("/")
    return f"{host}/{first}" if slash else host
