"""The T-Graph of a job as the page shows it: levels, nodes, journal; and undoing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treasure.repository.store import Store
from treasure.tgraph.graph import TGraph
from treasure.tgraph.journal import Entry
from treasure.tgraph.nodes import Node
from treasure.workbench import STATE_GRAPH

MAX_NODES_A_LEVEL = 40
MAX_JOURNAL = 200


def summary(store: Store, job: str) -> dict[str, Any]:
    """Return the levels of a job's graph with their most used nodes, and the latest changes."""
    payload = store.load_state(job, STATE_GRAPH)
    if not payload:
        return {"topic": "", "levels": [], "journal": [], "nodes": 0, "changes": 0}
    graph = TGraph.from_bytes(payload)
    levels: list[dict[str, Any]] = []
    by_level: dict[int, list[Node]] = {}
    for node in graph.nodes():
        by_level.setdefault(node.distance, []).append(node)
    for level in range(1, graph.levels + 1):
        nodes = sorted(by_level.get(level, []), key=lambda node: (-node.fetches, node.number))
        fetches = sum(node.fetches for node in nodes)
        hits = sum(node.hits for node in nodes)
        levels.append(
            {
                "level": level,
                "nodes": len(nodes),
                "dead": sum(node.dead for node in nodes),
                "fetches": fetches,
                "hit_rate": round(hits / fetches, 4) if fetches else None,
                "most_used": [_node(node) for node in nodes[:MAX_NODES_A_LEVEL]],
            }
        )
    journal = [_change(entry) for entry in graph.journal.entries[-MAX_JOURNAL:]]
    return {
        "topic": graph.topic,
        "nodes": len(graph),
        "levels": levels,
        "journal": journal[::-1],
        "changes": len(graph.journal),
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


def _change(entry: Entry) -> dict[str, Any]:
    return {
        "action": entry.action,
        "node": entry.node,
        "reason": entry.reason,
        "page": entry.page,
    }
