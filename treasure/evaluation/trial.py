"""One trial: a strategy on a topic of a web, from certain seeds with certain inputs.

What a strategy is given depends on the inputs chosen for the whole comparison, so that all get the
same. Examples are drawn from the targets and background from all pages, by a random seed; what a
strategy would have liked and did not get is written into the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from treasure.crawl import Crawl, Observer
from treasure.ddc.judge import Judge
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.weighted import WeightedGalaxy
from treasure.errors import ConfigError, WebError, did_you_mean
from treasure.evaluation.metrics import Figures, figures, hit_curve
from treasure.evaluation.oracle import Graph, landings, oracle_hits
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import Fetch, simulate
from treasure.evaluation.virtual_web import VirtualWeb, WebTopic, truth, understood_topic
from treasure.pages import Page
from treasure.strategies import make_strategy
from treasure.strategies.base import Brief
from treasure.tgraph.graph import TGraph
from treasure.tgraph.watchdog import Watchdog
from treasure.urls import canonical


class Trial(msgspec.Struct, frozen=True):
    """What is tried. Two equal trials give equal results."""

    topic: str
    strategy: str
    seeds: str = "generic"
    marks: tuple[int, ...] = (200, 500, 1500)
    examples: int = 0
    background: int = 0
    repeat: int = 0
    options: dict[str, Any] = {}


class Result(msgspec.Struct, frozen=True):
    """What came of it."""

    trial: Trial
    figures: list[Figures]
    curve: list[int]
    oracle: list[int]
    targets: int
    missing: list[str] = []
    """Inputs that the strategy would have liked and did not get."""


@dataclass(frozen=True)
class Inputs:
    """What was drawn for a trial."""

    examples: list[Page] = field(default_factory=list)
    background: list[Page] = field(default_factory=list)

    @property
    def training(self) -> frozenset[str]:
        """Addresses of example pages, which count neither as found nor as missed."""
        return frozenset(page.url for page in self.examples)


def run(web: ParsedWeb, graph: Graph, topic: WebTopic, trial: Trial) -> Result:
    """Run *trial* and measure it."""
    inputs = draw(web, topic, trial)
    seeds = seeds_of(web.web, topic, trial.seeds)
    crawl = build(topic, seeds, inputs, trial)
    fetches = list(simulate(web, crawl, seeds, max(trial.marks)))
    strategy = crawl.strategy
    missing = sorted(want for want in strategy.wants if not getattr(strategy.brief, want))
    return measured(web, graph, topic, trial, inputs, fetches, missing)


def measured(
    web: ParsedWeb,
    graph: Graph,
    topic: WebTopic,
    trial: Trial,
    inputs: Inputs,
    fetches: list[Fetch],
    missing: list[str],
) -> Result:
    """Hold what was fetched against the targets, and against what the oracle finds."""
    targets = truth(topic) - inputs.training
    landed = landings(web, seeds_of(web.web, topic, trial.seeds))
    oracle = oracle_hits(graph, landed, targets, max(trial.marks), inputs.training)
    return Result(
        trial,
        figures(fetches, targets, inputs.training, oracle, trial.marks),
        hit_curve(fetches, targets),
        oracle,
        len(targets),
        missing,
    )


def build(topic: WebTopic, seeds: list[str], inputs: Inputs, trial: Trial) -> Crawl:
    """Return the crawl of a trial: the objects that a real crawl would have."""
    understood = understood_topic(topic)
    judge = Judge(
        [understood],
        galaxy=WeightedGalaxy(Lexicon.load()),
        examples=inputs.examples,
        background=inputs.background,
        random_seed=trial.repeat,
    )
    graph = TGraph.empty(understood)
    brief = Brief(
        topic=understood,
        judge=judge,
        seeds=seeds,
        examples=inputs.examples,
        background=inputs.background,
        graph=graph,
        random_seed=trial.repeat,
        options=trial.options,
    )
    observers: list[Observer] = [Watchdog(graph)]
    return Crawl(judge, make_strategy(trial.strategy, brief), observers)


def draw(web: ParsedWeb, topic: WebTopic, trial: Trial) -> Inputs:
    """Draw examples and background for *trial*, the same ones for every strategy."""
    random = np.random.default_rng([trial.repeat, crc32(topic.name.encode())])
    return Inputs(
        _drawn(web, sorted(topic.targets), trial.examples, random),
        _drawn(web, sorted(web.web.urls()), trial.background, random),
    )


def _drawn(web: ParsedWeb, urls: list[str], count: int, random: np.random.Generator) -> list[Page]:
    pages: list[Page] = []
    for place in random.permutation(len(urls)).tolist() if count else []:
        if len(pages) == count:
            break
        page = web.answer(urls[place]).page
        if page is not None:
            pages.append(page)
    return pages


def seeds_of(web: VirtualWeb, topic: WebTopic, kind: str) -> list[str]:
    """Return the topic's seeds that *web* has; raise WebError when it has none of them."""
    seeds = [canonical(url) for url in (topic.seeds if kind == "generic" else topic.on_topic_seeds)]
    found = [url for url in seeds if url in web]
    if not found:
        raise WebError(
            f"The web {web.path} has none of the {kind} seeds of {topic.name!r}"
            f" ({', '.join(seeds) or 'there are none'}). Is this the web of these topics?"
        )
    return found


def missing_targets(web: VirtualWeb, topic: WebTopic) -> int:
    """Return how many of the topic's targets *web* has no page of; raise WebError when all."""
    missing = sum(not web.has_page(url) for url in topic.targets)
    if missing == len(topic.targets):
        raise WebError(
            f"None of the {missing} targets of {topic.name!r} is a page of the web {web.path}, so"
            " nothing can be measured. Is this the web of these topics? `treasure web info` tells"
            " what it holds."
        )
    return missing


def chosen_topics(topics: list[WebTopic], names: list[str]) -> list[WebTopic]:
    """Return the topics called *names*, all when none is named; each must have targets."""
    known = {topic.name: topic for topic in topics}
    if not known:
        raise WebError("There is no topic in topics.json, so nothing can be measured.")
    for name in names:
        if name not in known:
            raise ConfigError(
                f"There is no topic {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}."
            )
    chosen = [known[name] for name in names] if names else topics
    for topic in chosen:
        if not topic.targets:
            raise WebError(
                f"The topic {topic.name!r} has no targets, so nothing can be measured with it."
                " Give it targets, or choose others with --topic."
            )
    return chosen
