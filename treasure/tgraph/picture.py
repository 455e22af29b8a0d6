"""A picture of a graph: levels as columns, targets on the right, and the ways between them.

Drawn are the nodes with the most ways into the part already drawn, so that the picture shows
connected ways and not a random sample. SVG needs nothing else; HTML adds the figures around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from treasure.errors import GraphError
from treasure.tgraph.components import NAMES
from treasure.tgraph.graph import TGraph
from treasure.tgraph.nodes import Node

ROWS = 12
"""Nodes drawn per level, at most."""
_CARD_WIDTH, _CARD_HEIGHT, _GAP, _LANE = 196, 46, 12, 92
_TOP, _SIDE = 118, 32

_STYLE = """
.ground{fill:#fbfaf7}.head{font:600 15px system-ui,sans-serif;fill:#22303c}
.sub{font:12px system-ui,sans-serif;fill:#66727d}
.big{font:700 21px system-ui,sans-serif;fill:#22303c}
.card{fill:#fff;stroke:#cfd6dc}.name{font:600 12px system-ui,sans-serif;fill:#22303c}
.words{font:11px system-ui,sans-serif;fill:#66727d}.way{fill:none;stroke:#8aa4b8;stroke-opacity:.5}
.target{fill:#fff6e0;stroke:#e0a82e}.dead{fill:#f3eeee;stroke:#c79c9c;stroke-dasharray:4 3}
.bar{fill:#2f8f6b}.lost{fill:#d9dfe4}
@media (prefers-color-scheme: dark){.ground{fill:#171c21}.head,.big,.name{fill:#e6ebef}
.sub,.words{fill:#9aa7b2}.card{fill:#222a31;stroke:#3d4953}.target{fill:#3a3018;stroke:#b98a25}
.dead{fill:#2c2323;stroke:#8a5f5f}.way{stroke:#6d8aa0}.lost{fill:#3d4953}}
"""


@dataclass(frozen=True)
class _Card:
    """A box of the picture: a node, or a target where *node* is None."""

    key: str
    node: Node | None
    x: float = 0.0
    y: float = 0.0


def draw(graph: TGraph, path: Path) -> None:
    """Write an .svg or .html picture of *graph*."""
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".html"):
        raise GraphError(f"A picture ends in .svg or .html. Got {str(path)!r} instead.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg(graph) if suffix == ".svg" else page(graph), encoding="utf-8")
    except OSError as error:
        raise GraphError(f"The picture {path} cannot be written: {error.strerror}.") from None


def page(graph: TGraph) -> str:
    """Return the picture as a page of its own."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>T-Graph: {escape(graph.topic)}</title>"
        "<style>body{margin:0;background:#fbfaf7}@media (prefers-color-scheme: dark)"
        "{body{background:#171c21}}svg{display:block;margin:auto;max-width:100%;height:auto}</style>"
        f"</head><body>{svg(graph)}</body></html>"
    )


def svg(graph: TGraph, rows: int = ROWS) -> str:
    """Return the picture as SVG."""
    columns = _placed(_chosen(graph, rows))
    tallest = max((len(column) for column in columns), default=1) or 1
    width = 2 * _SIDE + len(columns) * _CARD_WIDTH + (len(columns) - 1) * _LANE
    height = _TOP + tallest * (_CARD_HEIGHT + _GAP) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-label="T-Graph of {escape(graph.topic)}">',
        f'<style>{_STYLE}</style><rect class="ground" width="100%" height="100%"/>',
        _headline(graph),
    ]
    parts += _column_heads(graph, columns)
    parts += _ways(columns)
    parts += [_card(card) for column in columns for card in column]
    if not len(graph):
        parts.append(
            f'<text class="sub" x="{_SIDE}" y="{_TOP + 40}">No nodes yet: the watchdog adds them as'
            " the crawl finds pages on topic.</text>"
        )
    return "".join([*parts, "</svg>"])


def _chosen(graph: TGraph, rows: int) -> list[list[_Card]]:
    """Return the cards of each column, farthest level first, targets last."""
    levels: dict[int, list[tuple[int, str, tuple[str, ...]]]] = {}
    found = zip(
        graph.column("number").tolist(),
        graph.column("distance").tolist(),
        graph.sources(),
        graph.destinations(),
        strict=True,
    )
    for number, distance, source, destinations in found:
        levels.setdefault(distance, []).append((number, source, destinations))
    popular = Counter(url for _, _, destinations in levels.get(1, ()) for url in destinations)
    reached = [url for url, _ in popular.most_common(rows)]
    columns = [[_Card(url, None) for url in reached]]
    success = dict(zip(graph.column("number").tolist(), graph.success().tolist(), strict=True))
    for level in range(1, graph.levels + 1):
        above = Counter(url for _, _, to in levels.get(level + 1, ()) for url in to)
        known = set(reached)
        ranked = sorted(
            levels.get(level, ()),
            key=lambda row: (
                known.isdisjoint(row[2]),
                -above[row[1]],
                -success[row[0]],
                row[0],
            ),
        )
        best = ranked[:rows]
        columns.append([_Card(source, graph.node(number)) for number, source, _ in best])
        reached = [source for _, source, _ in best]
    return columns[::-1]


def _placed(columns: Sequence[Sequence[_Card]]) -> list[list[_Card]]:
    """Give every card its place, near the cards it leads to."""
    placed: list[list[_Card]] = []
    for index in range(len(columns) - 1, -1, -1):
        cards = list(columns[index])
        if placed:
            height = {card.key: card.y for card in placed[0]}
            cards.sort(key=lambda card: _middle(card, height))
        x = _SIDE + index * (_CARD_WIDTH + _LANE)
        step = _CARD_HEIGHT + _GAP
        placed.insert(
            0, [_Card(c.key, c.node, x, _TOP + row * step) for row, c in enumerate(cards)]
        )
    return placed


def _middle(card: _Card, height: dict[str, float]) -> float:
    below = [height[url] for url in (card.node.destinations if card.node else ()) if url in height]
    return sum(below) / len(below) if below else 1e9


def _headline(graph: TGraph) -> str:
    numbers = f" ({', '.join(graph.numbers)})" if graph.numbers else ""
    dead = int(graph.column("dead").sum())
    seen = f", {graph.fetches:,} pages observed" if graph.fetches else ""
    return (
        f'<text class="big" x="{_SIDE}" y="40">{escape(graph.topic)}{escape(numbers)}</text>'
        f'<text class="sub" x="{_SIDE}" y="62">{len(graph):,} nodes on {graph.levels} levels,'
        f" {dead:,} of them dead{seen}. A way leads from a paragraph to pages nearer to a target."
        "</text>"
    )


def _column_heads(graph: TGraph, columns: Sequence[Sequence[_Card]]) -> list[str]:
    sizes = graph.level_sizes()
    near = zip(graph.column("distance").tolist(), graph.destinations(), strict=True)
    targets = len({url for distance, urls in near if distance == 1 for url in urls})
    heads = []
    for index, column in enumerate(columns):
        level = graph.levels - index
        x = _SIDE + index * (_CARD_WIDTH + _LANE)
        name = "Targets" if level == 0 else f"Level {level}"
        total = targets if level == 0 else sizes[level - 1]
        shown = f"{len(column)} of {total:,} {'pages' if level == 0 else 'nodes'}"
        heads.append(f'<text class="head" x="{x}" y="92">{name}</text>')
        heads.append(f'<text class="sub" x="{x}" y="108">{shown}</text>')
    return heads


def _ways(columns: Sequence[Sequence[_Card]]) -> list[str]:
    ways = []
    for left, right in pairwise(columns):
        places: dict[str, list[_Card]] = {}
        for card in right:
            places.setdefault(card.key, []).append(card)
        for card in left:
            for url in card.node.destinations if card.node else ():
                ways += [_way(card, other) for other in places.get(url, ())]
    return ways


def _way(start: _Card, end: _Card) -> str:
    x1, y1 = start.x + _CARD_WIDTH, start.y + _CARD_HEIGHT / 2
    x2, y2 = end.x, end.y + _CARD_HEIGHT / 2
    bend = (x2 - x1) / 2
    return (
        f'<path class="way" d="M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f}'
        f' {x2:.0f} {y2:.0f}"/>'
    )


def _card(card: _Card) -> str:
    node = card.node
    kind = "target" if node is None else "card dead" if node.dead else "card"
    words = urlsplit(card.key).netloc if node is None else node.title
    parts = [
        f'<g transform="translate({card.x:.0f} {card.y:.0f})"><title>{escape(_told(card))}</title>',
        f'<rect class="{kind}" width="{_CARD_WIDTH}" height="{_CARD_HEIGHT}" rx="7"/>',
        f'<text class="name" x="10" y="18">{escape(_short(_page_name(card.key), 24))}</text>',
        f'<text class="words" x="10" y="34">{escape(_short(words, 31))}</text>',
    ]
    if node is not None and node.fetches:
        share = min(1.0, node.hits / node.fetches)
        full = _CARD_WIDTH - 20
        parts.append(f'<rect class="lost" x="10" y="39" width="{full}" height="3" rx="1.5"/>')
        parts.append(
            f'<rect class="bar" x="10" y="39" width="{full * share:.0f}" height="3" rx="1.5"/>'
        )
    return "".join([*parts, "</g>"])


def _told(card: _Card) -> str:
    """Return the tooltip of a card."""
    node = card.node
    if node is None:
        return card.key
    lines = [f"Node {node.number}, level {node.distance}", node.source]
    for name, part in zip(NAMES, node.components.stems(), strict=True):
        often = sorted(part, key=lambda stem: -part[stem])[:12]
        lines.append(f"{name}: {' '.join(often) or '-'}")
    if node.fetches:
        lines.append(
            f"{node.fetches} links followed, mean relevance {node.hits / node.fetches:.2f}"
        )
    return "\n".join(lines)


def _page_name(url: str) -> str:
    parts = urlsplit(url)
    last = unquote(unquote(parts.path.rstrip("/").rpartition("/")[2])) or parts.netloc
    return last.rpartition(".")[0].replace("_", " ") or last


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
