"""The journal of a graph: every change of its nodes, with the reason, to replay or to undo.

Changes are made by writing them down. What nodes were credited with is not in here: it changes with
every page and is kept with the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from treasure.errors import GraphError
from treasure.tgraph.graph import TGraph
from treasure.tgraph.nodes import Node

Action = Literal["add", "forget", "distance", "dead", "destinations"]

MAX_ENTRIES = 100_000
"""Entries kept; older ones can no longer be undone."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change: what the node was *before* and is *after*."""

    page: int
    """Pages the crawl had seen by then."""
    action: Action
    node: int
    before: Any
    after: Any
    reason: str


class Journal:
    """Changes in the order they were made."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        self.dropped = 0
        """How many of the oldest were let go."""

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, graph: TGraph, node: Node, reason: str) -> int:
        """Add *node* to *graph*; return its number."""
        number = graph.add(node)
        self._write(Entry(graph.fetches, "add", number, None, graph.node(number), reason))
        return number

    def forget(self, graph: TGraph, number: int, reason: str) -> None:
        """Remove a node from *graph*."""
        node = graph.node(number)
        graph.remove(number)
        self._write(Entry(graph.fetches, "forget", number, node, None, reason))

    def change(self, graph: TGraph, action: Action, number: int, after: Any, reason: str) -> None:
        """Change the distance, destinations or death of a node."""
        node = graph.node(number)
        before = getattr(node, action)
        if before == after:
            return
        _set(graph, action, number, after)
        self._write(Entry(graph.fetches, action, number, before, after, reason))

    def undo(self, graph: TGraph, count: int = 1) -> int:
        """Take back the last *count* changes; return how many there were."""
        done = 0
        while self.entries and done < count:
            entry = self.entries.pop()
            if entry.action == "add":
                graph.remove(entry.node)
            else:
                _set(graph, entry.action, entry.node, entry.before)
            done += 1
        return done

    def replay(self, graph: TGraph) -> None:
        """Make the same changes to *graph*, which is as ours was before the first of them."""
        if self.dropped:
            raise GraphError(
                f"The first {self.dropped} changes are no longer in the journal; it cannot be"
                " replayed from the start. Start from a saved graph instead."
            )
        for entry in self.entries:
            if entry.action == "forget":
                graph.remove(entry.node)
            else:
                _set(graph, entry.action, entry.node, entry.after)

    def _write(self, entry: Entry) -> None:
        self.entries.append(entry)
        if len(self.entries) > MAX_ENTRIES:
            excess = len(self.entries) - MAX_ENTRIES * 9 // 10
            del self.entries[:excess]
            self.dropped += excess


def _set(graph: TGraph, action: Action, number: int, value: Any) -> None:
    if action in ("add", "forget"):
        graph.add(value)
    elif action == "distance":
        graph.set_distance(number, value)
    elif action == "dead":
        graph.set_dead(number, value)
    else:
        graph.set_destinations(number, value)
