"""TopicPrior: what a topic's words are before a single page was read.

The lexicon is used as a small library: the terms of each three-digit class are one text. A logistic
regression that tells the topic's own words and the classes under its numbers from all other classes
gives every word a weight, for or against. With no page at all this ranks the pages of the schools
web at a mean average precision of .76, the topic's words as a query at .70 (docs/judge.md).

History and geography of a place have numbers of their own in Dewey (966 and 916.6 for West Africa);
the words of the one help the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from treasure.ddc.background import Background
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import digits, normal, pointed
from treasure.ddc.page_model import (
    Document,
    DocumentFrequencies,
    Floats,
    balanced,
    document,
    matrix,
)
from treasure.ddc.weighted import WeightedGalaxy
from treasure.text import VOCABULARY, words
from treasure.topics import Topic

DEPTH = 3
"""Digits of the classes whose terms make one text."""
TOPIC_WEIGHT = 3.0
"""Weight of the topic's own words against the texts of all classes under it."""
AREAS = "3456789"
"""Second digit of history, third of geography: the continents and the ancient world."""


def related(number: str) -> list[str]:
    """Return the digits of *number* and, for a place, of its geography or history."""
    own = digits(normal(number))
    if own.startswith("91") and own[2:3] and own[2] in AREAS:
        return [own, "9" + own[2:]]
    if own.startswith("9") and own[1:2] and own[1] in AREAS:
        return [own, "91" + own[1:]]
    return [own]


def topic_prior(topic: Topic, lexicon: Lexicon) -> Floats:
    """Return a weight for each vocabulary id, on unit tf-idf vectors; its length is 1."""
    # Imported here: it takes a second, and the first request need not wait for it.
    from sklearn.linear_model import LogisticRegression

    prefixes = [prefix for number in topic.numbers for prefix in related(number)]
    own: list[Document] = []
    others: list[Document] = []
    for number, text in class_texts(lexicon, prefixes):
        if any(number.startswith(prefix) for prefix in prefixes):
            own.append(text)
        elif not any(prefix.startswith(number) for prefix in prefixes):
            others.append(text)
    query = document(VOCABULARY.ids(words(topic.text)))
    idf = lexicon_frequencies(lexicon).idf
    rows = matrix([query, *own, *others], idf)
    labels = np.r_[np.ones(1 + len(own)), np.zeros(len(others))]
    weights = np.ones(labels.size)
    weights[0] = TOPIC_WEIGHT
    weights[1 : 1 + len(own)] = 1.0 / max(1.0, len(own) ** 0.5)
    learner = LogisticRegression(
        solver="liblinear", dual=True, C=10.0, random_state=0, max_iter=1000
    )
    learner.fit(rows, labels, sample_weight=balanced(labels, weights))
    found: Floats = learner.coef_[0]
    # fsum: the same to the last digit in whatever order the vocabulary has its words.
    length = math.sqrt(math.fsum((found[found != 0] ** 2).tolist()))
    return found / (length or 1.0)


def dewey_weights(topics: Sequence[Topic], lexicon: Lexicon) -> tuple[Floats, Floats]:
    """Return two weights for each vocabulary id: under the topics' numbers, and under any.

    One place more follows, which is 0: for new words and, as the last, for -1.
    """
    galaxy = WeightedGalaxy(lexicon)
    prefixes = sorted({p for t in topics for n in t.numbers for p in related(n)})
    everything = galaxy.share_of_terms([str(digit) for digit in range(10)])
    mine = np.zeros_like(everything)
    if prefixes:
        mine = galaxy.share_of_terms([pointed(prefix) for prefix in prefixes])
    return np.append(mine, 0.0).astype(np.float64), np.append(everything, 0.0).astype(np.float64)


def class_texts(lexicon: Lexicon, prefixes: Sequence[str]) -> list[tuple[str, Document]]:
    """Return the terms of each class as a text; classes under *prefixes* one digit deeper."""
    groups: dict[str, list[int]] = {}
    for number, place in _places(lexicon):
        depth = DEPTH
        for prefix in prefixes:
            if number.startswith(prefix):
                depth = max(DEPTH, len(prefix) + 1)
            elif prefix.startswith(number[:DEPTH]):
                # Beside a topic of many digits lie its sisters; they are no part of it.
                depth = max(depth, len(prefix))
        groups.setdefault(number[:depth], []).append(place)
    texts = _number_terms(lexicon)
    return [
        (number, document(np.concatenate([texts[place] for place in places])))
        for number, places in groups.items()
    ]


@lru_cache(maxsize=4)
def lexicon_frequencies(lexicon: Lexicon) -> DocumentFrequencies:
    """Return the document frequencies of the classes' texts."""
    frequencies = DocumentFrequencies()
    for text in lexicon_texts(lexicon):
        frequencies.add(text.terms)
    return frequencies


@lru_cache(maxsize=4)
def lexicon_texts(lexicon: Lexicon) -> list[Document]:
    """Return the terms of every three-digit class as a text."""
    return [text for _, text in class_texts(lexicon, ())]


@lru_cache(maxsize=1)
def english_texts(count: int = 100, length: int = 400) -> list[Document]:
    """Return texts of common English words, drawn by their frequency.

    They stand for the rest of the web until a crawl has seen some of it: without them a model of
    ten example pages would take every common word for a sign of the topic.
    """
    background = Background.own()
    random = np.random.default_rng(0)
    ids = np.array([VOCABULARY.id_of_stem(stem) for stem in background.stems], np.int32)
    frequency = np.array([background.frequencies[stem] for stem in background.stems])
    chance = frequency / frequency.sum()
    return [document(random.choice(ids, length, p=chance)) for _ in range(count)]


@lru_cache(maxsize=1)
def english_rarity() -> Floats:
    """Return how rare each vocabulary id is in English, 0 (the most common word) to 1 (unheard of).

    Two places more follow: 1 for words met later, 0 for none (-1).
    """
    background = Background.own()
    ids = np.array([VOCABULARY.id_of_stem(stem) for stem in background.stems], np.int32)
    frequency = np.log([max(background.frequencies[stem], 1.0) for stem in background.stems])
    rarity = np.ones(VOCABULARY.size + 2)
    rarity[-1] = 0.0
    rarity[ids[ids >= 0]] = 1.0 - (frequency / frequency.max())[ids >= 0]
    return rarity


def _places(lexicon: Lexicon) -> list[tuple[str, int]]:
    texts = _number_terms(lexicon)
    return [(own, place) for place, own in enumerate(lexicon.digits) if texts[place].size]


@lru_cache(maxsize=4)
def _number_terms(lexicon: Lexicon) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """Return, for each number of the lexicon, the vocabulary ids of its terms' words."""
    term_of_posting = np.repeat(np.arange(lexicon.size), np.diff(lexicon.posting_start))
    order = np.argsort(lexicon.posting_number, kind="stable")
    bounds = np.searchsorted(lexicon.posting_number[order], np.arange(len(lexicon.numbers) + 1))
    starts, ids = lexicon.term_start, lexicon.vocabulary_ids[lexicon.term_stems]
    texts = []
    for first, last in pairwise(bounds.tolist()):
        terms = term_of_posting[order[first:last]].tolist()
        parts = [ids[starts[term] : starts[term + 1]] for term in terms]
        texts.append(np.concatenate(parts) if parts else np.empty(0, np.int32))
    return texts
