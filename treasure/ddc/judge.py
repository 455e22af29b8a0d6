"""Judge: on topic or not, once per page.

Link scoring and the DDC pipeline both need the verdict, and Scrapy does not promise which of them
sees a page first. They share one judge; the first to ask pays. Whoever asks again gets the same
answer, even when the judge has learned since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.page_model import Document, DocumentFrequencies, PageModel, document, fit
from treasure.ddc.topic_prior import lexicon_texts, topic_prior
from treasure.errors import ConfigError
from treasure.pages import Page, Verdict
from treasure.text import VOCABULARY
from treasure.topics import Topic

REMEMBERED = 10_000
"""Verdicts we keep; a page is asked for twice within seconds, not days."""
UNLABELLED = 400
"""Pages seen so far that stand for the rest of the web when the model is fitted."""


class Judge:
    """Gives each page one verdict, from topic words, D-numbers, keywords and examples."""

    def __init__(
        self,
        topics: Sequence[Topic],
        *,
        galaxy: Any = None,
        threshold: float = 0.5,
        examples: Sequence[Page] | Mapping[str, Sequence[Page]] = (),
        negatives: Sequence[Page] = (),
        background: Sequence[Page] = (),
        languages: Sequence[str] = (),
        min_words: int = 20,
        unsure: str = "drop",
        random_seed: int = 0,
    ) -> None:
        if not topics:
            raise ConfigError("A judge needs at least one topic. Got none; give -a topic=NAME.")
        self.topics = tuple(topics)
        self.threshold = threshold
        self.languages = frozenset(languages)
        self.min_words = min_words
        self.unsure = unsure
        self.galaxy = galaxy
        self._frequencies = DocumentFrequencies()
        self._random = np.random.default_rng(random_seed)
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()
        self._seen = 0
        self._unlabelled: list[Document] = []
        self._negatives = [self._count(page) for page in negatives]
        by_topic = examples if isinstance(examples, Mapping) else {t.name: examples for t in topics}
        lexicon = galaxy.lexicon if galaxy is not None else Lexicon.load()
        self._priors = [topic_prior(topic, lexicon) for topic in topics]
        for text in lexicon_texts(lexicon):
            self._frequencies.add(text.terms)
        self._examples = [
            [self._count(page) for page in by_topic.get(topic.name, ())] for topic in topics
        ]
        for page in background:
            self._collect(self._count(page))
        self._refit_at = 10
        self._models: list[PageModel] = []
        self.refit()

    def verdict(self, page: Page) -> Verdict:
        """Return the verdict on *page*: made at the first call, the same ever after."""
        verdict = self._verdicts.get(page.url)
        if verdict is None:
            verdict = self._verdicts[page.url] = self._judge(page)
            if len(self._verdicts) > REMEMBERED:
                self._verdicts.popitem(last=False)
        return verdict

    def text_relevance(self, terms: NDArray[np.int32]) -> float:
        """Return how much any text (anchor, context, URL words) is about the topics, 0 to 1."""
        text = document(terms)
        return max(model.probability(model.margin(text)) for model in self._models)

    def span_scores(
        self, page: Page, starts: NDArray[np.int32], stops: NDArray[np.int32], topic: int = 0
    ) -> NDArray[np.float64]:
        """Return the linear score of each span of *page*, best topic unless *topic* is given."""
        return self._models[topic].span_scores(page.terms, starts, stops)

    def evidence(self, scores: NDArray[np.float64], topic: int = 0) -> NDArray[np.float64]:
        """Return span scores on the scale of the verdict: 0 at the line, about 1 well inside."""
        model = self._models[topic]
        return np.clip(model.slope * (scores - model.centre) / 4.0, -1.5, 1.5)

    def terms_evidence(self, terms: NDArray[np.int32], topic: int = 0) -> NDArray[np.float64]:
        """Return ``evidence`` of short texts, one a row of vocabulary ids, -1 where there is none."""
        model = self._models[topic]
        gain, square = model.padded
        known = np.where(terms < gain.size - 1, terms, -1)
        length = np.sqrt(square[known].sum(axis=1))
        total = gain[known].sum(axis=1)
        scores = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
        return self.evidence(scores, topic)

    def explain(self, page: Page, count: int = 12) -> dict[str, Any]:
        """Return the verdict with the words that speak for and against each topic."""
        text = document(page.main_terms)
        answer: dict[str, Any] = {"verdict": self.verdict(page).relevance, "topics": {}}
        for topic, model in zip(self.topics, self._models, strict=True):
            parts = (1.0 + np.log(text.counts)) * model.gain[text.terms]
            order = np.argsort(parts, kind="stable")
            answer["topics"][topic.name] = {
                "probability": model.probability(model.margin(text)),
                "for": [VOCABULARY.stem(int(text.terms[i])) for i in order[::-1][:count]],
                "against": [VOCABULARY.stem(int(text.terms[i])) for i in order[:count]],
            }
        return answer

    def relabel(self, page: Page, on_topic: bool) -> Verdict:
        """Take in what a person says of *page*: from now on it is an example, or a negative one."""
        before = self.verdict(page)
        best = next((i for i, t in enumerate(self.topics) if t.name == before.topic), 0)
        text = document(page.main_terms)
        (self._examples[best] if on_topic else self._negatives).append(text)
        self.refit()
        verdict = replace(
            before, relevance=float(on_topic), on_topic=on_topic, unsure=False, reason="labelled"
        )
        self._verdicts[page.url] = verdict
        return verdict

    def refit(self) -> None:
        """Fit every topic's model to what was seen so far."""
        for index, prior in enumerate(self._priors):
            others = [t for i, texts in enumerate(self._examples) if i != index for t in texts]
            negatives = [*self._negatives, *others, *self._unlabelled]
            doubt = np.zeros(len(negatives))
            if self._models and self._unlabelled:
                model = self._models[index]
                doubt[-len(self._unlabelled) :] = [
                    model.probability(model.margin(text)) for text in self._unlabelled
                ]
            model = fit(self._examples[index], negatives, doubt, self._frequencies.idf, prior)
            self._models[index : index + 1] = [model]

    def state(self) -> bytes:
        """Return what was learned, as JSON."""
        return b"{}"

    def restore(self, state: bytes) -> None:
        """Go on from what ``state`` returned."""

    def _judge(self, page: Page) -> Verdict:
        text = self._count(page)
        self._collect(text)
        if self._seen >= self._refit_at:
            self._refit_at = int(self._seen * 1.3) + 1
            self.refit()
        chances = [model.probability(model.margin(text)) for model in self._models]
        best = int(np.argmax(chances))
        name = self.topics[best].name
        if self.languages and page.language and page.language not in self.languages:
            return Verdict(0.0, False, name, unsure=True, reason=f"language {page.language}")
        if page.main_terms.size < self.min_words:
            keep = self.unsure == "keep"
            return Verdict(chances[best], keep, name, unsure=True, reason="too little text")
        return Verdict(chances[best], chances[best] >= self.threshold, name)

    def _count(self, page: Page) -> Document:
        text = document(page.main_terms)
        self._frequencies.add(text.terms)
        return text

    def _collect(self, text: Document) -> None:
        """Keep a fair sample of all pages seen (reservoir sampling)."""
        self._seen += 1
        if len(self._unlabelled) < UNLABELLED:
            self._unlabelled.append(text)
        else:
            place = int(self._random.integers(self._seen))
            if place < UNLABELLED:
                self._unlabelled[place] = text
