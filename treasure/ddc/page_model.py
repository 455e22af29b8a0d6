"""PageModel: how much a text belongs to one topic, learned from next to nothing.

L2 logistic regression on log-tf x idf unit vectors (ALGORITHMS.md, 6.1). Positives are the topic's
own words and the example pages; everything else seen so far counts as negative, classes balanced
(learning from positive and unlabelled texts). One vector of weights serves pages, anchors, URLs and
any other span: the score of a span is a quotient of two prefix sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from treasure.text import VOCABULARY

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]


class Document(NamedTuple):
    """Distinct terms of a text and how often they occur."""

    terms: Ids
    counts: Floats


def document(terms: Ids) -> Document:
    """Return the document of *terms*; ids below 0 are left out."""
    ids, counts = np.unique(terms[terms >= 0], return_counts=True)
    return Document(ids, counts.astype(np.float64))


class DocumentFrequencies:
    """In how many texts each term was seen; grows with the crawl."""

    def __init__(self) -> None:
        self.documents = 0
        self._counts = np.zeros(1 << 14)
        self._idf: Floats | None = None

    def add(self, terms: Ids) -> None:
        """Count a text's distinct *terms* once."""
        self._reserve()
        self._counts[terms] += 1
        self.documents += 1
        self._idf = None

    @property
    def idf(self) -> Floats:
        """Inverse document frequency by term, for the whole vocabulary."""
        self._reserve()
        if self._idf is None or self._idf.size < VOCABULARY.size:
            self._idf = 1.0 + np.log((self.documents + 2.0) / (self._counts + 1.0))
        return self._idf

    def _reserve(self) -> None:
        if self._counts.size < VOCABULARY.size:
            grown = np.zeros(max(VOCABULARY.size, 2 * self._counts.size))
            grown[: self._counts.size] = self._counts
            self._counts = grown
            self._idf = None


@dataclass(frozen=True)
class PageModel:
    """Weights by term and the line between on and off topic."""

    gain: Floats
    """idf x weight of each term: what one occurrence adds to a span's score."""
    square: Floats
    """idf squared of each term: what one occurrence adds to a span's squared length."""
    idf: Floats
    centre: float
    """The margin at which the probability is one half."""
    slope: float

    def margin(self, text: Document) -> float:
        """Return the signed distance of *text* from the model's plane, before calibration."""
        known = text.terms < self.idf.size
        terms = text.terms[known]
        weights = 1.0 + np.log(text.counts[known])
        norm = float(np.sqrt(np.sum((weights * self.idf[terms]) ** 2)))
        return float(np.sum(weights * self.gain[terms])) / norm if norm else 0.0

    def probability(self, margin: float) -> float:
        """Return the calibrated probability behind *margin*."""
        return 1.0 / (1.0 + float(np.exp(-np.clip(self.slope * (margin - self.centre), -30, 30))))

    def span_scores(self, terms: Ids, starts: Ids, stops: Ids) -> Floats:
        """Return sum(gain) / sqrt(sum(idf^2)) over each span of *terms*; 0 for empty spans."""
        known = (terms >= 0) & (terms < self.gain.size)
        safe = np.where(known, terms, 0)
        gains = np.concatenate(([0.0], np.cumsum(np.where(known, self.gain[safe], 0.0))))
        squares = np.concatenate(([0.0], np.cumsum(np.where(known, self.square[safe], 0.0))))
        length = np.sqrt(np.maximum(squares[stops] - squares[starts], 0.0))
        total = gains[stops] - gains[starts]
        scores: Floats = np.divide(total, length, out=np.zeros_like(total), where=length > 1e-9)
        return scores


def fit(
    positives: Sequence[Document],
    negatives: Sequence[Document],
    frequencies: DocumentFrequencies,
    *,
    query: Document,
) -> PageModel:
    """Return the model that tells *positives* from *negatives*; *query* is the topic in words."""
    idf = frequencies.idf
    if len(negatives) < 5:
        return _query_model(query, idf)
    rows = _matrix([*positives, *negatives], idf)
    labels = np.r_[np.ones(len(positives)), np.zeros(len(negatives))]
    learner = LogisticRegression(
        solver="liblinear", dual=True, C=10.0, class_weight="balanced", random_state=0
    )
    learner.fit(rows, labels)
    weights = np.zeros(idf.size)
    weights[: rows.shape[1]] = learner.coef_[0]
    margins = rows @ learner.coef_[0]
    centre, slope = _calibration(margins[: len(positives)], margins[len(positives) :])
    return PageModel(idf * weights, idf**2, idf, centre, slope)


def _query_model(query: Document, idf: Floats) -> PageModel:
    """Cosine to the topic's words, until there is something to compare with."""
    weights = np.zeros(idf.size)
    values = (1.0 + np.log(query.counts)) * idf[query.terms]
    weights[query.terms] = values / (np.linalg.norm(values) or 1.0)
    return PageModel(idf * weights, idf**2, idf, centre=0.15, slope=20.0)


def _matrix(documents: Sequence[Document], idf: Floats) -> csr_matrix:
    indptr = np.concatenate(([0], np.cumsum([text.terms.size for text in documents])))
    indices = np.concatenate([text.terms for text in documents])
    data = np.concatenate([1.0 + np.log(text.counts) for text in documents]) * idf[indices]
    norms = np.sqrt(np.add.reduceat(np.append(data**2, 0.0), indptr[:-1]))
    norms[np.diff(indptr) == 0] = 1.0
    data /= np.repeat(norms, np.diff(indptr))
    return csr_matrix((data, indices, indptr), shape=(len(documents), idf.size))


def _calibration(positive: Floats, negative: Floats) -> tuple[float, float]:
    low = float(np.quantile(negative, 0.95))
    high = float(np.quantile(positive, 0.25))
    width = max(high - low, 0.05)
    return low + width / 2, 4.0 / width
