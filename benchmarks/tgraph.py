"""The links of a page against all nodes of a T-Graph: ours, SciPy's sparse product, a plain loop.

    python benchmarks/tgraph.py [--quick] [--json]

Texts are drawn with word frequencies and lengths as measured on the schools web: 4.5 words of
headings a node, a median of 11 and a mean of 18 in the paragraph. The page has 60 links in 60
different paragraphs, the hardest case: links of one paragraph or list are compared once. Above
1,000 nodes the plain loop is measured on 6 of the links, times 10.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from treasure.text import VOCABULARY
from treasure.tgraph.components import DC, ISH, MH, SH, Components
from treasure.tgraph.graph import TGraph
from treasure.tgraph.nodes import Node

LINKS = 60
LEVELS = 4
WORDS = 20_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000 nodes only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    rows = [measure(n) for n in ((1_000, 10_000) if args.quick else (1_000, 10_000, 100_000))]
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{LINKS} links x 4 components, milliseconds of CPU (best of 25)")
    print("   nodes  postings touched    ours   scipy  scipy/ours    naive  bytes/node  agree to")
    for row in rows:
        naive = f"{row['naive_ms']:8.0f}" if row["naive_ms"] else "       -"
        print(
            f"{row['nodes']:8d} {row['touched']:17d} {row['ours_ms']:7.2f} {row['scipy_ms']:7.2f}"
            f" {row['scipy_ms'] / row['ours_ms']:11.1f} {naive} {row['bytes_per_node']:11.0f}"
            f"  {row['difference']:.0e}"
        )
        assert row["difference"] < 1e-6, "the three ways disagree"


def measure(nodes: int) -> dict[str, float]:
    """Return the figures for a graph of *nodes*."""
    random = np.random.default_rng(nodes)
    drawn = texts(random, nodes, sections=nodes // 6)
    tracemalloc.start()
    graph = TGraph("benchmark", levels=LEVELS)
    for number, parts in enumerate(drawn):
        level = int(random.integers(1, LEVELS + 1))
        url = f"https://www.example.org/articles/{number // 6}/some-page.html"
        graph.add(Node(url, level, Components.of_terms(*parts), (f"{url}?to={number}",)))
    graph.refresh()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = [(n.distance, n.components) for n in graph.nodes()] if nodes <= 10_000 else []
    page = [Components.of_terms(*parts) for parts in texts(random, LINKS, sections=8, pages=1)]
    sparse = Sparse(graph)
    ours = graph.match_components(page)
    difference = np.abs(ours.osm - sparse.best(page)).max()
    naive_ms = 0.0
    if kept:
        some = page if nodes <= 1_000 else page[:: LINKS // 6]
        started = time.process_time()
        answer = naive(some, kept)
        naive_ms = 1e3 * (time.process_time() - started) * LINKS / len(some)
        chosen = ours.osm[:: LINKS // len(some)]
        difference = max(difference, np.abs(chosen - answer).max())
    return {
        "nodes": nodes,
        "touched": sparse.touched(page),
        "ours_ms": best_ms(lambda: graph.match_components(page)),
        "scipy_ms": best_ms(lambda: sparse.best(page)),
        "naive_ms": naive_ms,
        "bytes_per_node": held / nodes,
        "difference": float(difference),
    }


def texts(
    random: np.random.Generator, count: int, *, sections: int, pages: int | None = None
) -> list[tuple[np.ndarray, ...]]:
    """Draw ISH, SH, MH and DC of *count* paragraphs in reading order."""
    chances = np.cumsum(1.0 / np.arange(10, WORDS + 10))
    words = np.array([VOCABULARY.id_of_stem(f"w{i}") for i in range(WORDS)], dtype=np.int32)

    def draw(length: int) -> np.ndarray:
        return words[np.searchsorted(chances, random.random(length) * chances[-1])]

    sections = max(1, sections)
    pages = pages or max(1, sections // 4)
    mains = [draw(random.integers(1, 4)) for _ in range(pages)]
    heads = [(draw(random.integers(0, 4)), draw(random.integers(0, 3))) for _ in range(sections)]
    lengths = np.clip(random.lognormal(2.4, 1.0, count), 1, 500).astype(int)
    drawn = []
    for number, length in enumerate(lengths.tolist()):
        section = number * sections // count
        ish, sh = heads[section]
        drawn.append((ish, sh, mains[section * pages // sections], draw(length)))
    return drawn


class Sparse:
    """The same question as four sparse matrix products."""

    def __init__(self, graph: TGraph) -> None:
        nodes = list(graph.nodes())
        self.matrices = [rows_of([n.components for n in nodes], c).T.tocsr() for c in range(4)]
        self.masks = np.array([node.components.mask for node in nodes])
        self.levels = [
            np.flatnonzero([node.distance == level for node in nodes])
            for level in range(1, LEVELS + 1)
        ]

    def best(self, page: list[Components]) -> np.ndarray:
        """Return the best OSM per link and level."""
        total = sum(
            rows_of(page, component) @ matrix for component, matrix in enumerate(self.matrices)
        ).toarray()
        bits = np.array([bin(mask).count("1") for mask in range(16)])
        masks = np.array([query.mask for query in page])
        total /= bits[masks[:, None] | self.masks]
        return np.stack([total[:, chosen].max(axis=1) for chosen in self.levels], axis=1)

    def touched(self, page: list[Components]) -> int:
        """Return how many postings the page's words have, each link counted."""
        lengths = [np.diff(matrix.indptr) for matrix in self.matrices]
        return sum(int(lengths[k & 3][k >> 2]) for query in page for k in query.keys.tolist())


def rows_of(texts: list[Components], component: int):  # type: ignore[no-untyped-def]
    """Return unit vectors of one component as a CSR matrix."""
    from scipy.sparse import csr_matrix

    chosen = [text.keys & 3 == component for text in texts]
    counts = [text.counts[own].astype(float) for text, own in zip(texts, chosen, strict=True)]
    data = np.concatenate([c / math.sqrt(c @ c) if len(c) else c for c in counts])
    ends = np.cumsum([0, *map(len, counts)])
    columns = np.concatenate([t.keys[own] >> 2 for t, own in zip(texts, chosen, strict=True)])
    return csr_matrix((data, columns, ends), shape=(len(texts), VOCABULARY.size))


def naive(page: list[Components], nodes: list[tuple[int, Components]]) -> np.ndarray:
    """Return the best OSM per link and level, link by link and node by node."""
    kept = [(level, text.stems(), text.mask) for level, text in nodes]
    best = np.zeros((len(page), LEVELS))
    for number, query in enumerate(page):
        words = query.stems()
        for level, text, mask in kept:
            used = [c for c in (ISH, SH, MH, DC) if (mask | query.mask) >> c & 1]
            osm = sum(cosine(words[c], text[c]) for c in used) / len(used)
            best[number, level - 1] = max(best[number, level - 1], osm)
    return best


def cosine(one: dict[str, int], other: dict[str, int]) -> float:
    """Return the cosine of two term-frequency vectors."""
    if not one or not other:
        return 0.0
    dot = sum(count * other.get(stem, 0) for stem, count in one.items())
    norms = sum(c * c for c in one.values()) * sum(c * c for c in other.values())
    return dot / math.sqrt(norms)


def best_ms(work: Callable[[], object], rounds: int = 25) -> float:
    """Return the least CPU time of *work* in milliseconds; others use this machine too."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - started))
    return min(times)


if __name__ == "__main__":
    main()
