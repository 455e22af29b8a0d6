"""WVC: a weighted voting classifier learned from positive and unlabelled texts.

Peng et al., "Focused crawling enhanced by CBP-SLC" (Knowledge-Based Systems 2014), section 4. P are
the positive texts, U the unlabelled ones.

1-DNFC (algorithm 2): positive features PF are the terms with freq(t, P) / |P| > freq(t, U) / |U|
and freq(t, P) / |P| > lambda = 0.2; texts of U with none of them are the reliable negatives NEG_0.
Decision: on long pages hardly any is left; then the tenth of U with the fewest positive features
is taken, and at least 30 texts.

TFIPNDF (eq. 1, 2): in training a term weighs f x P_i / S_P x log(N / n_i) in positive texts,
f x N_i / S_N x log(N / n_i) in negative ones; terms seen fewer than 5 times are dropped; vectors
have length 1. Texts of unknown class use tfc weights f x log(N / n_i), length 1 (eq. 3).

WVC (algorithm 3): train SVM_i on P and the negatives so far; what it finds negative in U joins
them; until that is nothing. SVM_k votes with p_k / sum p, p_k its precision on P. Decisions: p_k is
the share of P that it gets right; the vote is the weighted sum of decision values rather than of
signs, so that it ranks. All SVMs are linear, hence so is their vote: one weight per term remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from treasure.ddc.page_model import document
from treasure.strategies.scores import logistic
from treasure.text import VOCABULARY
from treasure.text_model import Terms

LAMBDA = 0.2
LEAST_OCCURRENCES = 5
LEAST_NEGATIVES = 30
MAX_ROUNDS = 20

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WeightedVote:
    """The final classifier: sum over k of p_k / sum p x SVM_k."""

    idf: Floats
    """log(N / n_i) by term; 0 for terms that are no features."""
    weights: Floats
    bias: float

    def vote(self, terms: Terms) -> float:
        """Return the vote on a text: above 0 is relevant."""
        text = document(terms)
        known = text.terms < self.idf.size
        ids = text.terms[known]
        x = text.counts[known] * self.idf[ids]  # tfc, eq. 3
        length = float(np.linalg.norm(x))
        return float(x @ self.weights[ids]) / length + self.bias if length else self.bias

    def relevance(self, terms: Terms) -> float:
        """Return the logistic function of the vote: above 1/2 is relevant."""
        return logistic(4.0 * self.vote(terms))


def train(positive: Sequence[Terms], unlabelled: Sequence[Terms]) -> WeightedVote:
    """Return the classifier of algorithm 3; both sequences need at least one text."""
    counts, features = _counts([*positive, *unlabelled])
    frequent = np.asarray(counts.sum(axis=0)).ravel() >= LEAST_OCCURRENCES
    if not frequent.any():  # a handful of short texts: every term counts
        frequent[:] = True
    counts = counts.multiply(frequent).tocsr()
    n = np.asarray((counts > 0).sum(axis=0)).ravel()
    idf = np.where(n > 0, np.log(counts.shape[0] / np.maximum(n, 1)), 0.0)
    p, u = counts[: len(positive)], counts[len(positive) :]
    p_part = _share(p)
    tfc_p, tfc_u = normalize(p.multiply(idf).tocsr()), normalize(u.multiply(idf).tocsr())
    negative = reliable_negatives(p, u)
    votes: list[tuple[float, Floats, float]] = []
    for _ in range(MAX_ROUNDS):
        n_part = _share(u[negative])
        rows = vstack([p.multiply(idf * p_part), u[negative].multiply(idf * n_part)])
        labels = np.r_[np.ones(p.shape[0]), np.zeros(int(negative.sum()))]
        svm = LinearSVC(random_state=0).fit(normalize(rows.tocsr()), labels)
        weights, bias = svm.coef_[0], float(svm.intercept_[0])
        votes.append((float(np.mean(tfc_p @ weights + bias > 0)), weights, bias))
        found = ~negative & (tfc_u @ weights + bias <= 0)
        if not found.any():
            break
        negative = negative | found
    return _combined(features, idf, votes)


def reliable_negatives(p: csr_matrix, u: csr_matrix) -> NDArray[np.bool_]:
    """Return which rows of *u* are NEG_0 (1-DNFC)."""
    share_p, share_u = _share(p), _share(u)
    positive_features = (share_p > share_u) & (share_p > LAMBDA)
    held = np.asarray((u > 0)[:, positive_features].sum(axis=1)).ravel()
    negative: NDArray[np.bool_] = held == 0
    least = min(max(LEAST_NEGATIVES, u.shape[0] // 10), u.shape[0])
    if negative.sum() < least:
        negative = np.zeros(u.shape[0], dtype=bool)
        negative[np.argsort(held, kind="stable")[:least]] = True
    return negative


def _combined(
    features: Terms, idf: Floats, votes: Sequence[tuple[float, Floats, float]]
) -> WeightedVote:
    precision = np.array([p_k for p_k, _, _ in votes])
    if not precision.any():  # none gets any positive text right: all count alike
        precision[:] = 1.0
    shares = precision / precision.sum()
    weights = sum(share * w for share, (_, w, _) in zip(shares, votes, strict=True))
    bias = sum(float(share) * b for share, (_, _, b) in zip(shares, votes, strict=True))
    by_term = np.zeros((2, features.max(initial=0) + 1))
    by_term[:, features] = np.stack([idf, weights])[:, : features.size]
    return WeightedVote(by_term[0], by_term[1], bias)


def _share(counts: csr_matrix) -> Floats:
    """Return by term the share of texts that have it: P_i / S_P, N_i / S_N."""
    have: Floats = np.asarray((counts > 0).sum(axis=0)).ravel() / counts.shape[0]
    return have


def _counts(texts: Sequence[Terms]) -> tuple[csr_matrix, Terms]:
    """Return how often each text has each term, and the terms of the columns, by stem.

    By stem, as sums in another order may end an SVM's training a step earlier, and the order of
    vocabulary numbers depends on what this process has read before.
    """
    documents = [document(terms) for terms in texts]
    ends = np.cumsum([text.terms.size for text in documents])
    ids = np.concatenate([text.terms for text in documents])
    data = np.concatenate([text.counts for text in documents])
    features = np.array(sorted(set(ids.tolist()), key=VOCABULARY.stem), dtype=np.int32)
    columns = np.zeros(features.max(initial=0) + 1, dtype=np.int32)
    columns[features] = np.arange(features.size)
    shape = (len(documents), max(features.size, 1))
    counts = csr_matrix((data, columns[ids], np.r_[0, ends]), shape=shape)
    counts.sort_indices()
    return counts, features
