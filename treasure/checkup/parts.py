"""Checks of what a crawl works with: database, frontier, lexicon, topic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from treasure.checkup.findings import DISTRIBUTION, NOTE, OK, PROBLEM, WARNING, Finding
from treasure.checkup.machine import existing, writable
from treasure.config import TreasureConfig


def check_database(config: TreasureConfig) -> Iterator[Finding]:
    """Open the repository, write a line and take it back."""
    from sqlalchemy import insert

    from treasure.repository.database import parse, shown
    from treasure.repository.models import events
    from treasure.repository.store import Store
    from treasure.workbench import repository_url

    url = parse(repository_url(config))
    name = shown(url)
    if url.get_backend_name() == "sqlite":
        file = Path(str(url.database or ""))
        if not file.exists():
            place = existing(file.parent)
            if writable(place):
                yield Finding("database", OK, f"{name} does not exist yet and can be made.")
            else:
                yield Finding(
                    "database", PROBLEM, f"{name} cannot be made: files cannot be made in {place}.",
                    "Set TREASURE_REPOSITORY.",
                )  # fmt: skip
            return
    store = Store.open(url.render_as_string(hide_password=False))
    try:
        with store.writing() as connection:
            row = {"job": "doctor", "time": 0.0, "kind": "doctor", "text": "", "data": {}}
            connection.execute(insert(events).values(row))
            raise _TakenBack
    except _TakenBack:
        yield Finding("database", OK, f"{name} can be read and written; {store.count():,} pages.")
    finally:
        store.close()


class _TakenBack(Exception):
    """Rolls back what was written as a test."""


def check_frontier(config: TreasureConfig) -> Iterator[Finding]:
    """Look whether links have a place to wait."""
    home = config.frontier
    if home == "memory":
        yield Finding(
            "frontier", WARNING, "The frontier is in memory: a crawl that is killed starts anew.",
            "TREASURE_FRONTIER=embedded keeps it.",
        )  # fmt: skip
    elif home == "embedded":
        yield Finding("frontier", OK, f"The frontier is kept below {config.runs_dir}.")
    else:
        yield from _check_redis(home)


def _check_redis(url: str) -> Iterator[Finding]:
    try:
        import redis
    except ImportError:
        yield Finding(
            "frontier", PROBLEM, "The frontier needs the Python package redis.",
            f"pip install '{DISTRIBUTION}[redis]'",
        )  # fmt: skip
        return
    try:
        client = redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5)
    except ValueError:
        yield Finding(
            "frontier", PROBLEM, f"TREASURE_FRONTIER is {url.partition(':')[0][:40]!r}.",
            "Expected memory, embedded or a redis:// URL.",
        )  # fmt: skip
        return
    try:
        client.ping()
        yield Finding("frontier", OK, "The frontier's Redis answers.")
    except redis.RedisError as error:
        yield Finding(
            "frontier", PROBLEM, f"The frontier's Redis does not answer: {type(error).__name__}.",
            "Start it, or mend TREASURE_FRONTIER.",
        )  # fmt: skip
    finally:
        client.close()


def check_lexicon(config: TreasureConfig) -> Iterator[Finding]:
    """Load the Dewey lexicon."""
    from treasure.ddc.lexicon import Lexicon

    lexicon = Lexicon.load(config.ddc_lexicon or None)
    yield Finding("lexicon", OK, f"The Dewey lexicon has {lexicon.size:,} terms.")


def check_topic(topic: str, config: TreasureConfig) -> Iterator[Finding]:
    """Say what the topic is understood as."""
    from treasure.ddc.lexicon import Lexicon
    from treasure.ddc.numbers import written
    from treasure.topic_reader import read_topics

    if not topic:
        yield Finding("topic", NOTE, "No topic was given.", "Try --topic astronomy.")
        return
    for found in read_topics(topic, Lexicon.load(config.ddc_lexicon or None)):
        numbers = ", ".join(map(written, found.numbers)) or "no Dewey number"
        yield Finding("topic", OK, f"{found.name}: {numbers}.")
        for note in found.notes:
            yield Finding("topic", WARNING, note, "A topic file with keywords and examples helps.")
