"""``treasure status`` and ``treasure explain`` of a crawl that has ended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.repository.conftest import record
from treasure.cli import main
from treasure.repository.store import Store


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    store = Store.open(f"sqlite:///{tmp_path}/treasure.db")
    hop = record("https://a.example/old", status=301, on_topic=False)
    pages = [record("https://a.example/"), hop]
    store.write(pages)
    job = pages[0].job
    store.start_job(job, "astronomy", {})
    store.save_status(job, "killed", {"queued": 70})
    time.sleep(0.01)
    store.save_status(job, "last", {"queued": 3, "stopped": "finished", "because": "it was done"})
    store.close()
    return tmp_path


def told(capsys: Any, runs: Path, *words: str) -> str:
    assert main([*words, "--runs-dir", str(runs)]) == 0
    return str(capsys.readouterr().out)


def test_redirects_are_no_pages_and_the_last_worker_knows_what_waits(
    capsys: Any, runs: Path
) -> None:
    line = told(capsys, runs, "status").splitlines()[0]
    assert "  1 pages  " in line
    assert "harvest 100%  3 waiting" in line


def test_a_page_whose_scores_are_elsewhere_says_so(capsys: Any, runs: Path) -> None:
    shown = told(capsys, runs, "explain", "https://a.example/")
    assert "fetched: on topic" in shown
    assert "there is no " in shown
    assert "--runs-dir names another folder" in shown
