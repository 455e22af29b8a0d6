"""Context graph: a link is worth how few links its page is away from a target.

Diligenti, Coetzee, Lawrence, Giles and Gori, "Focused crawling using context graphs" (VLDB 2000).
Layer 0 holds the targets, layer i the pages that link to a page of layer i-1 and are in no lower
one. Each page is reduced to its 40 strongest tf-idf words; one naive Bayes model over layers

    P(c_j | d) = P(c_j) x prod P(w | c_j) / P(d),    P(w | c_j) Laplace smoothed    (eq. 2 to 4)

assigns a page to its most likely layer, or to "other" where that likelihood is under a threshold.
The crawler keeps one queue per layer and takes from the nearest layer that has links; within a
queue the most confident page goes first. As one score: layer j of L has the band from
(L - j) / (L + 1) to (L - j + 1) / (L + 1), placed within it by confidence; "other" is the floor.

Decisions. The paper asks a search engine for back-links; nobody answers such queries today, so the
graph is made of pages we hold: examples and background, then the pages fetched; those the judge
finds on topic are targets. It is rebuilt whenever a sixth of it is new. Pages that lead to no
target within L links train the class "other", since the paper's threshold comes from a validation
set that we lack; priors are equal; log likelihoods are divided by the square root of the page's
length, as in naive_bayes.py. A link on several pages has the mean of their scores: the nearest
layer of any of them would put what everybody links to first.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence

import msgspec

from treasure.ddc.page_model import DocumentFrequencies, document
from treasure.pages import Link, Page
from treasure.strategies.base import FLOOR, Arrival, Brief
from treasure.strategies.memory import Bounded, Rating, SeveralPages, link_keys
from treasure.strategies.options import number, whole
from treasure.text import VOCABULARY
from treasure.text_model import Terms, topic_terms
from treasure.urls import url_key

FEATURES = 40
MAX_PAGES = 1_000
"""Pages of the context graph; beyond, the oldest go."""


class Node(msgspec.Struct):
    """A page of the context graph: its strongest words, its links, whether it is a target."""

    stems: list[str]
    links: list[int]
    on_topic: bool


class _State(msgspec.Struct):
    ratings: list[Rating]
    nodes: list[tuple[int, Node]]
    added: int
    words: dict[int, dict[str, int]]


class ContextGraph(SeveralPages):
    """score(link) = band of its page's layer, placed within it by confidence."""

    wants = frozenset({"examples", "background"})
    several = "mean"

    def __init__(
        self, brief: Brief, *, layers: int = 4, confidence: float = 0.3, several: str = ""
    ) -> None:
        super().__init__(brief, several=several)
        self.layers = whole("layers", layers, 1, 10)
        self.confidence = number("confidence", confidence, 0, 1)
        self._frequencies = DocumentFrequencies()
        for page in [*brief.examples, *brief.background]:
            self._frequencies.add(document(page.main_terms).terms)
        self._words: dict[int, Counter[str]] = {}
        self._nodes: Bounded[int, Node] = Bounded(MAX_PAGES)
        # The topic's own words are a target that nobody links to.
        self._nodes[url_key("")] = Node(self._strongest(topic_terms(brief.topic)), [], True)
        for page in brief.background:
            self._add(page.url, page, on_topic=False)
        for page in brief.examples:
            self._add(page.url, page, on_topic=True)
        self._rebuild()

    def learn(self, arrival: Arrival) -> None:
        """Let the context graph grow by the page."""
        super().learn(arrival)
        self._add(arrival.url, arrival.page, on_topic=arrival.verdict.on_topic)
        self._added += 1
        if self._added >= max(10, len(self._nodes) // 6):
            self._rebuild()

    def rate(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the band of the page's layer for every link."""
        layer, confidence = self.layer(arrival.page)
        if layer > self.layers or confidence < self.confidence:
            return [FLOOR * confidence] * len(links)
        return [(self.layers - layer + confidence) / (self.layers + 1)] * len(links)

    def layer(self, page: Page) -> tuple[int, float]:
        """Return the most likely layer of *page* and its probability; layers + 1 is "other"."""
        stems = self._strongest(page.main_terms)
        if not stems:
            return self.layers + 1, 0.0
        logs = likelihoods(self._words, stems)
        best = max(logs, key=lambda layer: (logs[layer], -layer))
        return best, 1.0 / sum(math.exp(log - logs[best]) for log in logs.values())

    def state(self) -> bytes:
        """Return the graph, the words of its layers and the remembered scores."""
        return msgspec.json.encode(
            _State(
                ratings=list(self._ratings.items()),
                nodes=list(self._nodes.items()),
                added=self._added,
                words={layer: dict(counts) for layer, counts in self._words.items()},
            )
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        self._ratings.update(saved.ratings)
        self._nodes.clear()
        self._nodes.update(saved.nodes)
        self._added = saved.added
        self._words = {layer: Counter(counts) for layer, counts in saved.words.items()}

    def _add(self, url: str, page: Page, *, on_topic: bool) -> None:
        self._nodes[url_key(url)] = Node(
            self._strongest(page.main_terms), link_keys(page), on_topic
        )

    def _strongest(self, terms: Terms) -> list[str]:
        """Return the words with the highest tf-idf; stems, as ids mean nothing to a later run."""
        text = document(terms)
        weights = text.counts * self._frequencies.idf[text.terms]
        stems = map(VOCABULARY.stem, text.terms.tolist())
        ranked = sorted(zip((-weights).tolist(), stems, strict=True))
        return [stem for _, stem in ranked[:FEATURES]]

    def _rebuild(self) -> None:
        self._added = 0
        layers = layers_of(self._nodes, self.layers)
        self._words = {}
        for key, node in self._nodes.items():
            layer = layers.get(key, self.layers + 1)
            self._words.setdefault(layer, Counter()).update(node.stems)


def layers_of(nodes: Mapping[int, Node], most: int) -> dict[int, int]:
    """Return the layer of each page that leads to a target within *most* links."""
    backlinks: dict[int, list[int]] = {}
    for key, node in nodes.items():
        for target in node.links:
            if target in nodes:
                backlinks.setdefault(target, []).append(key)
    layers = {key: 0 for key, node in nodes.items() if node.on_topic}
    waiting = deque(layers)
    while waiting:
        key = waiting.popleft()
        if layers[key] < most:
            for parent in backlinks.get(key, ()):
                if parent not in layers:
                    layers[parent] = layers[key] + 1
                    waiting.append(parent)
    return layers


def likelihoods(words: Mapping[int, Counter[str]], stems: Sequence[str]) -> dict[int, float]:
    """Return log P(d | c_j) / sqrt(|d|) by layer, P(w | c_j) = (1 + n_jw) / (|V| + n_j)."""
    vocabulary = len(set().union(*words.values()))
    tempered = math.sqrt(len(stems))
    logs = {}
    for layer, counts in words.items():
        total = math.log(vocabulary + counts.total())
        logs[layer] = sum(math.log(1 + counts[stem]) - total for stem in stems) / tempered
    return logs
