"""``treasure export``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.repository.conftest import record
from treasure.cli import main
from treasure.repository.finishing import finish_all
from treasure.repository.store import Store

HTML = b"<html><title>Giants</title><body><p>Red giants are stars.</p></body></html>"


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    store.write(
        [
            record("https://a.example/1", html=HTML, text="Red giants are stars."),
            record("https://a.example/2", on_topic=False, text="", status=404),
        ]
    )
    finish_all(store)
    store.close()
    return url


def export(database: str, *arguments: str) -> int:
    return main(["export", "--repository", database, *arguments])


def test_each_format(database: str, tmp_path: Path) -> None:
    for name in ("p.jsonl", "p.csv", "p.parquet", "p.warc.gz"):
        assert export(database, str(tmp_path / name)) == 0
    assert json.loads((tmp_path / "p.jsonl").read_text())["url"] == "https://a.example/1"
    with (tmp_path / "p.csv").open(newline="") as file:
        assert [row["title"] for row in csv.DictReader(file)] == ["Giant stars"]
    assert pq.read_table(tmp_path / "p.parquet").num_rows == 1
    assert (tmp_path / "p.warc.gz").read_bytes().startswith(b"\x1f\x8b")
    assert not list(tmp_path.glob("*.part"))


def test_standard_output(database: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert export(database, "-") == 0
    assert json.loads(capfd.readouterr().out)["job"] == "stars"
    assert export(database, "-", "--format", "csv", "--all") == 0
    assert len(capfd.readouterr().out.splitlines()) == 3


def test_a_warc_comes_back(database: str, tmp_path: Path) -> None:
    path, copy = tmp_path / "web.warc.gz", f"sqlite:///{tmp_path / 'copy.db'}"
    assert export(database, str(path)) == 0
    assert export(copy, "--load", str(path)) == 0
    for url, name in ((database, "one"), (copy, "two")):
        assert export(url, str(tmp_path / f"{name}.jsonl"), "--all") == 0
    assert (tmp_path / "one.jsonl").read_text() == (tmp_path / "two.jsonl").read_text()


def test_mistakes(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    for arguments, message in (
        ([str(there)], "--force"),
        ([str(tmp_path / "pages.xls")], "does not say which format"),
        ([str(tmp_path / "no" / "where.csv")], "No such file"),
        (["-", "--format", "parquet"], "standard output"),
        (["--job", "nobody", str(tmp_path / "a.csv")], "There is no job"),
        (["--load", str(there)], "damaged"),
    ):
        assert export(database, *arguments) == 2
        err = capsys.readouterr().err
        assert message in err
        assert len(err.splitlines()) == 1
    assert there.read_text() == "mine"
    assert export(database, "--force", str(there)) == 0
    assert there.read_text() != "mine"
