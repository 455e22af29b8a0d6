"""Is a graph any good? Its predictions on pages it does not know (Patel 2010, construction loop).

Some pages are held back: their nodes are taken out of a copy of the graph. The distance that the
copy predicts for the links on these pages is compared with the true one, which the links tell.
Links from which no target can be reached within the levels count as levels + 1.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treasure.errors import GraphError
from treasure.tgraph.build import Sample
from treasure.tgraph.components import DC, ISH, MH, SH, Components
from treasure.tgraph.graph import TGraph
from treasure.tgraph.levels import paragraph_levels

HELD_BACK = 0.25
MAX_PAGES = 300
GOOD_CORRELATION = 0.3
STEPS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Weights that are tried for a component."""
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Trial:
    """Paragraphs of held-back pages, a graph that does not know them, and the truth."""

    graph: TGraph
    queries: list[Components]
    truth: NDArray[np.int64]
    pages: int


@dataclass(frozen=True)
class Quality:
    """How well distances were predicted. Shares are of all paragraphs with links."""

    pages: int
    paragraphs: int
    exact: float
    """Share whose distance, that of the most similar node, is right."""
    within_one: float
    usual: float
    """Share that guessing the most frequent distance gets right."""
    correlation: float
    """Rank correlation of predicted and true distance, -1 to 1."""
    paper_exact: float
    """The same as *exact* with the papers' rule: the least distance among all matching nodes."""
    paper_correlation: float

    @property
    def good(self) -> bool:
        """Whether the graph knows enough to guide."""
        return self.best_correlation >= GOOD_CORRELATION

    @property
    def best_correlation(self) -> float:
        """The rank correlation of the better rule."""
        return max(self.correlation, self.paper_correlation)

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        if self.good:
            return "The graph tells near from far; more examples are not needed."
        return (
            f"The graph hardly tells near from far (correlation {self.best_correlation:.2f}, wanted"
            f" {GOOD_CORRELATION}): build it from more examples, from more pages around them, or"
            " with --learn-weights."
        )


def hold_back(
    graph: TGraph,
    sample: Sample,
    targets: Collection[str],
    *,
    share: float = HELD_BACK,
    max_pages: int = MAX_PAGES,
    random_seed: int = 0,
) -> Trial:
    """Take some pages of *sample* out of a copy of *graph*."""
    links = sample.settled()
    wanted = {sample.moved.get(url, url) for url in targets}
    levels = paragraph_levels(links, wanted, graph.levels)
    candidates = sorted(url for url, paragraphs in links.items() if paragraphs)
    dice = random.Random(random_seed)
    held = dice.sample(candidates, min(max_pages, round(share * len(candidates))))
    copy = TGraph.from_bytes(graph.to_bytes())
    copy.boundary = graph.boundary
    for node in list(copy.nodes()):
        if node.source in set(held):
            copy.remove(node.number)
    if len(held) < 2 or not len(copy):
        raise GraphError(
            f"There is too little to check with: {len(candidates)} pages with links, and a graph of"
            f" {len(graph)} nodes. Give more pages, or a graph that was built from more of them."
        )
    copy.refresh()
    queries, truth = [], []
    for url in held:
        page = sample.fetch(url)
        for index, place in enumerate(sample.places(page) if page is not None else ()):
            if len(place.components.keys):
                queries.append(place.components)
                truth.append(levels.get((url, index), graph.levels + 1))
    return Trial(copy, queries, np.array(truth, np.int64), len(held))


def quality(trial: Trial) -> Quality:
    """Return how well the graph predicts."""
    graph, truth = trial.graph, trial.truth
    matches = graph.match_components(trial.queries)
    nearest_node = np.where(matches.best >= graph.threshold, matches.distance, graph.levels + 1)
    by_paper = graph.nearest(matches)
    return Quality(
        pages=trial.pages,
        paragraphs=len(truth),
        exact=float((nearest_node == truth).mean()),
        within_one=float((abs(nearest_node - truth) <= 1).mean()),
        usual=float(np.bincount(truth).max() / len(truth)),
        correlation=rank_correlation(nearest_node, truth),
        paper_exact=float((by_paper == truth).mean()),
        paper_correlation=rank_correlation(by_paper, truth),
    )


@dataclass(frozen=True)
class Learned:
    """Weights of ISH, SH, MH and DC and a threshold, and what they are worth."""

    weights: NDArray[np.float64]
    threshold: float
    before: float
    """Rank correlation of the papers' rule with the graph's own weights and threshold."""
    after: float
    """The same with the learned ones; both on paragraphs that had no say in learning."""


def learned_weights(trial: Trial) -> Learned:
    """Return weights and threshold with which the papers' rule predicts best, as they wished.

    Half of the paragraphs choose, one component at a time; the other half tells what it is worth.
    """
    graph = trial.graph
    usual = graph.weights, graph.threshold
    half = np.arange(len(trial.queries)) % 2 == 0

    def correlations(weights: Sequence[float], chosen: NDArray[np.bool_]) -> dict[float, float]:
        """Return the rank correlation for each threshold."""
        graph.weights = np.asarray(weights, np.float64)
        asked = [trial.queries[index] for index in np.flatnonzero(chosen)]
        matches = graph.match_components(asked)
        answer = {}
        for graph.threshold in sorted({usual[1], *THRESHOLDS}):
            answer[graph.threshold] = rank_correlation(graph.nearest(matches), trial.truth[chosen])
        return answer

    try:
        best, threshold, top = usual[0].tolist(), usual[1], -2.0
        for component in (DC, ISH, SH, MH) * 2:
            for weight in STEPS:
                tried = [*best[:component], weight, *best[component + 1 :]]
                if sum(tried) > 0:
                    for level, value in correlations(tried, half).items():
                        if value > top + 1e-9:
                            best, threshold, top = tried, level, value
        before = correlations(usual[0].tolist(), ~half)[usual[1]]
        after = correlations(best, ~half)[threshold]
        return Learned(np.array(best), threshold, before, after)
    finally:
        graph.weights, graph.threshold = usual


def rank_correlation(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; 0 when either is constant."""
    if len(one) < 2:
        return 0.0
    a, b = _ranks(one), _ranks(other)
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / norm if norm > 0 else 0.0


def _ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts + 1) / 2)[inverse]
    return ranks
