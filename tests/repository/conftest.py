"""A repository of each kind, and records to put into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from treasure.repository.records import LinkRecord, PageRecord
from treasure.repository.store import Store
from treasure.urls import canonical, url_key


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'treasure.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty repository of each kind."""
    store = Store.open(url)
    yield store
    store.close()


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[Store]:
    """An empty repository in SQLite, where the kind makes no difference."""
    store = Store.open(f"sqlite:///{tmp_path / 'lite.db'}")
    yield store
    store.close()


def record(url: str = "https://stars.example.org/", **values: Any) -> PageRecord:
    """A page on topic, as the crawl writes it."""
    url = canonical(url)
    defaults: dict[str, Any] = {
        "job": "stars",
        "key": url_key(url),
        "url": url,
        "final_url": url,
        "fetched_at": time.time(),
        "status": 200,
        "on_topic": True,
        "relevance": 0.8,
        "topic": "astronomy",
        "numbers": (("523.8", 0.6), ("520", 0.3)),
        "title": "Giant stars",
        "text": "Red giants are stars that have left the main sequence.",
        "language": "en",
    }
    return PageRecord(**(defaults | values))


@pytest.fixture
def make_record() -> Callable[..., PageRecord]:
    """The function above, for tests that like it as a fixture."""
    return record


def links(*urls: str) -> tuple[LinkRecord, ...]:
    """Links with falling scores."""
    return tuple(LinkRecord(u, 0.9 - i / 10, f"anchor {i}") for i, u in enumerate(urls))
