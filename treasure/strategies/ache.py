"""ACHE's link classifier: learns from what earlier links led to which words promise a good page.

ACHE (VIDA, New York University; after Barbosa and Freire, "An adaptive crawler for locating hidden-
Web entry points", WWW 2007). A link's features are binary: the words of its anchor, of its URL and
ten words each side of it, each kind apart. Every *learning_limit* = 500 pages a linear SVM is
trained on the links followed so far, on topic against off topic, and Platt scaling turns its
decision values into probabilities: P(on | link) = 1 / (1 + exp(A x f + B)). Before the first
training a link inherits its page's relevance.

Decisions. Features are hashed to 2^18 places, so nothing grows with the vocabulary; the newest
MAX_SAMPLES followed links train; A and B are fitted to the training values themselves; the waiting
links are scored anew after each training. Classes weigh the same however rare good pages are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from treasure.pages import Link, Page
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.strategies.memory import Bounded
from treasure.strategies.options import whole
from treasure.strategies.scores import logistic
from treasure.text import VOCABULARY
from treasure.text_model import Terms, url_terms
from treasure.urls import url_key

PLACES = 1 << 18
WORDS_AROUND = 10
MAX_LINKS = 50_000
MAX_SAMPLES = 5_000

Features = NDArray[np.int32]


class _State(msgspec.Struct):
    queued: list[tuple[int, list[int], float]]
    samples: list[tuple[list[int], bool]]
    untrained: int
    weights: list[tuple[int, float]]
    bias: float


class Ache(Strategy):
    """score(link) = P(its page is on topic | words of anchor, URL and surroundings)."""

    wants = frozenset({"examples"})

    def __init__(self, brief: Brief, *, learning_limit: int = 500) -> None:
        super().__init__(brief)
        self.learning_limit = whole("learning_limit", learning_limit, 1, 1_000_000)
        self._queued: Bounded[int, tuple[Features, float]] = Bounded(MAX_LINKS)
        self._samples: deque[tuple[Features, bool]] = deque(maxlen=MAX_SAMPLES)
        self._untrained = 0
        self._weights: NDArray[np.float64] | None = None
        self._bias = 0.0
        self._rescored: dict[int, float] = {}

    def learn(self, arrival: Arrival) -> None:
        """Keep what the link led to; train when there is enough of it."""
        followed = self._queued.pop(url_key(arrival.url), None)
        if followed is None:  # a seed
            return
        self._samples.append((followed[0], arrival.verdict.on_topic))
        self._untrained += 1
        if self._untrained >= self.learning_limit:
            self._untrained = 0
            self._train()

    def failed(self, url: str) -> None:
        """Forget a link that is no longer queued."""
        self._queued.pop(url_key(url), None)

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:
        """Return the learned probability of every link, its page's relevance before that."""
        scores = []
        for link in links:
            key = link.key
            features = features_of(arrival.page, link)
            best = self._probability(features, arrival.verdict.relevance)
            known = self._queued.get(key)
            if known is not None and known[1] >= best:
                best = known[1]
            else:
                self._queued[key] = features, best
            self._rescored.pop(key, None)
            scores.append(best)
        return scores

    def rescored(self) -> Mapping[int, float]:
        """Return the waiting links after a training."""
        rescored, self._rescored = self._rescored, {}
        return rescored

    def _probability(self, features: Features, inherited: float) -> float:
        if self._weights is None:
            return inherited
        return logistic(float(self._weights[features].sum()) + self._bias)

    def _train(self) -> None:
        labels = np.array([good for _, good in self._samples])
        if labels.all() or not labels.any():
            return
        rows = _matrix([features for features, _ in self._samples])
        svm = LinearSVC(class_weight="balanced", random_state=0).fit(rows, labels)
        values = svm.decision_function(rows).reshape(-1, 1)
        platt = LogisticRegression(class_weight="balanced").fit(values, labels)
        # P = sigmoid(a (w x + c) + b): still linear in x, so one vector is kept.
        a, b = max(float(platt.coef_[0, 0]), 0.0), float(platt.intercept_[0])
        self._weights = a * svm.coef_[0]
        self._bias = a * float(svm.intercept_[0]) + b
        for key, (features, old) in self._queued.items():
            new = self._probability(features, old)
            self._queued[key] = features, new
            self._rescored[key] = new

    def state(self) -> bytes:
        """Return waiting links, samples and the trained classifier."""
        weights = self._weights if self._weights is not None else np.zeros(0)
        return msgspec.json.encode(
            _State(
                queued=[(key, f.tolist(), score) for key, (f, score) in self._queued.items()],
                samples=[(f.tolist(), good) for f, good in self._samples],
                untrained=self._untrained,
                weights=[(i, weights[i]) for i in np.flatnonzero(weights).tolist()],
                bias=self._bias,
            )
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        for key, features, score in saved.queued:
            self._queued[key] = np.array(features, dtype=np.int32), score
        self._samples.extend((np.array(f, dtype=np.int32), good) for f, good in saved.samples)
        self._untrained = saved.untrained
        self._bias = saved.bias
        if saved.weights:
            self._weights = np.zeros(PLACES)
            self._weights[[i for i, _ in saved.weights]] = [w for _, w in saved.weights]


def features_of(page: Page, link: Link) -> Features:
    """Return the hashed places of a link's features, each once."""
    around = page.context(link, WORDS_AROUND)
    before = page.terms[around.start : link.anchor.start]
    after = page.terms[link.anchor.stop : around.stop]
    places = _places("anchor", page.terms[link.anchor.start : link.anchor.stop])
    places |= _places("url", url_terms(link.url))
    places |= _places("around", before) | _places("around", after)
    return np.array(sorted(places), dtype=np.int32)


def _places(kind: str, terms: Terms) -> set[int]:
    return {
        crc32(f"{kind} {VOCABULARY.stem(term)}".encode()) % PLACES
        for term in terms.tolist()
        if term >= 0
    }


def _matrix(rows: Sequence[Features]) -> csr_matrix:
    indices = np.concatenate(rows)
    ends = np.cumsum([row.size for row in rows])
    shape = (len(rows), PLACES)
    return csr_matrix((np.ones(indices.size), indices, np.r_[0, ends]), shape=shape)
