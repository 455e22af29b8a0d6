"""The Treasure-Crawler to the letter (Seyfi 2013, sections 5.1 to 5.3; Patel 2010).

For every link: the topical boundary around it gives a galaxy of D-numbers. When none of them lies
under the topic's number the link gets the least priority, 0.01. Else it is compared with all nodes
of the T-Graph: 1 / least distance of those with an OSM of at least 0.05, or 1 / (levels + 1) when
there is none. Decisions where the papers are silent are in ALGORITHMS.md, sections 1 and 2; a
link without any known word has no predicted topic, so the graph alone decides.

Without a graph, one is built from the example and background pages as far as they link to each
other; without those it is empty, and the watchdog may grow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treasure.ddc.galaxy import PlainGalaxy, on_topic
from treasure.ddc.lexicon import Lexicon
from treasure.errors import ConfigError, GraphError
from treasure.pages import Link, Page
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.tgraph.boundary import PARAGRAPH, Boundary, GalaxyBoundary
from treasure.tgraph.build import Plan, top_down
from treasure.tgraph.graph import TGraph
from treasure.urls import canonical, url_key

REMEMBERED = 20_000
"""Links whose matching node can be told afterwards."""


class TreasurePaper(Strategy):
    """Predicted topic first, then 1 / distance in the T-Graph."""

    wants = frozenset({"graph", "examples"})

    def __init__(
        self, brief: Brief, *, boundary: str = "galaxy", lexicon: str = "", watchdog: bool = True
    ) -> None:
        """*boundary* is ``galaxy``, the papers' own, or ``paragraph``, which cuts nothing.

        Without *watchdog* a copy of the graph is used that stays as it is, to tell its effect.
        """
        super().__init__(brief)
        if boundary not in ("galaxy", "paragraph"):
            raise ConfigError(
                f"boundary must be 'galaxy' or 'paragraph'. Got {boundary!r} instead."
            )
        self._predicted = GalaxyBoundary(PlainGalaxy(Lexicon.load(lexicon or None)))
        chosen: Boundary = self._predicted if boundary == "galaxy" else PARAGRAPH
        self.graph = brief.graph if brief.graph is not None else TGraph.empty(brief.topic)
        if not watchdog:
            self.graph = TGraph.from_bytes(self.graph.to_bytes())
        self.graph.boundary = chosen
        if not len(self.graph):
            self._take_examples()
        self._told: dict[int, dict[str, Any]] = {}

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the papers' priorities."""
        matches = self.graph.match(arrival.page, links)
        off = np.array([self._off_topic(arrival.page, link) for link in links])
        scores: list[float] = self.graph.priority(matches, off).tolist()
        self._tell(links, matches.node.tolist(), matches.best.tolist(), off.tolist())
        return scores

    def explain(self, url: str) -> dict[str, Any]:
        """Return the node that a link matched best, and whether its topic was another."""
        told = dict(self._told.get(url_key(url), {}))
        if told.get("node", -1) in self.graph:
            told["source"] = self.graph.node(told["node"]).source
        return told

    def _off_topic(self, page: Page, link: Link) -> bool:
        """Return whether the topic predicted for *link* is another one."""
        if not self.brief.topic.numbers:
            return False
        block = page.blocks[link.block]
        numbers = self._predicted.around(page, block.whole or block.span, [link.anchor]).numbers
        return bool(numbers) and on_topic(numbers, self.brief.topic.numbers) == 0

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
        self, links: Sequence[Link], nodes: list[int], osm: list[float], off: list[bool]
    ) -> None:
        for link, node, similarity, other in zip(links, nodes, osm, off, strict=True):
            self._told[url_key(link.url)] = {
                "node": node,
                "osm": round(similarity, 4),
                "predicted": "off topic" if other else "on topic or unknown",
            }
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
