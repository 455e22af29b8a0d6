"""``treasure search``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.repository.conftest import record
from treasure.cli import main
from treasure.repository.finishing import finish_all
from treasure.repository.store import Store


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    store.write(
        [
            record("https://a.example/1"),
            record("https://a.example/2", title="Dwarfs \x1b[31m", text="White dwarfs are small."),
            record("https://a.example/3", title="Copy", job="other"),
        ]
    )
    finish_all(store, method="blocks")
    store.write([record("https://a.example/4")])
    store.close()
    return url


def test_results_are_shown(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--repository", database, "giant"]) == 0
    out, err = capsys.readouterr()
    assert "1. Giant stars" in out
    assert "https://a.example/1" in out
    assert "2 pages in" in out
    assert "1 stored pages are not indexed yet" in err


def test_json(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--repository", database, "--json", "--job", "stars", "giant"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["total"] == 1
    assert answer["hits"][0]["url"] == "https://a.example/1"
    assert ["giants", True] in answer["hits"][0]["snippet"]


def test_a_page_cannot_write_to_the_terminal(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--repository", database, "dwarf"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_words_that_the_shell_put_together_are_a_phrase(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--repository", database, "stars", "main sequence"]) == 0
    assert main(["search", "--repository", database, "stars", "sequence main"]) == 1
    assert "0 pages" in capsys.readouterr().out


def test_the_environment_names_the_repository(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREASURE_REPOSITORY", database)
    assert main(["search", "giant"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (['"red'], "quotation mark"),
        (["x" * 10_000], "10,000 characters"),
        (["titel:x"], "Did you mean 'title'"),
        (["-p", "0", "giant"], "Results 1 to 1,000"),
        (["-n", "9999", "giant"], "at most 100 at a time"),
        (["--job", "star", "giant"], "Did you mean 'stars'"),
        (["--", "-giant"], "only says what to leave out"),
    ],
)
def test_mistakes_are_one_line(
    database: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "--repository", database, *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_no_repository_is_made_by_a_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.db"
    assert main(["search", "--repository", str(path), "giant"]) == 2
    assert "There is no repository" in capsys.readouterr().err
    assert not path.exists()


def test_other_files_and_versions(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("notes " * 1_000)
    assert main(["search", "--repository", str(notes), "giant"]) == 2
    assert "not a database" in capsys.readouterr().err
    assert main(["search", "--repository", "mysql://u:s3cret@h/d", "giant"]) == 2
    assert "s3cret" not in capsys.readouterr().err


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_without_rights(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(database.removeprefix("sqlite:///"))
    path.chmod(0)
    assert main(["search", "--repository", database, "giant"]) == 2
    assert "unable to open" in capsys.readouterr().err


def test_a_role_without_rights(postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = make_url(postgres_url)
    Store.open(postgres_url).close()
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("DROP ROLE IF EXISTS stranger"))
        connection.execute(text("CREATE ROLE stranger LOGIN"))
        connection.execute(text("REVOKE ALL ON SCHEMA public FROM PUBLIC"))
    strange = url.set(username="stranger").render_as_string(hide_password=False)
    assert main(["search", "--repository", strange, "giant"]) == 2
    assert "no schema" in capsys.readouterr().err
    with engine.begin() as connection:
        connection.execute(text("GRANT USAGE ON SCHEMA public TO stranger"))
    assert main(["search", "--repository", strange, "giant"]) == 2
    told = capsys.readouterr().err
    assert "permission denied" in told
    assert "Traceback" not in told
    with engine.begin() as connection:
        connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger"))
    assert main(["search", "--repository", strange, "giant"]) == 1
    assert main(["refresh", "--repair", "--repository", strange]) == 2
    assert "permission denied" in capsys.readouterr().err
    with engine.begin() as connection:
        connection.execute(text("DROP OWNED BY stranger"))
        connection.execute(text("DROP ROLE stranger"))
    engine.dispose()
