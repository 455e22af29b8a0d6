"""``treasure refresh`` and the spider behind it, against a served site."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from tests.repository.conftest import record
from tests.repository.served import Site, html, served
from treasure.cli import main
from treasure.repository.finishing import finish_all
from treasure.repository.models import revisits
from treasure.repository.search import search
from treasure.repository.store import Store

LOCAL = [
    *("-s", "TREASURE_ALLOWED_NETWORKS=127.0.0.0/8"),
    *("-s", "TREASURE_HOST_DELAY_SECONDS=0", "-s", "RETRY_TIMES=0"),
]
STARS = "Stars and galaxies are what astronomers look at through a telescope. Giants, number {}. "


def texts(number: int) -> str:
    return STARS.format(number) * 6 + f"Only here: word{number} and nothing{number} else{number}."


def fill(store: Store, site: Site, paths: list[str]) -> None:
    for path in paths:
        _, headers, body = site.answer(path, None)
        store.write([record(site.base + path, html=body, headers=headers, text=path)])
    finish_all(store)


def due(store: Store) -> None:
    with store.writing() as connection:
        connection.execute(update(revisits).values(due=0.0))


def refresh(url: str, *arguments: str) -> dict[str, Any]:
    """Run the command in a process of its own: Scrapy runs once in a process."""
    run = subprocess.run(
        [sys.executable, "-m", "treasure", "refresh", "--repository", url, "--json", *arguments],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def test_what_changed_moved_or_died_is_found(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    store.start_job("stars", "520", {"TREASURE_TOPIC": "520"})
    with served() as site:
        paths = ["/same", "/changes", "/moves", "/dies", "/breaks"]
        site.pages |= {path: html(texts(i)) for i, path in enumerate(paths)}
        fill(store, site, paths)
        due(store)
        site.pages["/changes"] = html(texts(77))
        site.pages["/moves"] = (301, {"Location": "/moved"}, b"")
        site.pages["/moved"] = html(texts(88))
        site.pages["/dies"] = (410, {}, b"")
        site.pages["/breaks"] = (500, {}, b"")
        report = refresh(url, *LOCAL)
        assert report["visited"] == {"unchanged": 1, "changed": 2, "gone": 1, "failed": 1}
        assert report["repairs"]["problems"] == []
        asked = dict(site.asked)
        assert asked["/same"] == 304
        assert asked["/robots.txt"] == 404
        again = refresh(url, "--visit", *LOCAL)
    assert again["visited"] == {}, "nothing is due so soon"
    assert search(store, "word77").total == 1
    assert [hit.url for hit in search(store, "word88").hits] == [site.base + "/moved"]
    assert search(store, "word3").total == 0
    (event,) = store.events("stars")
    assert event.data == report["visited"]
    store.close()


def test_robots_and_private_addresses_are_respected(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    with served() as site:
        site.pages["/a"] = html(texts(1))
        fill(store, site, ["/a"])
        site.pages["/robots.txt"] = (
            200,
            {"Content-Type": "text/plain"},
            b"User-agent: *\nDisallow: /a",
        )
        due(store)
        assert refresh(url, "--visit", *LOCAL)["visited"] == {"failed": 1}
        assert [path for path, _ in site.asked] == ["/robots.txt"]
        due(store)
        told = ["-s", "TREASURE_CONTACT=crawls@example.org", "-s", "RETRY_TIMES=0"]
        assert refresh(url, "--visit", *told)["visited"] == {"failed": 1}
        assert [path for path, _ in site.asked] == ["/robots.txt"], "a private address was asked"
    store.close()


def test_a_crawl_delay_is_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    times: list[float] = []

    def timed(number: int) -> Callable[[], bytes]:
        def body() -> bytes:
            times.append(time.monotonic())
            return html(texts(number))

        return body

    with served() as site:
        robots = b"User-agent: *\nCrawl-delay: 1"
        site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
        site.pages |= {f"/{number}": timed(number) for number in range(3)}
        fill(store, site, ["/0", "/1", "/2"])
        due(store)
        times.clear()
        settings = [*LOCAL, "-s", "RANDOMIZE_DOWNLOAD_DELAY=0"]
        assert refresh(url, "--visit", *settings)["visited"] == {"unchanged": 3}
    assert all(later - earlier > 0.9 for earlier, later in pairwise(times))
    store.close()


def test_a_new_topic_judges_what_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    store.start_job("stars", "520", {"TREASURE_TOPIC": "520"})
    store.write([record(html=html(texts(1)), text=texts(1))])
    finish_all(store)
    assert main(["refresh", "--repository", url, "--rejudge"]) == 0
    assert "1 pages" in capsys.readouterr().out
    assert main(["refresh", "--repository", url, "--rejudge", "--topic", "641.5"]) == 0
    assert "1 fell off" in capsys.readouterr().out
    assert search(store, "giants").total == 0
    store.close()


def test_finish_list_and_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    store = Store.open(url)
    store.write([record()])
    assert main(["refresh", "--repository", url, "--finish"]) == 0
    assert "Indexed:   1 pages" in capsys.readouterr().out
    assert search(store, "giants").total == 1
    due(store)
    assert main(["refresh", "--repository", url, "--list"]) == 0
    assert "https://stars.example.org/" in capsys.readouterr().out
    assert main(["refresh", "--repository", url, "--repair"]) == 0
    assert "nothing was wrong" in capsys.readouterr().out
    store.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-s", "TREASURE_TOPIK=1"], "Did you mean"),
        (["-s", "nonsense"], "NAME=VALUE"),
        (["--job", "nobody"], "There is no job"),
    ],
)
def test_mistakes(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'treasure.db'}"
    Store.open(url).close()
    assert main(["refresh", "--repository", url, *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_the_spider_tells_its_mistakes(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "refresh", "-a", "repositry=x"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2, run.stderr
    assert "There is no spider argument 'repositry'. Did you mean 'repository'?" in run.stderr
    assert "Traceback" not in run.stderr


def test_strangers_are_not_asked_without_a_contact(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/pages.db"
    store = Store.open(url)
    store.write([record("https://example.org/page.html", text="stars")])
    finish_all(store)
    due(store)
    store.close()
    command = [sys.executable, "-m", "treasure", "refresh", "--repository", url]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert "must say who runs it" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_misspelt_topic_changes_nothing(tmp_path: Path, capsys: Any) -> None:
    Store.open(f"sqlite:///{tmp_path}/treasure.db").close()
    assert main(["refresh", "--topic", "astronmy", "--runs-dir", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Did you mean 'astronomy'?" in told.err


def test_nothing_to_index_is_said(tmp_path: Path, capsys: Any) -> None:
    Store.open(f"sqlite:///{tmp_path}/treasure.db").close()
    assert main(["refresh", "--finish", "--runs-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Indexed:   0 pages\n"
