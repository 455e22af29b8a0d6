"""The same trials through Scrapy: ``scrapy crawl treasure`` in a process of its own each.

Slower than the plain loop and measured the same way; it shows that what the loop says of a strategy
is what a crawl does. The order of fetches is read from the crawl's repository.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from treasure.crawl_command import crawl_command, crawl_environment
from treasure.errors import TreasureError
from treasure.evaluation.oracle import link_graph
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import Fetch
from treasure.evaluation.trial import (
    Inputs,
    Result,
    Trial,
    draw,
    measured,
    seeds_of,
)
from treasure.evaluation.virtual_web import WebTopic, understood_topic
from treasure.repository.models import pages
from treasure.repository.store import Store
from treasure.strategies import strategy_class
from treasure.topic_reader import write_topic_file

JOB = "evaluation"


class CrawlFailed(TreasureError):
    """A crawl of the evaluation ended badly; says how."""


def compare_with_scrapy(
    web_path: Path,
    topics: Sequence[WebTopic],
    trials: Sequence[Trial],
    progress: Callable[[int, int, Trial], None] | None = None,
) -> list[Result]:
    """Run *trials* through Scrapy, one after the other."""
    web = ParsedWeb.open(web_path)
    graph = link_graph(web)
    known = {topic.name: topic for topic in topics}
    results = []
    for done, trial in enumerate(trials, 1):
        topic = known[trial.topic]
        inputs = draw(web, topic, trial)
        seeds = seeds_of(web.web, topic, trial.seeds)
        examples = [page.url for page in inputs.examples]
        fetches = crawl(web_path, topic, seeds, examples, trial)
        missing = sorted(strategy_class(trial.strategy).wants & _not_given(inputs))
        results.append(measured(web, graph, topic, trial, inputs, fetches, missing))
        if progress is not None:
            progress(done, len(trials), trial)
    return results


def _not_given(inputs: Inputs) -> frozenset[str]:
    """Return the inputs that the crawl goes without; background it never has."""
    return frozenset({"background"} if inputs.examples else {"background", "examples"})


def crawl(
    web: Path, topic: WebTopic, seeds: Sequence[str], examples: Sequence[str], trial: Trial
) -> list[Fetch]:
    """Crawl with Scrapy and return the fetches in their order; what was given is no fetch."""
    with tempfile.TemporaryDirectory(prefix="treasure-evaluation-") as name:
        folder = Path(name)
        told = replace(understood_topic(topic), examples=tuple(examples))
        repository = f"sqlite:///{folder / 'pages.db'}"
        arguments = {
            "topic": write_topic_file(folder / "topic.toml", told),
            "seeds": ",".join(seeds),
            "web": web.resolve(),
            "strategy": trial.strategy,
            "strategy_options": json.dumps(trial.options),
            "random_seed": trial.repeat,
            "max_pages": max(trial.marks),
            "job": JOB,
            "runs_dir": folder,
            "repository": repository,
            "frontier": "memory",
        }
        done = subprocess.run(
            crawl_command(arguments),
            env=crawl_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        fetches = _fetches(repository) if (folder / "pages.db").exists() else []
        if done.returncode or not fetches:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise CrawlFailed(f"The crawl of {topic.name} ended badly: {last[0]}")
        return [fetch for fetch in fetches if fetch.url not in examples]


def _fetches(repository: str) -> list[Fetch]:
    store = Store.open(repository)
    columns = (
        pages.c.final_url,
        pages.c.url,
        pages.c.status,
        pages.c.relevance,
        pages.c.on_topic,
        pages.c.score,
        pages.c.referrer,
    )
    try:
        with store.reading() as connection:
            rows = connection.execute(select(*columns).order_by(pages.c.id)).all()
    finally:
        store.close()
    return [
        Fetch(final or url, status == 200, relevance, bool(on_topic), score, referrer or "", 0.0)
        for final, url, status, relevance, on_topic, score, referrer in rows
        if not 300 <= status < 400  # a hop costs nothing
    ]
