"""Writing pages and reading them back, in SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from tests.repository.conftest import links, record
from treasure.errors import ConfigError, RepositoryUnavailable
from treasure.repository.models import backlinks, bodies, contents, unfinished
from treasure.repository.records import LinkRecord
from treasure.repository.store import Store


def rows(store: Store, table: object) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())  # type: ignore[arg-type]


def test_a_page_comes_back_with_all_measurements(store: Store) -> None:
    written = record(
        canonical_url="https://stars.example.org/home",
        headers={"Content-Type": "text/html", "ETag": '"1"'},
        seconds=0.25,
        size=1234,
        depth=3,
        referrer="https://a.example.org/",
        anchor="stars",
        context="see stars here",
        score=0.7,
        ageing=0.01,
        explored=True,
        passed_over=2,
        unsure=True,
        reason="close",
        graph_node="n12",
        html=b"<html>\x00\xff" * 100,
        links=links("https://b.example.org/", "https://c.example.org/x"),
        explanation={"anchor": 0.4},
    )
    store.write([written])
    (page_id,) = store.find("https://stars.example.org/")
    page = store.page(page_id)
    assert page is not None
    for name in written.__dataclass_fields__:
        if name not in {"html", "links", "numbers"}:
            assert page[name] == getattr(written, name), name
    assert [tuple(pair) for pair in page["numbers"]] == list(written.numbers)
    assert page["host"] == "stars.example.org"
    assert store.html(page_id) == written.html
    assert store.links(page_id) == [
        LinkRecord("https://b.example.org/", 0.9, "anchor 0"),
        LinkRecord("https://c.example.org/x", 0.8, "anchor 1"),
    ]


def test_off_topic_and_failed_pages_are_stored_without_content(store: Store) -> None:
    store.write(
        [
            record("https://a.example/", on_topic=False, text="", status=200),
            record("https://b.example/", on_topic=False, text="", status=0, failure="timeout"),
        ]
    )
    assert store.count() == 2
    assert store.count(on_topic=True) == 0
    assert rows(store, contents) == rows(store, unfinished) == 0
    (page_id,) = store.find("https://b.example/")
    assert store.page(page_id)["failure"] == "timeout"  # type: ignore[index]
    assert store.html(page_id) == b""
    assert store.links(page_id) == []


def test_a_page_fetched_again_replaces_itself(store: Store) -> None:
    store.write([record(html=b"one", links=links("https://old.example/", "https://both.example/"))])
    store.write([record(html=b"two", links=links("https://both.example/", "https://new.example/"))])
    (page_id,) = store.find("https://stars.example.org/")
    assert store.count() == 1
    assert store.html(page_id) == b"two"
    assert store.backlinks("https://old.example/") == []
    assert [link.score for link in store.backlinks("https://both.example/")] == [0.9]
    assert rows(store, backlinks) == 2
    store.write([record(on_topic=False, text="")])
    assert rows(store, contents) == rows(store, backlinks) == 0


def test_the_last_of_a_batch_wins_and_jobs_are_apart(store: Store) -> None:
    store.write([record(title="first"), record(title="last"), record(title="other", job="two")])
    titles = {
        (page["job"], page["title"])
        for page_id in store.find("https://stars.example.org/")
        if (page := store.page(page_id))
    }
    assert titles == {("stars", "last"), ("two", "other")}
    assert store.count("two") == 1
    assert len(store.find("https://stars.example.org/", job="two")) == 1


def test_equal_bodies_are_kept_once(store: Store) -> None:
    store.write([record(f"https://a.example/{i}", html=b"same" * 100) for i in range(5)])
    store.write([record("https://a.example/9", html=b"same" * 100)])
    assert rows(store, bodies) == 1
    assert store.html(store.find("https://a.example/9")[0]) == b"same" * 100


def test_backlinks_have_score_and_anchor(store: Store) -> None:
    target = "https://target.example.org/page?x=1"
    store.write(
        [
            record("https://a.example/", links=links("https://x.example/", target)),
            record("https://b.example/", links=links(target), job="other"),
        ]
    )
    found = store.backlinks(target + "#part")
    assert [(link.url, link.job, link.score, link.anchor) for link in found] == [
        ("https://b.example/", "other", 0.9, "anchor 0"),
        ("https://a.example/", "stars", 0.8, "anchor 1"),
    ]
    assert len(store.backlinks(target, job="stars")) == 1


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40), st.binary(max_size=200))
def test_any_text_can_be_stored(store: Store, odd: str, body: bytes) -> None:
    store.write(
        [
            record(
                title=odd,
                text=odd,
                anchor=odd,
                html=body,
                headers={odd: odd},
                explanation={"x": odd},
                links=(LinkRecord("https://a.example/" + odd, 0.5, odd),),
            )
        ]
    )
    (page_id,) = store.find("https://stars.example.org/")
    page = store.page(page_id)
    assert page is not None
    assert page["title"] == odd.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    assert page["headers"] == {odd: odd}
    assert store.html(page_id) == body


@pytest.mark.parametrize("odd", ["\ud800", "a\x00b", "\udfff\x00"])
def test_half_characters_do_no_harm(store: Store, odd: str) -> None:
    store.write(
        [
            record(
                title=odd,
                text=odd,
                anchor=odd,
                headers={"a": odd},
                links=links("https://a.example/"),
            )
        ]
    )
    assert store.count() == 1


def test_a_batch_is_one_transaction(lite: Store) -> None:
    good, bad = record("https://a.example/"), record("https://b.example/", fetched_at=None)
    with pytest.raises(Exception, match="NOT NULL"):
        lite.write([good, bad])
    assert lite.count() == 0


def test_threads_write_while_others_read(store: Store) -> None:
    seen: list[int] = []

    async def crawl() -> None:
        for batch in range(10):
            written = [record(f"https://a.example/{batch}/{i}") for i in range(20)]
            task = asyncio.create_task(asyncio.to_thread(store.write, written))
            while not task.done():
                seen.append(store.count())
                store.save_status("stars", "w", {"n": len(seen)})
                await asyncio.sleep(0)
            await task

    asyncio.run(crawl())
    assert store.count() == 200
    assert all(count % 20 == 0 for count in seen), "a reader saw half a batch"


def test_two_stores_write_to_one_database(url: str) -> None:
    stores = [Store.open(url) for _ in range(2)]

    def work(store: Store, who: int) -> None:
        for i in range(20):
            store.write([record(f"https://a.example/{who}/{i}"), record("https://both.example/")])

    threads = [threading.Thread(target=work, args=(s, n)) for n, s in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].count() == 41
    for store in stores:
        store.close()


# -- what can go wrong


def test_a_new_database_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "t.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    made = threading.Timer(0.5, other.execute, ["COMMIT"])
    made.start()
    Store.open(f"sqlite:///{tmp_path / 't.db'}").close()
    made.join()
    other.close()


def test_a_locked_database_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treasure.repository.database.BUSY_SECONDS", 0.05)
    path = tmp_path / "treasure.db"
    store = Store.open(f"sqlite:///{path}")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RepositoryUnavailable, match="locked"):
        store.write([record()])
    other.execute("ROLLBACK")
    other.close()
    store.write([record()])
    assert store.count() == 1
    store.close()


def test_a_full_disk_is_unavailable_and_writing_goes_on_after(lite: Store) -> None:
    with lite.engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count={pages}"))
    big = [record(f"https://a.example/{i}", html=bytes(range(256)) * 40) for i in range(300)]
    with pytest.raises(RepositoryUnavailable, match="full"):
        lite.write(big)
    with lite.engine.connect() as connection:
        connection.execute(text("PRAGMA max_page_count=1000000"))
    lite.write(big)
    assert lite.count() == 300


def test_a_server_that_does_not_answer_hides_its_password() -> None:
    with pytest.raises(RepositoryUnavailable) as caught:
        Store.open("postgresql://user:s3cret@127.0.0.1:1/db?sslpassword=s3cret")
    assert "s3cret" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "no database address"),
        ("mysql://a@b/c", "mysql"),
        ("oracle://u:s3cret@b/c", "sqlite"),
        ("post gres://u:s3cret@h", "no database address"),
    ],
)
def test_addresses_that_never_work(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Store.open(url)
    assert "s3cret" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database" * 100)
    with pytest.raises(RepositoryUnavailable, match="not a database"):
        Store.open(f"sqlite:///{path}")
    assert path.read_text().startswith("these are notes")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        Store.open(f"sqlite:///{tmp_path / 'file' / 'sub' / 'treasure.db'}")
