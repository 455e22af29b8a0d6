"""What is done to a page after it is stored."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tests.repository.conftest import record
from treasure.repository import finishing, main_text
from treasure.repository.finishing import finish, finish_all
from treasure.repository.models import contents, pages, revisits, unfinished
from treasure.repository.search import search
from treasure.repository.store import Store

ARTICLE = "Red giants are stars that have left the main sequence and grown very large. " * 12
HTML = f"""<html><head><title>Giants</title></head><body>
<nav><a href=/>Home</a> <a href=/shop>Shop now and subscribe to our newsletter</a></nav>
<article><h1>Giants</h1><p>{ARTICLE}</p><p>{ARTICLE.replace("Red", "Blue")}</p></article>
<footer>Copyright and imprint</footer></body></html>""".encode()


def column(store: Store, wanted: object) -> list[object]:
    with store.reading() as connection:
        return list(connection.execute(select(wanted)).scalars())  # type: ignore[call-overload]


def test_main_text_replaces_the_blocks(store: Store) -> None:
    store.write([record(html=HTML, text="Shop now and subscribe\n" + ARTICLE)])
    assert finish_all(store) == 1
    (text,) = column(store, contents.c.text)
    assert "Red giants" in str(text)
    assert "subscribe" not in str(text)
    assert search(store, "subscribe").hits == []
    assert column(store, unfinished.c.page_id) == []


def test_blocks_stay_where_that_is_asked_for(lite: Store) -> None:
    lite.write([record(html=HTML, text="as the blocks say")])
    finish_all(lite, method="blocks")
    assert column(lite, contents.c.text) == ["as the blocks say"]


@pytest.mark.parametrize(
    "html",
    [b"", b"\x00\x01\x02", b"<html></html>", b"<" * 5_000, b"<p>" * 2_000, b"<p>w</p>" * 200_000],
    ids=["nothing", "binary", "empty", "signs", "tags", "many tags"],
)
def test_blocks_stay_where_trafilatura_finds_nothing(lite: Store, html: bytes) -> None:
    lite.write([record(html=html, text="as the blocks say")])
    assert finish_all(lite) == 1
    assert column(lite, contents.c.text) == ["as the blocks say"]


def test_a_failing_library_does_not_stop_us(lite: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError("cannot parse")

    monkeypatch.setattr(main_text._trafilatura(), "extract", broken)
    lite.write([record(html=HTML, text="as the blocks say")])
    assert finish_all(lite) == 1
    assert column(lite, contents.c.text) == ["as the blocks say"]


@pytest.mark.parametrize(
    ("declared", "text", "language"),
    [
        ("fr", ARTICLE, "fr"),
        ("", ARTICLE, "en"),
        ("", "Rote Riesen sind Sterne, die die Hauptreihe schon verlassen haben. " * 3, "de"),
        ("", "too short", ""),
    ],
)
def test_language(lite: Store, declared: str, text: str, language: str) -> None:
    lite.write([record(language=declared, text=text)])
    finish_all(lite)
    assert column(lite, pages.c.language) == [language]


def test_a_page_written_again_meanwhile_stays_in_the_queue(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write([record(text="the old text of the page", fetched_at=1.0)])
    read = finishing._read

    def slow(row: object, method: str) -> object:
        store.write([record(text="a new text of the page", fetched_at=2.0)])
        return read(row, method)

    monkeypatch.setattr(finishing, "_read", slow)
    finish(store)
    assert search(store, "old").hits == []
    assert len(column(store, unfinished.c.page_id)) == 1
    monkeypatch.undo()
    finish_all(store)
    assert search(store, "old").hits == []
    assert len(search(store, "new").hits) == 1


def test_only_pages_on_topic_are_searched_and_revisited(store: Store) -> None:
    store.write(
        [
            record(),
            record("https://b.example/", on_topic=False, html=b"<p>giants</p>", text="giants"),
        ]
    )
    assert finish_all(store) == 1
    assert search(store, "giants").total == 1
    assert len(column(store, revisits.c.page_id)) == 1


def test_a_page_that_fell_off_topic_leaves_search(store: Store) -> None:
    store.write([record()])
    finish_all(store)
    store.write([record(on_topic=False, text="")])
    finish_all(store)
    assert search(store, "giants").total == 0


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("t" * 3_000_000, "stars"),
        ("stars", "x" * 3_000_000),
        ("stars", " ".join(f"w{i}" for i in range(300_000))),
        ("stars", "\N{CJK UNIFIED IDEOGRAPH-4E00} " * 400_000),
    ],
)
def test_monstrous_pages_are_indexed_as_far_as_it_goes(store: Store, title: str, text: str) -> None:
    store.write([record(title=title, text=text), record("https://b.example/", text="moons")])
    assert finish_all(store, method="blocks") == 2
    assert search(store, "moons").total == 1
    assert search(store, "stars").total >= 1


def test_a_page_that_cannot_be_written_does_not_hold_up_the_others(
    lite: Store, caplog: pytest.LogCaptureFixture
) -> None:
    lite.write([record(f"https://a.example/{i}", text=f"moons of planet{i}") for i in range(5)])
    with lite.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER refuse BEFORE UPDATE ON contents"
            " WHEN new.page_id = 3 AND new.searchable BEGIN SELECT RAISE(ABORT, 'too large'); END"
        )
    assert finish_all(lite, method="blocks") == 5
    assert search(lite, "moons").total == 4
    assert "Page 3 cannot be indexed: too large" in caplog.text
