"""The demo: two real crawls of the demo web, focused and breadth-first, judged by its labels.

Each crawl is ``scrapy crawl treasure`` in a process of its own, exactly as a user would type it.
Everything is kept in one folder, which is emptied first, so that the demo starts anew every time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from treasure.crawl_command import crawl_command, crawl_environment
from treasure.errors import TopicError, TreasureError, did_you_mean
from treasure.evaluation.virtual_web import WebTopic, read_web_topics, understood_topic
from treasure.evaluation.web_writer import TOPICS, WEB
from treasure.harvest_picture import HarvestCurve
from treasure.progress import SUMMARY_LOG
from treasure.repository.models import pages
from treasure.repository.store import Store
from treasure.topic_reader import write_topic_file

JOB = "demo"
BASELINE = "breadth-first"
REPOSITORY = "treasure.db"


class DemoFailed(TreasureError):
    """A crawl of the demo ended badly; says where its log is."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A page that a crawl fetched."""

    url: str
    title: str
    relevance: float
    on_topic: bool
    """By the judge of the crawl."""
    target: bool
    """By the labels of the web."""


@dataclass(frozen=True)
class Outcome:
    """What a crawl of the demo brought."""

    name: str
    strategy: str
    fetched: Sequence[Fetch]
    targets: int
    stopped: str
    seconds: float
    repository: Path

    @property
    def found(self) -> int:
        """Targets fetched."""
        return len({fetch.url for fetch in self.fetched if fetch.target})

    @property
    def harvest_rate(self) -> float:
        """Share of the fetched pages that are targets."""
        return self.found / len(self.fetched) if self.fetched else 0.0

    @property
    def recall(self) -> float:
        """Share of the targets that were fetched."""
        return self.found / self.targets if self.targets else 0.0

    def curve(self) -> HarvestCurve:
        """Return the harvest curve; a target that is fetched twice counts once."""
        seen: set[str] = set()
        found = []
        for fetch in self.fetched:
            if fetch.target:
                seen.add(fetch.url)
            found.append(len(seen))
        return HarvestCurve(self.name, found)

    def best(self, count: int) -> list[Fetch]:
        """Return the pages that the judge likes best, the first fetched first among equals."""
        kept = [fetch for fetch in self.fetched if fetch.on_topic]
        return sorted(kept, key=lambda fetch: -round(fetch.relevance, 3))[:count]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome for programs."""
        return {
            "strategy": self.strategy,
            "pages": len(self.fetched),
            "found": self.found,
            "targets": self.targets,
            "harvest_rate": round(self.harvest_rate, 4),
            "recall": round(self.recall, 4),
            "judged_on_topic": sum(fetch.on_topic for fetch in self.fetched),
            "stopped": self.stopped,
            "seconds": round(self.seconds, 1),
            "repository": str(self.repository),
        }


def find_topic(folder: Path, name: str) -> WebTopic:
    """Return the topic of the demo web that *name* (or its Dewey number) means."""
    topics = read_web_topics(folder / TOPICS)
    for topic in topics:
        if name.strip().lower() in {topic.name, topic.ddc}:
            return topic
    names = [topic.name for topic in topics]
    raise TopicError(
        f"The demo web has no topic {name!r}.{did_you_mean(name.lower(), names)}"
        f" It has {', '.join(names)}."
    )


def crawl(
    folder: Path, topic: WebTopic, strategy: str, max_pages: int, *, job: str = JOB
) -> Outcome:
    """Crawl the web in *folder* for *topic*, from its generic seeds, anew."""
    runs = folder if job == JOB else folder / job
    _clean(runs, job)
    runs.mkdir(parents=True, exist_ok=True)
    log = runs / "crawl.log"
    log.unlink(missing_ok=True)
    arguments = {
        "topic": write_topic_file(runs / "topic.toml", understood_topic(topic)),
        "seeds": ",".join(topic.seeds),
        "web": folder / WEB,
        "strategy": strategy,
        "max_pages": max_pages,
        "job": job,
        "runs_dir": runs,
        "repository": f"sqlite:///{runs / REPOSITORY}",
    }
    command = crawl_command(arguments, "-s", f"LOG_FILE={log}")
    code = subprocess.run(
        command,
        env=crawl_environment(),
        stdout=subprocess.DEVNULL,
        check=False,
        start_new_session=True,  # Ctrl-C is for the demo, which ends the crawl
    ).returncode
    summary = _summary(log)
    if code or summary is None:
        raise DemoFailed(f"The {strategy} crawl ended with code {code}; its log is {log}.")
    outcome = _outcome(runs / REPOSITORY, topic, job, strategy, summary)
    if not outcome.fetched:
        raise DemoFailed(f"The {strategy} crawl stored no page; its log is {log}.")
    return outcome


def _clean(runs: Path, job: str) -> None:
    """Remove what an earlier demo left: repository and frontier, nothing else."""
    for file in runs.glob(REPOSITORY + "*"):
        file.unlink()
    shutil.rmtree(runs / job, ignore_errors=True)


def _summary(log: Path) -> dict[str, Any] | None:
    """Return what the crawl says of itself at its end."""
    if not log.exists():
        return None
    for line in reversed(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        if f"[{SUMMARY_LOG}]" in line:
            return dict(json.loads(line[line.index("{") :]))
    return None


def _outcome(
    repository: Path, topic: WebTopic, job: str, strategy: str, summary: dict[str, Any]
) -> Outcome:
    store = Store.open(f"sqlite:///{repository}")
    try:
        query = (
            select(
                pages.c.final_url, pages.c.url, pages.c.status, pages.c.relevance,
                pages.c.on_topic, pages.c.title, pages.c.fetched_at,
            )
            .where(pages.c.job == job)
            .order_by(pages.c.id)
        )  # fmt: skip
        with store.reading() as connection:
            rows = connection.execute(query).all()
    finally:
        store.close()
    fetched = [
        Fetch(final or url, title, relevance, bool(on_topic), (final or url) in topic.targets)
        for final, url, status, relevance, on_topic, title, _ in rows
        if not 300 <= status < 400  # a hop costs nothing
    ]
    times = [row[-1] for row in rows]
    name = "Treasure" if job == JOB else strategy
    return Outcome(
        name,
        strategy,
        fetched,
        len(topic.targets),
        str(summary["because"]),
        max(times) - min(times) if times else 0.0,
        repository,
    )
