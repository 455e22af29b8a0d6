"""Texts as vectors: what several strategies share when they compare words.

A *query* is the topic as a text vector, made once from the brief and constant during the crawl, so
that a continued crawl ranks as the first one did.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.page_model import DocumentFrequencies, document
from treasure.pages import Page
from treasure.text import VOCABULARY, words
from treasure.topics import Topic

Terms = NDArray[np.int32]

_NOISE = frozenset(
    """http https www com org net index htm html xhtml shtml php asp aspx jsp cgi""".split()
)
_WORD_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def url_words(url: str) -> list[str]:
    """Return the words of an address: host and path, ``BlackBird.htm`` being *black*, *bird*."""
    address = unquote(url.partition("://")[2] or url, errors="replace")
    return [word for word in words(_WORD_PARTS.sub(" ", address)) if word not in _NOISE]


def url_terms(url: str) -> Terms:
    """Return the vocabulary ids of an address's words."""
    return VOCABULARY.ids(url_words(url))


def topic_terms(topic: Topic) -> Terms:
    """Return the vocabulary ids of the topic in words; stop words are -1."""
    return VOCABULARY.ids(words(topic.text))


def term_counts(terms: Iterable[int]) -> Counter[int]:
    """Return how often each term occurs, stop words left out."""
    counts = Counter(terms)
    counts.pop(-1, None)
    return counts


def cosine(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    """Return the cosine of two sparse vectors without negative parts; 0 when one is empty."""
    if len(a) > len(b):
        a, b = b, a
    dot = sum(weight * b[term] for term, weight in a.items() if term in b)
    if not dot:
        return 0.0
    length = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return min(dot / length, 1.0)


class Query:
    """The topic as a tf-idf vector; ``similarity`` is its cosine to any text.

    The topic's words and the mean of the example pages weigh the same; of both together the
    *size* strongest terms stay, so that most texts off topic have a similarity of exactly 0.
    Document frequencies are those of background and examples; without them all terms weigh alike.
    """

    def __init__(
        self,
        topic: Topic,
        examples: Sequence[Page] = (),
        background: Sequence[Page] = (),
        *,
        size: int = 50,
    ) -> None:
        texts = [document(page.main_terms) for page in [*examples, *background]]
        frequencies = DocumentFrequencies()
        for text in texts:
            frequencies.add(text.terms)
        self._idf = frequencies.idf
        self._unseen = frequencies.unseen
        self._weights: dict[int, float] = self._strongest(topic_terms(topic), examples, size)
        self._length = math.sqrt(sum(w * w for w in self._weights.values()))

    def similarity(self, terms: Terms) -> float:
        """Return the cosine of the query and the text of *terms*."""
        vector = self._vector(terms)
        dot = sum(weight * vector.get(term, 0.0) for term, weight in self._weights.items())
        if not dot:
            return 0.0
        length = math.sqrt(sum(w * w for w in vector.values()))
        return min(dot / (length * self._length), 1.0)

    def _vector(self, terms: Terms) -> dict[int, float]:
        text = document(terms)
        known = text.terms < self._idf.size
        idf = np.full(text.terms.size, self._unseen)
        idf[known] = self._idf[text.terms[known]]
        weights = (1.0 + np.log(text.counts)) * idf
        return dict(zip(text.terms.tolist(), weights.tolist(), strict=True))

    def _strongest(self, topic: Terms, examples: Sequence[Page], size: int) -> dict[int, float]:
        total: defaultdict[int, float] = defaultdict(float)
        parts = [(topic, 1.0)] + [(page.main_terms, 1.0 / len(examples)) for page in examples]
        for terms, share in parts:
            vector = self._vector(terms)
            length = math.sqrt(sum(w * w for w in vector.values())) or 1.0
            for term, weight in vector.items():
                total[term] += share * weight / length
        # Ids depend on what this process read before; stems do not.
        best = sorted(total.items(), key=lambda item: (-item[1], VOCABULARY.stem(item[0])))
        return dict(best[:size])
