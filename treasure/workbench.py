"""Workbench: the domain objects of one crawl, built from its settings.

The Scrapy adapters of a crawl share one workbench; tools and tests build one without Scrapy.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from treasure import core, interpreter
from treasure.addresses import AddressPolicy
from treasure.admission import Admission
from treasure.config import TreasureConfig
from treasure.crawl import Crawl
from treasure.ddc.judge import Judge
from treasure.ddc.language import language_codes
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.weighted import WeightedGalaxy
from treasure.errors import ConfigError, GraphError, JobError, RepositoryUnavailable
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.frontier import open_frontier
from treasure.frontier.base import Frontier
from treasure.given import Given, load_given, pages_of
from treasure.host_clock import HostClock
from treasure.pages import Page
from treasure.repository.rejudge import STATE_GROUNDS, grounds
from treasure.repository.store import Store
from treasure.speed import parse_windows
from treasure.strategies import make_strategy
from treasure.strategies.base import Brief, Strategy
from treasure.tgraph.graph import TGraph
from treasure.tgraph.store import STATE_GRAPH
from treasure.tgraph.watchdog import Watchdog
from treasure.topic_reader import has_words, read_topics
from treasure.topics import Topic, merge
from treasure.urls import url_key

logger = logging.getLogger(__name__)

STATE_STRATEGY = "strategy"
STATE_JUDGE = "judge"


@dataclass
class Workbench:
    """What one crawl works with."""

    config: TreasureConfig
    job: str
    topics: Sequence[Topic]
    seeds: Sequence[str]
    crawl: Crawl
    frontier: Frontier
    store: Store
    admission: Admission
    web: VirtualWeb | None = None
    watchdog: Watchdog | None = None
    clock: Callable[[], float] = time.monotonic
    missing: Sequence[str] = field(default_factory=list)
    """Inputs that the strategy would have liked and did not get."""
    given: dict[int, Given] = field(default_factory=dict)
    """Examples by the keys of their URLs, until the crawl meets them."""

    @property
    def folder(self) -> Path:
        """Where this crawl keeps its files."""
        return job_folder(self.config, self.job)

    def learned(self) -> list[tuple[str, Callable[[], bytes]]]:
        """Return what can be kept of this crawl: its kind, and what packs it."""
        parts = [
            (STATE_STRATEGY, self.crawl.strategy.state),
            (STATE_JUDGE, self.crawl.judge.state),
        ]
        if self.watchdog is not None:
            parts.append((STATE_GRAPH, self.watchdog.graph.to_bytes))
        return parts

    def save(self) -> None:
        """Keep what was learned, so that the job can go on later."""
        for kind, pack in self.learned():
            self.store.save_state(self.job, kind, pack())

    def begun(self) -> None:
        """Prepare the judge while the first request is on its way, beside the crawl.

        Not for an archive: its pages come in the same order every time, and so must its verdicts.
        """
        if not self.config.web:
            self.crawl.judge.work_beside()

    def prepare(self) -> None:
        """Load what the first page needs; may run in any thread."""
        self.crawl.judge.prepare()
        interpreter.leave_alone()  # scikit-learn alone is 60,000 objects

    def close(self) -> None:
        """Let go of files and servers."""
        self.frontier.close()
        self.store.close()


def job_folder(config: TreasureConfig, job: str) -> Path:
    """Return the folder of *job*; job names are checked, they never lead elsewhere."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", job):
        raise ConfigError(
            f"The job name {job!r} must be letters, digits, '.', '_' or '-', at most 100 of them."
        )
    return Path(config.runs_dir) / job


def job_name(config: TreasureConfig, topics: Sequence[Topic]) -> str:
    """Return the job's name: as given, or made of topic and time."""
    if config.job:
        return config.job
    slug = re.sub(r"[^a-z0-9]+", "-", topics[0].name.lower()).strip("-")[:40] or "crawl"
    return f"{slug}-{time.strftime('%Y%m%d-%H%M%S')}"


def repository_url(config: TreasureConfig) -> str:
    """Return the SQLAlchemy URL of the repository."""
    return config.repository or f"sqlite:///{Path(config.runs_dir) / 'treasure.db'}"


def make_folder(folder: Path) -> None:
    """Make the folder of a job; raise ConfigError where we may not write."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be written: {error.strerror}. Give another with"
            " TREASURE_RUNS_DIR."
        ) from None


def build(config: TreasureConfig, seeds: Sequence[str], *, seeds_needed: bool = False) -> Workbench:
    """Build everything a crawl needs; raise UserError for whatever the user must mend.

    With *seeds_needed*, a new job without seeds is such a mistake. A job that goes on needs none.
    """
    topics = topics_of(config)
    for note in (note for topic in topics for note in topic.notes):
        logger.info("%s", note)
    # What is wrong in these is told before anything is opened.
    parse_windows(config.speed_windows)
    AddressPolicy(config.allowed_networks)
    job = job_name(config, topics)
    make_folder(Path(config.runs_dir))
    if (clock := open_host_clock(config)) is not None:
        clock.close()  # made before the first request: a link must not fail for want of it
    web = VirtualWeb.open(config.web) if config.web else None
    if web is not None and web.damaged_bytes:
        logger.warning("%d bytes of %s could not be read.", web.damaged_bytes, web.path)
    if not core.COMPILED:
        logger.warning("%s `treasure doctor` says what to do.", core.SLOW)
    examples, negatives = given_pages(config, topics, web)
    _check_words(topics, examples)
    store = _open_store(repository_url(config))
    try:
        if store.load_state(job, STATE_GROUNDS) is None:
            store.save_state(job, STATE_GROUNDS, grounds(config, topics))
        crawl, watchdog, missing = _decisions(
            config, job, topics, seeds, pages_of(examples), pages_of(negatives), store
        )
        make_folder(job_folder(config, job))
        frontier = open_frontier(config, job)
        if seeds_needed and not seeds and not frontier.counts().queued:
            frontier.close()
            raise ConfigError(
                "A crawl needs seeds: -a seeds=<file with one URL a line, or comma list of URLs>."
            )
    except BaseException:
        store.close()
        raise
    admission = Admission.from_config(config)
    if admission.has_budgets:
        for url in store.fetched_urls(job):
            admission.count(url)
    return Workbench(
        config,
        job,
        topics,
        seeds,
        crawl,
        frontier,
        store,
        admission,
        web,
        watchdog,
        missing=missing,
        given={url_key(given.page.url): given for given in examples},
    )


def open_host_clock(config: TreasureConfig) -> HostClock | None:
    """Open the clock that all jobs of this machine share, where they are to keep to it."""
    if config.host_clock and config.host_delay_seconds and not config.web:
        return HostClock(Path(config.runs_dir) / "hosts.clock")
    return None


def _open_store(url: str) -> Store:
    """Open the repository. A server may answer later; a file is as somebody left it."""
    try:
        return Store.open(url)
    except RepositoryUnavailable as error:
        if not url.startswith("sqlite"):
            raise
        raise ConfigError(f"{error}.") from None


def topics_of(config: TreasureConfig) -> list[Topic]:
    """Return the topics that the settings name, as the lexicon that they name understands them."""
    if not config.topic:
        raise ConfigError("A crawl needs a topic: -a topic=<Dewey number, name or topic file>.")
    return read_topics(config.topic, Lexicon.load(config.ddc_lexicon or None))


def given_pages(
    config: TreasureConfig, topics: Sequence[Topic], web: VirtualWeb | None
) -> tuple[list[Given], list[Given]]:
    """Return the examples and the negative ones: those of the settings, then those of *topics*."""
    topic = merge(topics)
    policy = AddressPolicy(config.allowed_networks)
    load = partial(load_given, web=web, policy=policy, contact=config.contact)
    return (
        load([*config.examples, *topic.examples], what="example"),
        load([*config.negatives, *topic.negatives], what="negative example"),
    )


def _check_words(topics: Sequence[Topic], examples: Sequence[Given]) -> None:
    """Raise ConfigError when there is nothing to recognise the pages of a topic by."""
    mute = next((topic for topic in topics if not has_words(topic)), None)
    if mute is not None and not examples:
        raise ConfigError(
            f"The topic {mute.name!r} has no word to recognise pages by. Give a topic file with"
            " keywords or a description, or examples with -a examples=."
        )


def make_judge(
    config: TreasureConfig,
    topics: Sequence[Topic],
    examples: Sequence[Page] = (),
    negatives: Sequence[Page] = (),
) -> Judge:
    """Return the judge that these settings describe, before it has seen a page.

    *examples* are the pages behind the examples of *config*, then those of *topics*.
    """
    galaxy = WeightedGalaxy(Lexicon.load(config.ddc_lexicon or None))
    return Judge(
        topics,
        galaxy=galaxy,
        threshold=config.topic_threshold,
        examples=_by_topic(config, topics, examples, galaxy),
        negatives=negatives,
        languages=language_codes(config.topic_languages, "TREASURE_TOPIC_LANGUAGES")
        or merge(topics).languages,
        min_words=config.topic_min_words,
        unsure=config.topic_unsure,
        random_seed=config.random_seed,
    )


def _by_topic(
    config: TreasureConfig,
    topics: Sequence[Topic],
    examples: Sequence[Page],
    galaxy: WeightedGalaxy,
) -> dict[str, list[Page]]:
    """Give each example to the topics that name it; what was given for all, to the one it fits."""
    if len(topics) == 1 or not examples:
        return {topic.name: list(examples) for topic in topics}
    shares: dict[str, list[Page]] = {topic.name: [] for topic in topics}
    sources = [*config.examples, *merge(topics).examples]
    cold = Judge(topics, galaxy=galaxy)
    for source, page in zip(sources, examples, strict=True):
        owners = [topic.name for topic in topics if source in topic.examples]
        for owner in owners or [cold.verdict(page).topic]:
            shares[owner].append(page)
    return shares


def _decisions(
    config: TreasureConfig,
    job: str,
    topics: Sequence[Topic],
    seeds: Sequence[str],
    examples: Sequence[Page],
    negatives: Sequence[Page],
    store: Store,
) -> tuple[Crawl, Watchdog | None, list[str]]:
    topic = merge(topics)
    judge = make_judge(config, topics, examples, negatives)
    graph = _graph(config, job, topic, store)
    brief = Brief(
        topic=topic,
        judge=judge,
        seeds=seeds,
        examples=examples,
        negatives=negatives,
        graph=graph,
        random_seed=config.random_seed,
        options=config.strategy_options,
    )
    strategy = make_strategy(config.strategy, brief)
    missing = sorted(want for want in strategy.wants if not getattr(brief, want))
    for part, kind in ((judge, STATE_JUDGE), (strategy, STATE_STRATEGY)):
        _restore(part, kind, job, store)
    watchdog = None
    if config.tgraph_watchdog:
        # A larger graph that was given keeps its size.
        watchdog = Watchdog(graph, max_nodes=max(config.tgraph_max_nodes, len(graph)))
    observers = [watchdog] if watchdog is not None else []
    return Crawl(judge, strategy, observers), watchdog, missing


def _restore(part: Judge | Strategy, kind: str, job: str, store: Store) -> None:
    """Let *part* go on from what it had learned in this job."""
    state = store.load_state(job, kind)
    if not state:
        return
    try:
        part.restore(state)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise JobError(
            f"What the {kind} of job {job} had learned was kept by another version of Treasure"
            f" ({type(error).__name__}: {error}). Go on with that version, or start a new job."
        ) from None


def _graph(config: TreasureConfig, job: str, topic: Topic, store: Store) -> TGraph:
    """Return the job's own graph, the one that was asked for, or an empty one."""
    state = store.load_state(job, STATE_GRAPH)
    if state:
        graph = TGraph.from_bytes(state)
        try:
            graph.check_topic(topic)
        except GraphError:
            raise JobError(
                f"The job {job} is about {graph.topic!r}, this crawl about {topic.name!r}. Give it"
                " another name with -a job=, or go on with the topic of the job."
            ) from None
        return graph
    if config.tgraph:
        return TGraph.load(config.tgraph, topic=topic, repository=store)
    return TGraph.empty(topic, levels=config.tgraph_levels, threshold=config.tgraph_threshold)
