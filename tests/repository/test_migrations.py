"""From an empty database, from version 1 with pages in it, from one that is not ours."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import insert, select, text

import treasure
from tests.repository.conftest import record
from treasure.errors import ConfigError
from treasure.repository import migrations, packing
from treasure.repository.database import Database, open_engine
from treasure.repository.finishing import finish_all
from treasure.repository.models import bodies, contents, metadata, pages
from treasure.repository.search import search
from treasure.repository.store import Store


def database_of_version_1(url: str) -> None:
    """Make the tables of version 1 and store two pages as version 1 did."""
    database = Database(open_engine(url))
    with database.writing() as connection:
        migrations.migrate(connection, upto="0001")
        assert migrations.version(connection) == "0001"
        for number, on_topic in ((1, True), (2, False)):
            page = record(f"https://old.example/{number}", on_topic=on_topic)
            connection.execute(insert(pages).values(packing.page_row(page) | {"id": number}))
        html = packing.compress(b"<html><title>Giant stars</title><p>Red giants.</p>")
        connection.execute(insert(bodies).values(id=1, digest=b"x" * 16, html=html))
        connection.execute(
            text(
                "INSERT INTO contents (page_id, body_id, links, title, text)"
                " VALUES (1, 1, :links, 'Giant stars', 'Red giants are old stars.')"
            ),
            {"links": b""},
        )
    database.close()


def test_an_empty_database_gets_the_tables_the_code_expects(url: str) -> None:
    store = Store.open(url)
    with store.engine.connect() as connection:
        options = {"include_object": _is_ours, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, metadata)
        assert migrations.version(connection) == migrations.LATEST
    store.close()
    assert differences == []


def _is_ours(item: object, name: str | None, kind: str, *_: object) -> bool:
    """Whether autogenerate compares it; the text index is no part of the metadata."""
    if kind == "table":
        return not str(name).startswith(("search", "alembic"))
    ours = {"document", "title_document", "contents_by_word", "contents_by_title"}
    return not (kind in {"column", "index"} and name in ours)


def test_a_database_of_version_1_keeps_its_pages_and_can_be_searched(url: str) -> None:
    database_of_version_1(url)
    store = Store.open(url)
    with store.reading() as connection:
        assert migrations.version(connection) == migrations.LATEST
        assert connection.execute(select(contents.c.searchable)).scalars().all() == [False]
    assert store.count() == 2
    assert store.html(1).startswith(b"<html>")
    assert finish_all(store) == 1
    assert [hit.url for hit in search(store, "red giants").hits] == ["https://old.example/1"]
    store.close()
    again = Store.open(url)
    assert again.count() == 2
    again.close()


def test_a_newer_database_is_refused(url: str) -> None:
    store = Store.open(url)
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(ConfigError, match=r"version 9999.*update Treasure"):
        Store.open(url)


def test_tables_of_somebody_else_are_left_alone(url: str) -> None:
    database = Database(open_engine(url))
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE pages (id INTEGER)"))
    database.close()
    with pytest.raises(ConfigError, match="not ours"):
        Store.open(url)


def test_a_failed_migration_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = migrations.STEPS | {"0002": "treasure.repository.migrations.nowhere"}
    monkeypatch.setattr(migrations, "STEPS", broken)
    with pytest.raises(ModuleNotFoundError):
        Store.open(url)
    monkeypatch.undo()
    Store.open(url).close()


def test_migrations_work_from_a_zipped_egg(tmp_path: Path) -> None:
    package = Path(treasure.__file__).parent
    egg = tmp_path / "treasure.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, path.relative_to(package.parent))
    code = (
        "import treasure, sys; assert '.egg' in treasure.__file__, treasure.__file__\n"
        "from treasure.repository.store import Store\n"
        f"store = Store.open('sqlite:///{tmp_path}/egg.db'); print(store.count()); store.close()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(egg), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.returncode) == ("0\n", 0), run.stderr
