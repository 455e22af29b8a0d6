from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tests.strategies.small_web import BIRD_WORDS, OTHER_WORDS, TRAIN_WORDS, prose, terms
from treasure.strategies.wvc import LEAST_NEGATIVES, WeightedVote, reliable_negatives, train


def test_1_dnfc_by_hand() -> None:
    # Terms a, b, c. In P: a in 2 of 2, b in 1 of 2, c in none. In U (40 texts): a in 2, b in 30.
    # a is a positive feature (1 > 1/20), b is not (1/2 < 3/4).
    p = csr_matrix(np.array([[1, 1, 0], [3, 0, 0]]))
    u = np.zeros((40, 3))
    u[:2, 0] = 1
    u[5:35, 1] = 1
    assert np.flatnonzero(~reliable_negatives(p, csr_matrix(u))).tolist() == [0, 1]


def test_rare_terms_of_p_are_no_positive_features() -> None:
    # b is in 1 of 6 positive texts, below lambda = 0.2, though in no text of U.
    p = csr_matrix(np.array([[1, 1]] + [[1, 0]] * 5))
    u = csr_matrix(np.tile([0, 0], (40, 1)) + np.eye(40, 2, k=-38))
    assert np.flatnonzero(~reliable_negatives(p, u)).tolist() == [38]


def test_when_hardly_a_text_is_left_those_with_the_fewest_features_are_taken() -> None:
    p = csr_matrix(np.ones((2, 50)))
    u = csr_matrix(np.tril(np.ones((50, 50))))  # text i holds i + 1 positive features
    share = np.asarray((u > 0).mean(axis=0)).ravel()
    assert (share[1:] < 1).all()
    negative = reliable_negatives(p, u)
    assert np.flatnonzero(negative).tolist() == list(range(LEAST_NEGATIVES))


def test_the_vote_uses_tfc_weights() -> None:
    # tfc: f x log(N / n_i), length 1. Terms a, b with idf 1 and 2, weights 3 and -1, bias 0.5.
    # Text a a b: x = (2, 2) / sqrt(8); vote = (2 x 3 - 2) / sqrt(8) + 0.5.
    a, b = (int(t) for t in terms("alpha beta"))
    idf, weights = np.zeros(max(a, b) + 1), np.zeros(max(a, b) + 1)
    idf[[a, b]] = 1.0, 2.0
    weights[[a, b]] = 3.0, -1.0
    vote = WeightedVote(idf, weights, 0.5)
    assert vote.vote(terms("alpha alpha beta")) == pytest.approx(4 / 8**0.5 + 0.5)
    assert vote.vote(terms("")) == 0.5
    assert vote.vote(terms("unheard of")) == 0.5


def texts(vocabulary: list[str], count: int) -> list[np.ndarray]:
    return [terms(prose(vocabulary, i)) for i in range(count)]


def test_it_tells_topics_apart_though_u_holds_hidden_positives() -> None:
    unlabelled = texts(TRAIN_WORDS, 30) + texts(OTHER_WORDS, 30) + texts(BIRD_WORDS, 6)
    classifier = train(texts(BIRD_WORDS, 8), unlabelled)
    for i in range(20, 30):
        assert classifier.vote(terms(prose(BIRD_WORDS, i))) > 0
        assert classifier.vote(terms(prose(TRAIN_WORDS, i))) < 0
        assert classifier.vote(terms(prose(OTHER_WORDS, i))) < 0
    assert classifier.relevance(terms("nest")) > 0.5 > classifier.relevance(terms("locomotive"))


def test_few_and_short_texts_still_make_a_classifier() -> None:
    classifier = train([terms("owl barn")], [terms("hill tower"), terms("river")])
    assert classifier.vote(terms("owl")) > classifier.vote(terms("hill"))


def test_training_is_repeatable() -> None:
    unlabelled = texts(TRAIN_WORDS, 20)
    one, two = (train(texts(BIRD_WORDS, 5), unlabelled) for _ in range(2))
    assert (one.weights == two.weights).all()
    assert one.bias == two.bias
