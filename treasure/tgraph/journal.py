"""The journal of a graph: every change of its nodes, with the reason, to replay or to undo.

Changes are made by writing them down. What nodes were credited with is not in here: it changes with
every page and is kept with the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from treasure.errors import GraphError
from treasure.tgraph.nodes import Node

if TYPE_CHECKING:
    from treasure.tgraph.graph import TGraph

Action = Literal["add", "forget", "distance", "dead", "destinations"]

BY_HAND = "by hand: "
"""How the reasons of changes begin that a person made."""
MAX_ENTRIES = 50_000
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
    """Changes of one graph in the order they were made."""

    def __init__(self, graph: TGraph) -> None:
        self._graph = graph
        self.entries: list[Entry] = []
        self.dropped = 0
        """How many of the oldest were let go."""

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, node: Node, reason: str) -> int:
        """Add *node* to the graph; return its number."""
        number = self._graph.add(node)
        self._write("add", number, None, self._graph.node(number), reason)
        return number

    def forget(self, number: int, reason: str) -> None:
        """Remove a node from the graph."""
        node = self._graph.node(number)
        self._graph.remove(number)
        self._write("forget", number, node, None, reason)

    def change(self, action: Action, number: int, after: Any, reason: str) -> None:
        """Change the distance, destinations or death of a node; nothing when it is so already."""
        before = getattr(self._graph.node(number), action)
        if before != after:
            _set(self._graph, action, number, after)
            self._write(action, number, before, after, reason)

    def undo(self, count: int = 1) -> int:
        """Take back the last *count* changes; return how many there were."""
        done = 0
        while self.entries and done < count:
            entry = self.entries.pop()
            if entry.action == "add":
                self._graph.remove(entry.node)
            else:
                _set(self._graph, entry.action, entry.node, entry.before)
            done += 1
        return done

    def take_back(self, change: int, node: int | None = None) -> Entry:
        """Make the opposite of one change, as a new change of its own; later ones stay.

        Changes are numbered from 1. Who knows a change's *node* may say so: the journals of two
        workers differ, and the wrong change is not to be taken back.
        """
        index = change - 1 - self.dropped
        if not 0 <= index < len(self.entries):
            first, last = self.dropped + 1, self.dropped + len(self.entries)
            raise GraphError(f"There is no change {change}; the journal has {first} to {last}.")
        entry = self.entries[index]
        if node not in (None, entry.node):
            raise GraphError(f"Change {change} is of node {entry.node} here, not of {node}.")
        reason = f"{BY_HAND}change {change} taken back"
        known = entry.node in self._graph
        if entry.action == "forget":
            if known:
                raise GraphError(f"Node {entry.node} is in the graph again already.")
            self.add(entry.before, reason)
        elif not known:
            raise GraphError(f"Node {entry.node} is no longer in the graph.")
        elif entry.action == "add":
            self.forget(entry.node, reason)
        elif getattr(self._graph.node(entry.node), entry.action) != entry.after:
            raise GraphError(
                f"The {entry.action} of node {entry.node} was changed again since. Take the later"
                " change back first."
            )
        else:
            self.change(entry.action, entry.node, entry.before, reason)
        return entry

    def by_hand(self) -> set[int]:
        """Return the nodes that a person changed."""
        return {entry.node for entry in self.entries if entry.reason.startswith(BY_HAND)}

    def replay(self, graph: TGraph) -> None:
        """Make the same changes to *graph*, which is as ours was before the first of them."""
        if self.dropped:
            raise GraphError(
                f"The first {self.dropped} changes are no longer in the journal, so it cannot be"
                " replayed from the start. Start from a saved graph instead."
            )
        for entry in self.entries:
            if entry.action == "add":
                graph.journal.add(entry.after, entry.reason)
            elif entry.action == "forget":
                graph.journal.forget(entry.node, entry.reason)
            else:
                graph.journal.change(entry.action, entry.node, entry.after, entry.reason)

    def _write(self, action: Action, number: int, before: Any, after: Any, reason: str) -> None:
        self.entries.append(Entry(self._graph.fetches, action, number, before, after, reason))
        if len(self.entries) > MAX_ENTRIES:
            excess = len(self.entries) - MAX_ENTRIES * 9 // 10
            del self.entries[:excess]
            self.dropped += excess


def _set(graph: TGraph, action: Action, number: int, value: Any) -> None:
    if action == "forget":
        graph.add(value)
    elif action == "distance":
        graph.set_distance(number, value)
    elif action == "dead":
        graph.set_dead(number, value)
    else:
        graph.set_destinations(number, value)
