"""Levels: how far each paragraph is from a target.

Targets are level 0. A paragraph is on level x if and only if it links to a page that carries a
paragraph on level x-1, or to a target for level 1, and to none nearer. So the level is the length
of the shortest way, found by one walk backwards over the links. A page that is a target itself
counts as 0 for whoever links to it; its own paragraphs have levels like all others.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from treasure.tgraph.graph import TGraph

Spot = tuple[str, int]
"""A paragraph: its page and its place on that page, counted from 0."""


def page_distances(
    links: Mapping[str, Sequence[Sequence[str]]], targets: Collection[str], levels: int
) -> dict[str, int]:
    """Return how many documents from each page a target is; pages farther than *levels* left out.

    *links* names, for every page, the destinations of each of its paragraphs.
    """
    referrers: dict[str, set[str]] = defaultdict(set)
    for page, paragraphs in links.items():
        for destination in {url for paragraph in paragraphs for url in paragraph}:
            if destination != page:
                referrers[destination].add(page)
    distances = dict.fromkeys(targets, 0)
    queue = deque(distances)
    while queue:
        page = queue.popleft()
        if distances[page] < levels:
            for referrer in sorted(referrers[page]):
                if referrer not in distances:
                    distances[referrer] = distances[page] + 1
                    queue.append(referrer)
    return distances


def paragraph_levels(
    links: Mapping[str, Sequence[Sequence[str]]], targets: Collection[str], levels: int
) -> dict[Spot, int]:
    """Return the level of every paragraph from which a target can be reached in *levels* steps."""
    distances = page_distances(links, targets, levels)
    found: dict[Spot, int] = {}
    for page, paragraphs in links.items():
        for index, destinations in enumerate(paragraphs):
            steps = [distances[url] for url in destinations if url != page and url in distances]
            if steps and min(steps) < levels:
                found[page, index] = min(steps) + 1
    return found


def edges(graph: TGraph) -> list[tuple[int, int]]:
    """Return who points to whom: from a node to nodes of lower levels on pages it links to.

    One edge at most between two nodes, none within a level (Patel 2010, rules of organisation).
    """
    on_page: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rows = list(
        zip(
            graph.column("number").tolist(),
            graph.column("distance").tolist(),
            graph.sources(),
            graph.destinations(),
            strict=True,
        )
    )
    for number, distance, source, _ in rows:
        on_page[source].append((number, distance))
    return [
        (number, child)
        for number, distance, _, destinations in rows
        for child, below in _unique(on_page[url] for url in destinations)
        if below < distance
    ]


def _unique(groups: Iterable[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    return list(dict.fromkeys(pair for group in groups for pair in group))
