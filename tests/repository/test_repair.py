"""Checking, mending, giving back space."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select, text

from tests.repository.conftest import links, record
from treasure.repository.finishing import finish_all
from treasure.repository.models import backlinks, bodies
from treasure.repository.repair import repair
from treasure.repository.search import search
from treasure.repository.store import Store


def fill(store: Store, pages: int = 20) -> None:
    store.write(
        [
            record(f"https://a.example/{i}", text=f"Giant number{i}.", html=bytes([i]) * 9_000, links=links(f"https://b.example/{i}"))
            for i in range(pages)
        ]
    )  # fmt: skip
    finish_all(store, method="blocks")


def test_a_sound_repository_stays_as_it_is(store: Store) -> None:
    fill(store)
    done = repair(store)
    assert done.problems == []
    assert (done.index_rebuilt, done.bodies_removed, done.backlinks_removed) == (False, 0, 0)
    assert search(store, "giant").total == 20
    store.write([record()])
    finish_all(store, method="blocks")
    assert search(store, "giant").total == 21


def test_a_broken_index_is_made_anew(lite: Store) -> None:
    fill(lite)
    with lite.writing() as connection:
        connection.execute(text("DELETE FROM search_data WHERE id > 10"))
    done = repair(lite)
    assert done.index_rebuilt
    assert len(done.problems) == 1
    assert search(lite, "giant").total == 20
    assert repair(lite).problems == []


def test_an_index_that_misses_pages_is_made_anew(lite: Store) -> None:
    fill(lite)
    with lite.writing() as connection:
        connection.execute(text("DROP TRIGGER search_change"))
        connection.execute(text("UPDATE contents SET searchable = 0 WHERE page_id <= 5"))
    assert repair(lite).index_rebuilt
    assert search(lite, "giant").total == 15


def test_bodies_and_links_that_nobody_needs_go(store: Store) -> None:
    fill(store)
    store.write([record(f"https://a.example/{i}", on_topic=False, text="") for i in range(20)])
    finish_all(store)
    assert repair(store).bodies_removed == 20
    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(bodies)).scalar() == 0
        assert connection.execute(select(func.count()).select_from(backlinks)).scalar() == 0


def test_unused_space_is_given_back(lite: Store, tmp_path: Path) -> None:
    import os

    lite.write([record(f"https://a.example/{i}", html=os.urandom(20_000)) for i in range(60)])
    repair(lite)
    before = (tmp_path / "lite.db").stat().st_size
    lite.write([record(f"https://a.example/{i}", html=b"", text="") for i in range(60)])
    done = repair(lite)
    assert done.bytes_freed > 0
    assert (tmp_path / "lite.db").stat().st_size < before / 2
