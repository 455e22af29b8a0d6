"""A repository as WARC and back, and as a web."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from tests.repository.conftest import links, record
from treasure.errors import WebError
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.repository.archive import load_warc, write_warc
from treasure.repository.export import Selection, read
from treasure.repository.finishing import finish_all
from treasure.repository.store import Store

HTML = b"<html><head><title>Giants</title></head><body><p>Red giants \xc3\xa9</p></body></html>"


HEADERS = {
    "Content-Type": "text/html",
    "Content-Encoding": "gzip",
    "Transfer-Encoding": "chunked",
    "X-Odd": "a\r\nb é",
}


def fill(store: Store) -> None:
    nothing = {"on_topic": False, "text": ""}
    store.write(
        [
            record(
                "https://a.example/1",
                html=HTML,
                links=links("https://a.example/2"),
                headers=HEADERS,
                explanation={"x": [1, 2]},
                fetched_at=1_700_000_000.25,
            ),
            record("https://a.example/2", html=HTML.replace(b"Red", b"Blue"), text="Blue giants."),
            record(
                "https://a.example/moved",
                status=301,
                headers={"Location": "https://a.example/1"},
                **nothing,
            ),
            record("https://a.example/404", status=404, failure="not found", **nothing),
            record("https://a.example/slow", status=0, failure="timeout", **nothing),
            record("https://a.example/off", status=200, relevance=0.1, **nothing),
        ]
    )
    finish_all(store, method="blocks")


def everything(store: Store) -> list[dict[str, Any]]:
    """All that a repository knows, without its row numbers."""
    rows = []
    for row in read(store, Selection(everything=True, html=True)):
        assert row.pop("id")
        row["duplicate_of"] = row["duplicate_of"] is not None
        rows.append(row)
    return sorted(rows, key=lambda row: (row["job"], row["url"]))


def exported(store: Store, path: Path) -> Path:
    with path.open("wb") as file:
        rows = read(store, Selection(everything=True, html=True))
        write_warc(rows, file, gzip=path.suffix == ".gz")
    return path


@pytest.mark.parametrize("name", ["web.warc.gz", "web.warc"])
def test_exported_and_loaded_gives_the_same_repository(
    store: Store, lite: Store, tmp_path: Path, name: str
) -> None:
    fill(store)
    path = exported(store, tmp_path / name)
    assert load_warc(lite, path) == 6
    finish_all(lite, method="blocks")
    assert everything(lite) == everything(store)
    assert lite.backlinks("https://a.example/2")[0].score == 0.9


def test_the_file_is_a_web(lite: Store, tmp_path: Path) -> None:
    fill(lite)
    web = VirtualWeb.open(exported(lite, tmp_path / "web.warc.gz"))
    page = web.page("https://a.example/moved")
    assert page is not None
    assert page.title == "Giants"
    first, missing = web.get("https://a.example/1"), web.get("https://a.example/404")
    assert first is not None
    assert missing is not None
    assert first.body == HTML
    assert first.header("content-encoding") == ""
    assert missing.status == 404
    assert "https://a.example/off" not in web, "a page without its body would be an empty page"
    assert "https://a.example/slow" not in web
    assert web.damaged_bytes == 0


def test_warcio_reads_it(lite: Store, tmp_path: Path) -> None:
    fill(lite)
    with exported(lite, tmp_path / "web.warc.gz").open("rb") as file:
        kinds = [
            record.rec_type
            for record in ArchiveIterator(file, verify_http=True, check_digests="raise")
        ]
    assert kinds.count("response") == 4
    assert kinds.count("metadata") == 7


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(min_size=1, max_size=300), odd=st.text(max_size=30))
def test_any_body_comes_back(tmp_path: Path, body: bytes, odd: str) -> None:
    stores = [Store.open("sqlite://") for _ in range(2)]
    stores[0].write([record(html=body, title=odd, headers={"X-Odd": odd})])
    load_warc(stores[1], exported(stores[0], tmp_path / "odd.warc.gz"))
    assert everything(stores[0]) == everything(stores[1])
    for store in stores:
        store.close()


def test_mistakes(lite: Store, tmp_path: Path) -> None:
    with pytest.raises(WebError, match="cannot be read"):
        load_warc(lite, tmp_path / "nowhere.warc.gz")
    (tmp_path / "notes.warc").write_text("these are notes")
    with pytest.raises(WebError, match="damaged"):
        load_warc(lite, tmp_path / "notes.warc")
    fill(lite)
    data = exported(lite, tmp_path / "whole.warc.gz").read_bytes()
    (tmp_path / "half.warc.gz").write_bytes(data[: len(data) // 2])
    other = Store.open("sqlite://")
    with pytest.raises(WebError, match="damaged"):
        load_warc(other, tmp_path / "half.warc.gz")
    other.close()
