"""PageModel: how much a text belongs to one topic, learned from next to nothing.

L2 logistic regression on log-tf x idf unit vectors (ALGORITHMS.md, 6.1). Positives are the topic's
own words and the example pages; everything else seen so far counts as negative, classes balanced
(learning from positive and unlabelled texts). One vector of weights serves pages, anchors, URLs and
any other span: the score of a span is a quotient of two prefix sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treasure.core.documents import add, counted, margin
from treasure.text import VOCABULARY, distinct

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MIN_NEGATIVES = 20
PRIOR_CENTRE, PRIOR_SLOPE = 0.055, 55.0
"""The line on the prior's score alone: measured best at .03 to .1 for 20 of 24 topics."""
PRIOR_SCALE = 3.0
COST = 10.0
LEAVE_OUT = 0.7
LEARNED = 0.75
"""What the learned opinion counts beside the prior's, which no example can lead astray."""
MIN_WIDTH = 0.5

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]


def sigmoid(values: Floats) -> Floats:
    """Return 1 / (1 + e^-x); beyond 30 it stays as it is there."""
    result: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
    return result


class Document(NamedTuple):
    """Distinct terms of a text and how often they occur."""

    terms: Ids
    counts: Floats


def document(terms: Ids) -> Document:
    """Return the document of *terms*; ids below 0 are left out.

    Terms stand in the order in which they first occur: vocabulary ids depend on what this process
    has read before, and sums must not, to the last digit.
    """
    return Document(*counted(terms, [(0, terms.size)]))


def pack_documents(documents: Sequence[Document]) -> dict[str, Any]:
    """Return *documents* ready for msgpack, words as stems."""
    terms = [text.terms for text in documents]
    known, places = distinct(np.concatenate([*terms, np.empty(0, np.int32)]))
    counts = np.concatenate([*(text.counts for text in documents), np.empty(0)])
    return {
        "sizes": [text.terms.size for text in documents],
        "stems": VOCABULARY.stems(known.tolist()),
        "terms": places.tobytes(),
        "counts": counts.astype(np.float32).tobytes(),
    }


def unpack_documents(packed: Mapping[str, Any]) -> list[Document]:
    """Return what ``pack_documents`` packed."""
    ids = np.array([VOCABULARY.id_of_stem(stem) for stem in packed["stems"]], np.int32)
    terms = ids[np.frombuffer(packed["terms"], np.int32)]
    counts = np.frombuffer(packed["counts"], np.float32).astype(np.float64)
    bounds = np.cumsum(packed["sizes"])[:-1]
    documents = []
    for own, often in zip(np.split(terms, bounds), np.split(counts, bounds), strict=True):
        usable = own >= 0
        documents.append(Document(own[usable], often[usable]))
    return documents[: len(packed["sizes"])]


class DocumentFrequencies:
    """In how many texts each term was seen; grows with the crawl."""

    def __init__(self) -> None:
        self.documents = 0
        self._counts = np.zeros(1 << 14)
        self._idf: Floats | None = None

    def add(self, terms: Ids) -> None:
        """Count a text's distinct *terms* once."""
        self._reserve()
        add(self._counts, terms)
        self.documents += 1
        self._idf = None

    @property
    def idf(self) -> Floats:
        """Inverse document frequency by term, for the whole vocabulary."""
        self._reserve()
        if self._idf is None or self._idf.size < VOCABULARY.size:
            self._idf = 1.0 + np.log((self.documents + 2.0) / (self._counts + 1.0))
        return self._idf

    @property
    def unseen(self) -> float:
        """The idf of a term that no text had."""
        return 1.0 + float(np.log(self.documents + 2.0))

    def state(self) -> dict[str, Any]:
        """Return the counts by stem, ready for msgpack."""
        seen = np.flatnonzero(self._counts)
        return {
            "documents": self.documents,
            "stems": VOCABULARY.stems(seen.tolist()),
            "counts": self._counts[seen].astype(np.float32).tobytes(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        ids = np.array([VOCABULARY.id_of_stem(stem) for stem in state["stems"]], np.int32)
        self._reserve()
        self._counts[:] = 0.0
        self._counts[ids[ids >= 0]] = np.frombuffer(state["counts"], np.float32)[ids >= 0]
        self.documents = state["documents"]
        self._idf = None

    def _reserve(self) -> None:
        if self._counts.size < VOCABULARY.size:
            grown = np.zeros(max(VOCABULARY.size, 2 * self._counts.size))
            grown[: self._counts.size] = self._counts
            self._counts = grown
            self._idf = None


@dataclass(frozen=True)
class PageModel:
    """Weights by term and the line between on and off topic.

    A word that was met for the first time after the fit weighs nothing and is as rare as any other
    that was never seen: it must not matter whether another crawl of this process met it before.
    """

    weights: Floats
    idf: Floats
    unseen: float
    """idf of a term in no text."""
    centre: float
    """The margin at which the probability is one half."""
    slope: float

    @cached_property
    def _table(self) -> Floats:
        """Idf x weight and idf squared of each term; then for a new word, then for none.

        Both are needed together and so lie together; the term -1 takes the last row.
        """
        table = np.zeros((self.idf.size + 2, 2))
        table[:-2, 0] = self.idf * self.weights
        table[:-2, 1] = self.idf**2
        table[-2, 1] = self.unseen**2
        return table

    def margin(self, text: Document) -> float:
        """Return the signed distance of *text* from the model's plane, before calibration."""
        return margin(text.terms, text.counts, self._table)

    def margins(self, texts: Sequence[Document]) -> Floats:
        """Return the margins of many texts."""
        return np.array([self.margin(text) for text in texts], np.float64)

    def probabilities(self, margins: Floats) -> Floats:
        """Return the calibrated probability behind each of *margins*."""
        return sigmoid(self.slope * (margins - self.centre))

    def probability(self, margin: float) -> float:
        """Return the same for one margin, without the price of an array."""
        odds = min(max(self.slope * (margin - self.centre), -30.0), 30.0)
        return 1.0 / (1.0 + exp(-odds))

    @property
    def line(self) -> tuple[Floats, float, float]:
        """What ``core.witness`` and ``core.features`` judge short texts by.

        The score of a text is sum(idf x weight) / sqrt(sum(idf^2)) over its words, 0 if it has
        none; on the scale of the verdict that is slope x (score - centre) / 4, from -1.5 to 1.5:
        0 at the line, 1 well inside.
        """
        return self._table, self.slope, self.centre


def fit(
    positives: Sequence[Document],
    negatives: Sequence[Document],
    doubt: Floats,
    frequencies: DocumentFrequencies,
    prior: Floats,
) -> PageModel:
    """Return the model that tells *positives* from *negatives*.

    *doubt* (0 to 1) says how much each negative may be on topic after all; *prior* is the topic's
    weight vector (``topic_prior``), whose score is one more feature of each text.
    """
    idf, unseen = frequencies.idf, frequencies.unseen
    prior = _sized(prior, idf.size)
    if not positives or len(negatives) < MIN_NEGATIVES:
        return PageModel(prior, idf, unseen, PRIOR_CENTRE, PRIOR_SLOPE)
    # Imported here: scikit-learn takes a second to load, and the first request need not wait.
    from sklearn.linear_model import LogisticRegression

    rows = matrix([*positives, *negatives], idf)
    opinion = PRIOR_SCALE * (rows @ prior)
    labels = np.r_[np.ones(len(positives)), np.zeros(len(negatives))]
    # Squared: dozens of pages that are rather on topic must not add up to one that is not.
    certain = np.maximum((1.0 - doubt) ** 2, 1e-3)
    weights = balanced(labels, np.r_[np.ones(len(positives)), certain])
    learner = LogisticRegression(
        solver="liblinear", dual=True, C=COST, random_state=0, max_iter=200, tol=1e-3
    )
    learner.fit(_with_column(rows, opinion), labels, sample_weight=weights)
    learned = learner.coef_[0]
    margins = rows @ learned[:-1] + opinion * learned[-1]
    # Leaving a text out takes away its own pull: C x weight x error x |x|^2.
    error = labels - sigmoid(margins + learner.intercept_[0])
    left_out = margins - LEAVE_OUT * COST * weights * error * (1.0 + opinion**2)
    centre, slope = _calibration(
        left_out[: len(positives)], left_out[len(positives) :], weights[len(positives) :]
    )
    direction = learned[:-1] + PRIOR_SCALE * learned[-1] * prior
    raw = rows[: len(positives)] @ prior
    recognised = float(np.mean(sigmoid(PRIOR_SLOPE * (raw - PRIOR_CENTRE))))
    return _joined(PageModel(direction, idf, unseen, centre, slope), prior, recognised)


def _joined(model: PageModel, prior: Floats, recognised: float) -> PageModel:
    """Return a model whose log-odds are the mean of those of *model* and of the prior.

    Their scores are linear, so one vector holds the sum. A prior that does not recognise the
    examples has no say.
    """
    share = (1.0 - LEARNED) * recognised
    own, prior_slope = (1.0 - share) * model.slope, share * PRIOR_SLOPE
    total = own + prior_slope
    return PageModel(
        (own * model.weights + prior_slope * prior) / total,
        model.idf,
        model.unseen,
        (own * model.centre + prior_slope * PRIOR_CENTRE) / total,
        total,
    )


def balanced(labels: Floats, weights: Floats) -> Floats:
    """Return *weights* scaled so that both classes weigh the same and the mean weight is 1."""
    scaled = weights.astype(np.float64)
    for label in (0.0, 1.0):
        members = labels == label
        scaled[members] *= labels.size / 2 / (scaled[members].sum() or 1.0)
    return scaled


def _sized(vector: Floats, size: int) -> Floats:
    return vector[:size] if vector.size >= size else np.append(vector, np.zeros(size - vector.size))


def matrix(documents: Sequence[Document], idf: Floats) -> csr_matrix:
    """Return the unit vectors of *documents* as rows: log-tf x idf."""
    from scipy.sparse import csr_matrix

    indptr = np.concatenate(([0], np.cumsum([text.terms.size for text in documents])))
    indices = np.concatenate([text.terms for text in documents])
    data = (1.0 + np.log(np.concatenate([text.counts for text in documents]))) * idf[indices]
    norms = np.sqrt(np.add.reduceat(np.append(data**2, 0.0), indptr[:-1]))
    norms[np.diff(indptr) == 0] = 1.0
    data /= np.repeat(norms, np.diff(indptr))
    return csr_matrix((data, indices, indptr), shape=(len(documents), idf.size))


def _with_column(rows: csr_matrix, column: Floats) -> csr_matrix:
    """Return *rows* with one more column."""
    ends = rows.indptr[1:]
    joined = type(rows)(
        (
            np.insert(rows.data, ends, column),
            np.insert(rows.indices, ends, rows.shape[1]),
            rows.indptr + np.arange(len(column) + 1, dtype=rows.indptr.dtype),
        ),
        shape=(rows.shape[0], rows.shape[1] + 1),
    )
    # Else all would be sorted first, which takes half as long as the fit and serves nobody.
    joined.has_canonical_format = True
    return joined


def _calibration(positive: Floats, negative: Floats, weights: Floats) -> tuple[float, float]:
    """Return the middle between the negatives' upper and the positives' lower end, and a slope."""
    order = np.argsort(negative, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    low = float(negative[order][np.searchsorted(share, 0.95)])
    high = float(np.quantile(positive, 0.25))
    return (low + high) / 2, 4.0 / max(abs(high - low), MIN_WIDTH)
