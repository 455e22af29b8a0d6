"""The T-Graph of a job as the page shows it: levels, nodes, the ways between them, the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from treasure.repository.models import states
from treasure.repository.store import Store
from treasure.tgraph import picture
from treasure.tgraph.graph import TGraph
from treasure.tgraph.journal import BY_HAND, Entry
from treasure.tgraph.nodes import Node
from treasure.tgraph.store import STATE_GRAPH

MAX_NODES_A_LEVEL = 24
MAX_JOURNAL = 200


def saved_at(store: Store, job: str) -> float:
    """Return when the graph of a job was last saved; 0 when never."""
    query = select(states.c.saved_at).where(states.c.job == job, states.c.kind == STATE_GRAPH)
    with store.reading() as connection:
        return float(connection.execute(query).scalar() or 0.0)


def load(store: Store, job: str) -> TGraph | None:
    """Return the graph of a job as it was last saved."""
    payload = store.load_state(job, STATE_GRAPH)
    return TGraph.from_bytes(payload) if payload else None


def drawn(graph: TGraph) -> str:
    """Return the picture of a graph as SVG."""
    return picture.svg(graph)


def summary(graph: TGraph | None) -> dict[str, Any]:
    """Return the levels of a graph, nodes that form ways in each, and the latest changes."""
    if graph is None:
        return {"topic": "", "levels": [], "targets": [], "journal": [], "nodes": 0, "changes": 0}
    by_level: dict[int, list[Node]] = {}
    for node in graph.nodes():
        by_level.setdefault(node.distance, []).append(node)
    shown = _shown(by_level, graph.levels)
    journal = graph.journal
    return {
        "topic": graph.topic,
        "nodes": len(graph),
        "levels": [
            _level(level, by_level.get(level, []), shown[level])
            for level in range(1, graph.levels + 1)
        ],
        "targets": _targets(shown[1]) if graph.levels else [],
        "journal": _changes(graph)[::-1],
        "changes": journal.dropped + len(journal),
    }


def _shown(by_level: Mapping[int, list[Node]], levels: int) -> dict[int, list[Node]]:
    """Return the nodes to show: those that lead to what is shown, the most used first."""
    shown: dict[int, list[Node]] = {}
    reached: set[str] = set()
    for level in range(1, levels + 1):
        ranked = sorted(
            by_level.get(level, []),
            key=lambda node: (
                bool(reached) and reached.isdisjoint(node.destinations),
                -node.fetches,
                node.number,
            ),
        )
        shown[level] = ranked[:MAX_NODES_A_LEVEL]
        reached = {node.source for node in shown[level]}
    return shown


def _targets(nodes: list[Node]) -> list[str]:
    often = Counter(url for node in nodes for url in node.destinations)
    return [url for url, _ in often.most_common(MAX_NODES_A_LEVEL)]


def _level(level: int, nodes: list[Node], shown: list[Node]) -> dict[str, Any]:
    fetches, hits = sum(node.fetches for node in nodes), sum(node.hits for node in nodes)
    return {
        "level": level,
        "nodes": len(nodes),
        "dead": sum(node.dead for node in nodes),
        "fetches": fetches,
        "hit_rate": round(hits / fetches, 4) if fetches else None,
        "shown": [_node(node) for node in shown],
    }


def _node(node: Node) -> dict[str, Any]:
    ish, sh, mh, dc = node.components.stems()
    return {
        "number": node.number,
        "title": node.title,
        "source": node.source,
        "distance": node.distance,
        "fetches": node.fetches,
        "hit_rate": round(node.hits / node.fetches, 4) if node.fetches else None,
        "dead": node.dead,
        "ish": _stems(ish),
        "sh": _stems(sh),
        "mh": _stems(mh),
        "dc": _stems(dc),
        "destinations": list(node.destinations),
    }


def _stems(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:30]


def _changes(graph: TGraph) -> list[dict[str, Any]]:
    entries = graph.journal.entries
    first = max(0, len(entries) - MAX_JOURNAL)
    start = graph.journal.dropped + 1
    return [_change(start + index, entries[index], graph) for index in range(first, len(entries))]


def _change(number: int, entry: Entry, graph: TGraph) -> dict[str, Any]:
    known = entry.node in graph
    return {
        "change": number,
        "action": entry.action,
        "node": entry.node,
        "reason": entry.reason,
        "page": entry.page,
        "by_hand": entry.reason.startswith(BY_HAND),
        "holds": known == (entry.action != "forget")
        and (
            entry.action in ("add", "forget")
            or getattr(graph.node(entry.node), entry.action) == entry.after
        ),
    }
