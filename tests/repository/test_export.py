"""JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.repository.conftest import links, record
from treasure.errors import ConfigError
from treasure.repository import export
from treasure.repository.export import Selection, format_of, read
from treasure.repository.finishing import finish_all
from treasure.repository.store import Store

EVIL = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=cmd|' /C calc'!A0"]


@pytest.fixture
def filled(store: Store) -> Store:
    store.write(
        [
            record("https://a.example/1", html=b"<p>one</p>", links=links("https://b.example/")),
            record("https://a.example/2", text="Something else, on planets."),
            record("https://a.example/3"),
            record("https://a.example/4", on_topic=False, text="", failure="timeout", status=0),
            record("https://a.example/5", job="other", text="A page of another job."),
        ]
    )
    finish_all(store, method="blocks")
    return store


def test_only_what_is_on_topic_and_kept_unless_told(filled: Store) -> None:
    def urls(selection: Selection) -> list[str]:
        return [row["url"][-1] for row in read(filled, selection)]

    assert urls(Selection()) == ["1", "2", "5"]
    assert urls(Selection(job="stars")) == ["1", "2"]
    assert urls(Selection(everything=True)) == ["1", "2", "3", "4", "5"]
    copy = list(read(filled, Selection(everything=True)))[2]
    assert copy["duplicate_of"] == filled.find("https://a.example/1")[0]


def test_many_pages_are_read_in_portions(lite: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PORTION_PAGES", 7)
    lite.write([record(f"https://a.example/{i}") for i in range(30)])
    assert len(list(read(lite, Selection(everything=True)))) == 30


def test_json_lines_hold_everything(filled: Store) -> None:
    file = io.BytesIO()
    assert export.write_jsonl(read(filled, Selection()), file) == 3
    first = json.loads(file.getvalue().splitlines()[0])
    assert first["links"] == [{"url": "https://b.example/", "score": 0.9, "anchor": "anchor 0"}]
    assert first["numbers"] == [["523.8", 0.6], ["520", 0.3]]
    assert first["text"].startswith("Red giants")
    assert first["relevance"] == 0.8


def test_csv_runs_no_formula(lite: Store) -> None:
    lite.write(
        [
            record(f"https://a.example/{i}", title=evil, anchor=evil, text=f"{evil} {i}")
            for i, evil in enumerate(EVIL)
        ]
    )
    file = io.StringIO(newline="")
    assert export.write_csv(read(lite, Selection()), file) == len(EVIL)
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))
    assert [row["title"] for row in rows] == ["'" + evil for evil in EVIL]
    for row in rows:
        for cell in row.values():
            assert not cell.lstrip().startswith(("=", "+", "-", "@")), cell
    assert rows[0]["numbers"] == "523.8 0.600; 520 0.300"


def test_parquet_has_types(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    assert export.write_parquet(read(filled, Selection()), path) == 3
    table = pq.read_table(path).to_pylist()
    assert table[0]["numbers"][0] == {"number": "523.8", "share": 0.6}
    assert table[0]["on_topic"] is True
    assert [row["url"] for row in table] == [row["url"] for row in read(filled, Selection())]


def test_an_empty_repository_gives_an_empty_file(lite: Store, tmp_path: Path) -> None:
    assert export.write_parquet(read(lite, Selection()), tmp_path / "none.parquet") == 0
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("b.csv", "csv"),
        ("c.parquet", "parquet"),
        ("d.warc.gz", "warc"),
        ("d.warc", "warc"),
    ],
)
def test_names_say_the_format(name: str, kind: str) -> None:
    assert format_of(name) == kind


def test_a_name_that_says_nothing() -> None:
    with pytest.raises(ConfigError, match="does not say which format"):
        format_of("pages.xlsx")
