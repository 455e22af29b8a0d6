"""Recall of a crawl, where its web knows the targets: ``topics.json`` beside the WARC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from treasure.errors import WebError
from treasure.evaluation.virtual_web import WebTopic, read_web_topics, truth
from treasure.evaluation.web_info import locate
from treasure.repository.harvest import CURVE_POINTS
from treasure.repository.models import pages
from treasure.repository.store import Store


def recall(store: Store, job: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return targets found and their curve over pages fetched; None where nobody knows them."""
    topic = _truth(job)
    targets = truth(topic) if topic is not None else frozenset()
    if not targets:
        return None
    query = (
        select(pages.c.url, pages.c.final_url)
        .where((pages.c.job == job["job"]) & ~pages.c.status.between(300, 399))
        .order_by(pages.c.fetched_at, pages.c.id)
    )
    found: set[str] = set()
    curve = [(0, 0.0)]
    with store.reading() as connection:
        for place, (url, final_url) in enumerate(connection.execute(query), 1):
            if (reached := final_url or url) in targets:
                found.add(reached)
            curve.append((place, round(len(found) / len(targets), 5)))
    step = max(1, len(curve) // CURVE_POINTS)
    return {
        "found": len(found),
        "targets": len(targets),
        "recall": curve[-1][1],
        "curve": [*curve[:-1:step], curve[-1]],
    }


def _truth(job: Mapping[str, Any]) -> WebTopic | None:
    """Return the topic of the crawled web that *job* is about."""
    settings = job["settings"]
    if not settings.get("TREASURE_WEB"):
        return None
    _, beside = locate(str(settings["TREASURE_WEB"]))
    names = {str(job["topic"]).lower(), str(settings.get("TREASURE_TOPIC", "")).lower()}
    try:
        topics = read_web_topics(beside) if beside.is_file() else []
    except (WebError, OSError):
        return None
    return next((one for one in topics if {one.name.lower(), one.ddc} & names), None)
