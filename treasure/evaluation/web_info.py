"""What is in a virtual web: counts for people and programs, and where its two files are."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from treasure.evaluation.virtual_web import VirtualWeb, WebTopic, read_web_topics
from treasure.evaluation.web_writer import TOPICS, WEB
from treasure.urls import host_of

BIGGEST = 10
"""Hosts that are shown."""


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic of a web; targets that the web does not have can never be found."""

    name: str
    ddc: str
    targets: int
    missing_targets: int
    missing_seeds: int


@dataclass(frozen=True, slots=True)
class WebInfo:
    """Counts of a virtual web."""

    file: str
    pages: int
    """Answers with status 200 that are HTML."""
    responses: int
    hosts: int
    bytes: int
    statuses: dict[str, int]
    content_types: dict[str, int]
    biggest_hosts: dict[str, int]
    damaged_bytes: int
    topics: list[TopicInfo]

    def as_dict(self) -> dict[str, Any]:
        """Return the counts for programs."""
        return asdict(self)


def locate(web: str | Path) -> tuple[Path, Path]:
    """Return the WARC file and the topics of *web*, a file or a folder; both need not exist."""
    path = Path(web)
    return (path / WEB, path / TOPICS) if path.is_dir() else (path, path.with_name(TOPICS))


def describe(path: str | Path) -> WebInfo:
    """Read a whole web and count."""
    warc, topics = locate(path)
    web = VirtualWeb.open(warc)
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    pages = size = 0
    for url in web.urls():
        response = web.get(url)
        if response is None:
            continue
        kind = response.header("content-type").partition(";")[0].strip().lower() or "none"
        statuses[str(response.status)] += 1
        kinds[kind] += 1
        hosts[host_of(url)] += 1
        size += len(response.body)
        pages += response.is_page
    return WebInfo(
        file=str(warc),
        pages=pages,
        responses=sum(statuses.values()),
        hosts=len(hosts),
        bytes=size,
        statuses=dict(sorted(statuses.items())),
        content_types=dict(kinds.most_common()),
        biggest_hosts=dict(hosts.most_common(BIGGEST)),
        damaged_bytes=web.damaged_bytes,
        topics=[_topic(topic, web) for topic in read_web_topics(topics)] if topics.exists() else [],
    )


def _topic(topic: WebTopic, web: VirtualWeb) -> TopicInfo:
    return TopicInfo(
        topic.name,
        topic.ddc,
        len(topic.targets),
        sum(not web.has_page(url) for url in topic.targets),
        sum(url not in web for url in (*topic.seeds, *topic.on_topic_seeds)),
    )
