"""Rejudge: verdicts anew when the topic, the lexicon or a threshold changed.

A job remembers what its verdicts were made with. Where that differs now, every page whose HTML is
stored is judged again; what fell off topic leaves search, what came on topic enters it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import select, update

from treasure.config import TreasureConfig
from treasure.errors import UnreadablePageError
from treasure.extract import decode, read_page
from treasure.pages import Page, Verdict
from treasure.repository import packing
from treasure.repository.database import upsert
from treasure.repository.models import bodies, contents, pages, unfinished
from treasure.repository.store import Store
from treasure.topics import Topic

STATE_GROUNDS = "grounds"
"""Kind of state: what a job's verdicts were made with."""
BATCH_PAGES = 100
LEAST_DIFFERENCE = 0.005


@dataclass
class Rejudged:
    """What came of it."""

    judged: int = 0
    now_on_topic: int = 0
    now_off_topic: int = 0
    unreadable: int = 0


def grounds(config: TreasureConfig, topics: Sequence[Topic]) -> bytes:
    """Return a digest of everything that verdicts depend on."""
    parts = [repr(sorted(map(repr, topics))), repr(config.topic_threshold), config.topic_unsure]
    parts += [repr(config.topic_languages), repr(config.topic_min_words)]
    digest = hashlib.blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16)
    lexicon = (
        Path(config.ddc_lexicon).read_bytes()
        if config.ddc_lexicon
        else files("treasure.ddc").joinpath("data/lexicon.bin").read_bytes()
    )
    digest.update(lexicon)
    return digest.digest()


def rejudge(store: Store, job: str, judge: Callable[[Page], Verdict]) -> Rejudged:
    """Give every page of *job* whose HTML is stored its verdict anew."""
    done = Rejudged()
    for rows in _batches(store, job):
        changed: list[tuple[int, dict[str, Any]]] = []
        for row in rows:
            try:
                html = decode(packing.decompress(row.html), row.headers.get("Content-Type", ""))
                verdict = judge(read_page(row.final_url or row.url, html))
            except UnreadablePageError:
                done.unreadable += 1
                continue
            done.judged += 1
            done.now_on_topic += verdict.on_topic and not row.on_topic
            done.now_off_topic += row.on_topic and not verdict.on_topic
            if _differs(row, verdict):
                changed.append((row.id, _values(verdict)))
        with store.writing() as connection:
            for page_id, values in changed:
                connection.execute(update(pages).where(pages.c.id == page_id).values(values))
            queue = [{"page_id": page_id} for page_id, _ in changed]
            upsert(connection, unfinished, queue, ("page_id",))
    return done


def _batches(store: Store, job: str) -> Iterator[Sequence[Any]]:
    last = 0
    while True:
        query = (
            select(
                pages.c.id,
                pages.c.url,
                pages.c.final_url,
                pages.c.headers,
                pages.c.on_topic,
                pages.c.relevance,
                pages.c.topic,
                pages.c.numbers,
                bodies.c.html,
            )
            .join(contents, contents.c.page_id == pages.c.id)
            .join(bodies, bodies.c.id == contents.c.body_id)
            .where(pages.c.job == job, pages.c.id > last)
            .order_by(pages.c.id)
            .limit(BATCH_PAGES)
        )
        with store.reading() as connection:
            rows = connection.execute(query).all()
        if not rows:
            return
        last = rows[-1].id
        yield rows


def _differs(row: Any, verdict: Verdict) -> bool:
    return (
        row.on_topic != verdict.on_topic
        or row.topic != verdict.topic
        or abs(row.relevance - verdict.relevance) > LEAST_DIFFERENCE
        or [number for number, _ in row.numbers] != [number for number, _ in verdict.numbers]
    )


def _values(verdict: Verdict) -> dict[str, Any]:
    return {
        "relevance": verdict.relevance,
        "on_topic": verdict.on_topic,
        "unsure": verdict.unsure,
        "topic": verdict.topic,
        "reason": verdict.reason,
        "numbers": packing.numbers(verdict.numbers),
    }
