"""Judge: on topic or not, once per page.

Link scoring and the DDC pipeline both need the verdict, and Scrapy does not promise which of them
sees a page first. They share one judge; the first to ask pays. Whoever asks again gets the same
answer, even when the judge has learned since.

Every topic has a model (``page_model``) that starts from its words and Dewey numbers
(``topic_prior``) and, where there are examples, learns what tells them from all other pages seen.
Pages without enough text, or in a language nobody asked for, are *unsure*: no evidence decides
about them but a stated policy.

The first fit waits until somebody asks, since a crawl should not wait with its first request for
scikit-learn. ``work_beside`` moves all fits to a thread: verdicts go on with the models there are.
Crawls whose order must be the same every run fit where they stand.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from treasure.core.documents import counted
from treasure.core.telling import own_words, told
from treasure.ddc.language import guess
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.page_model import (
    Document,
    DocumentFrequencies,
    Floats,
    PageModel,
    document,
    fit,
    pack_documents,
    unpack_documents,
)
from treasure.ddc.topic_prior import (
    dewey_weights,
    english_rarity,
    english_texts,
    lexicon_texts,
    topic_prior,
)
from treasure.errors import ConfigError
from treasure.pages import Page, Verdict
from treasure.topics import Topic

if TYPE_CHECKING:
    from treasure.ddc.weighted import WeightedGalaxy

logger = logging.getLogger(__name__)

REMEMBERED = 10_000
"""Verdicts we keep; a page is asked for twice within seconds, not days."""
UNLABELLED = 400
"""Pages seen so far that stand for the rest of the web when a model is fitted."""
ALWAYS = 20
"""Texts of common English that stay in, whatever was seen."""
FEW = 15
"""Pages, seen or given, without which examples cannot be told from anything."""
ENOUGH = 100
"""Pages seen after which the model needs no stand-in for the rest of the web."""
FIRST_REFIT, REFIT_GROWTH = 20, 1.4
"""Pages until the first refit, and how the time between two grows: learning never gets dear."""
MERE_LINKS = 0.9
"""Share of a block's words in links at which it says nothing of its own."""
TOLD = 60
"""Words a page must have besides; a page that is nothing but a list is judged by the list."""
NUMBERS = 3
"""D-numbers that a verdict names."""
UNSURE = ("drop", "keep")


class Judge:
    """Gives each page one verdict, from topic words, D-numbers, keywords and examples."""

    def __init__(
        self,
        topics: Sequence[Topic],
        *,
        galaxy: WeightedGalaxy | None = None,
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
        if unsure not in UNSURE:
            raise ConfigError(
                f"TREASURE_TOPIC_UNSURE must be drop or keep. Got {unsure!r} instead."
            )
        self.topics = tuple(topics)
        self.galaxy = galaxy
        self.threshold = threshold
        self.languages = frozenset(languages)
        self.min_words = min_words
        self.unsure = unsure
        self._lexicon = galaxy.lexicon if galaxy is not None else Lexicon.load()
        self._frequencies = DocumentFrequencies()
        for text in [*lexicon_texts(self._lexicon), *english_texts()]:
            self._frequencies.add(text.terms)
        self._random = np.random.default_rng(random_seed)
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()
        self._seen = 0
        self._refit_at = FIRST_REFIT
        self._unlabelled: list[Document] = []
        self._labelled: list[tuple[int, Document]] = []
        """What people said during the crawl: the topic's place or -1, and the text."""
        by_topic = examples if isinstance(examples, Mapping) else {t.name: examples for t in topics}
        self._examples = [
            [self._count(page) for page in self._telling(by_topic.get(topic.name, ()), "example")]
            for topic in topics
        ]
        self._negatives = [
            self._count(page) for page in self._telling(negatives, "negative example")
        ]
        for page in background:
            self._collect(self._count(page))
        self._fitted: list[PageModel] = []
        self._beside = False
        self._fitting: threading.Thread | None = None
        self._starting = threading.Lock()
        """Held by whoever starts a fit, or asks for the one that was started."""

    # -- verdicts

    def verdict(self, page: Page) -> Verdict:
        """Return the verdict on *page*: made at the first call, the same ever after."""
        verdict = self._verdicts.get(page.url)
        if verdict is None:
            verdict = self._verdicts[page.url] = self._judge(page)
            if len(self._verdicts) > REMEMBERED:
                self._verdicts.popitem(last=False)
        return verdict

    def relabel(self, page: Page, on_topic: bool) -> Verdict:
        """Take in what a person says of *page*: from now on it is an example, or a negative one."""
        before = self.verdict(page)
        best = next((i for i, t in enumerate(self.topics) if t.name == before.topic), 0)
        if self._telling([page], "labelled page"):
            self._label(best if on_topic else -1, page_document(page))
            self._renew()
        verdict = replace(
            before, relevance=float(on_topic), on_topic=on_topic, unsure=False, reason="labelled"
        )
        self._verdicts[page.url] = verdict
        return verdict

    # -- any text

    def text_relevance(self, terms: NDArray[np.int32]) -> float:
        """Return how much any text (anchor, context, URL words) is about the topics, 0 to 1."""
        text = document(terms)
        return max(model.probability(model.margin(text)) for model in self.models)

    @property
    def tables(self) -> tuple[list[tuple[Floats, float, float]], Floats, Floats]:
        """What ``core`` judges short texts by: models, weights of D-numbers, rarity of words.

        A page of many words is told by its model; of a name such as "Ganymede" the lexicon knows
        more than any model of pages.
        """
        return [model.line for model in self.models], self._dewey, english_rarity()

    # -- learning

    def refit(self) -> None:
        """Fit every topic's model to what was seen so far."""
        self._fitted = self._fit_of_now()()

    def work_beside(self) -> None:
        """Fit in a thread from now on, beginning with the first fit."""
        self._beside = True
        if not self._fitted:
            self._renew()

    def prepare(self) -> None:
        """Do what the first verdict would have to wait for; may run in any thread, once."""
        self._first_fit()
        english_rarity()
        _ = self._dewey
        if self.galaxy is not None:
            self.galaxy.numbers(np.empty(0, np.int32))

    def wait(self) -> None:
        """Return when no fit is under way."""
        with self._starting:
            fitting = self._fitting
        if fitting is not None:
            fitting.join()

    @property
    def models(self) -> Sequence[PageModel]:
        """What texts are judged by, one a topic; another list after every fit."""
        if not self._fitted:
            self._first_fit()
        return self._fitted

    def _first_fit(self) -> None:
        self.wait()
        if not self._fitted:
            self.refit()

    @cached_property
    def _dewey(self) -> Floats:
        return np.stack(dewey_weights(self.topics, self._lexicon), axis=1)

    @cached_property
    def _priors(self) -> list[Floats]:
        return [topic_prior(topic, self._lexicon) for topic in self.topics]

    def _renew(self) -> None:
        """Fit again, here or beside; a fit that is still under way will do."""
        if not self._beside:
            self.refit()
            return
        with self._starting:
            if self._fitting is None or not self._fitting.is_alive():
                work = self._fit_of_now()

                def fit_beside() -> None:
                    self._fitted = work()

                self._fitting = threading.Thread(target=fit_beside, name="judge", daemon=True)
                self._fitting.start()

    def _fit_of_now(self) -> Callable[[], list[PageModel]]:
        """Return the work of a fit to what is known now, whatever is learned meanwhile."""
        before, frequencies = self._fitted, deepcopy(self._frequencies)
        examples = [list(texts) for texts in self._examples]
        seen, given = list(self._unlabelled), list(self._negatives)
        # Common English stands for the web until enough of the web was seen.
        english = english_texts()[: max(ALWAYS, ENOUGH - len(seen))]

        def model(index: int, models: list[PageModel]) -> PageModel:
            others = [t for i, texts in enumerate(examples) if i != index for t in texts]
            negatives = [*english, *given, *others, *seen]
            doubt = np.zeros(len(negatives))
            prior = fit([], [], doubt[:0], frequencies, self._priors[index])
            if len(given) + len(others) + len(seen) < FEW:
                return prior
            # Both must find a page likely before it is doubted as a negative: a model that decides
            # alone what it learns from ends up believing that everything is on topic.
            told = models[index] if models else prior
            chances = [m.probabilities(m.margins(seen)) for m in (prior, told)]
            doubt[len(negatives) - len(seen) :] = np.sqrt(chances[0] * chances[1])
            return fit(examples[index], negatives, doubt, frequencies, self._priors[index])

        def work() -> list[PageModel]:
            models = before
            # The first time twice: only then is it known which of them may be on topic.
            for _ in range(2 if seen and not before else 1):
                models = [model(index, models) for index in range(len(self.topics))]
            return models

        return work

    def state(self) -> bytes:
        """Return what was learned: counts, the sample of pages seen, and what people said."""
        return msgspec.msgpack.encode(
            {
                "frequencies": self._frequencies.state(),
                "unlabelled": pack_documents(self._unlabelled),
                "labelled": pack_documents([text for _, text in self._labelled]),
                "labels": [label for label, _ in self._labelled],
                "seen": self._seen,
                "refit_at": self._refit_at,
            }
        )

    def restore(self, state: bytes) -> None:
        """Go on from what ``state`` returned; topics and examples are those of this judge."""
        saved = msgspec.msgpack.decode(state)
        self.wait()
        self._frequencies.restore(saved["frequencies"])
        self._unlabelled = unpack_documents(saved["unlabelled"])
        for label, text in zip(saved["labels"], unpack_documents(saved["labelled"]), strict=True):
            self._label(label, text)
        self._seen, self._refit_at = saved["seen"], saved["refit_at"]
        if self._fitted:
            self._renew()

    def _judge(self, page: Page) -> Verdict:
        if not self._fitted:
            self._first_fit()  # before this page counts
        text = self._count(page)
        self._collect(text)
        if self._seen >= self._refit_at:
            self._refit_at = int(self._seen * REFIT_GROWTH) + 1
            if any(self._examples):
                self._renew()
        chances = [model.probability(model.margin(text)) for model in self.models]
        best = chances.index(max(chances))
        verdict = Verdict(
            chances[best],
            chances[best] >= self.threshold,
            self.topics[best].name,
            self._numbers(page),
        )
        language = self._foreign(page)
        if language:
            reason = f"language {language}"
            return replace(verdict, relevance=0.0, on_topic=False, unsure=True, reason=reason)
        length = own_words(page.block_table)
        if length < self.min_words:
            reason = f"only {length} words to judge by"
            return replace(verdict, on_topic=self.unsure == "keep", unsure=True, reason=reason)
        return verdict

    def _numbers(self, page: Page) -> tuple[tuple[str, float], ...]:
        return self.galaxy.numbers(page.main_terms, NUMBERS) if self.galaxy else ()

    def _foreign(self, page: Page) -> str:
        """Return the page's language when it is none of those asked for."""
        if not self.languages:
            return ""
        language = page.language or guess(page.words)
        return language if language and language not in self.languages else ""

    def _telling(self, pages: Sequence[Page], what: str) -> list[Page]:
        """Return those of *pages* that can be learned from.

        Of mere frames, redirects and shells of scripts all pages have something.
        """
        telling = []
        for page in pages:
            words = own_words(page.block_table)
            if words >= self.min_words:
                telling.append(page)
            else:
                logger.warning(
                    "Nothing is learned from the %s %s: it has %d words of its own, and %d are"
                    " needed.",
                    what,
                    page.url,
                    words,
                    self.min_words,
                )
        return telling

    def _label(self, label: int, text: Document) -> None:
        self._labelled.append((label, text))
        (self._negatives if label < 0 else self._examples[label]).append(text)

    def _count(self, page: Page) -> Document:
        text = page_document(page)
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


def page_document(page: Page) -> Document:
    """Return the page's main text without lists of mere links; title and headings count twice."""
    spans = told(page.block_table, page.links, MERE_LINKS, TOLD)
    headings = [heading.span for heading in page.headings]
    title = page.title_span
    return Document(*counted(page.terms, [title, *spans, title, *headings]))
