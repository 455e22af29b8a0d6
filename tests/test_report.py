"""The run report, apart from a crawl (tests/crawl/test_seeing.py writes one after a crawl)."""

from __future__ import annotations

from pathlib import Path

import pytest

from treasure.errors import JobError
from treasure.report import write_report
from treasure.repository.store import Store


def test_a_job_that_was_never_noted_has_no_report(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'treasure.db'}")
    with pytest.raises(JobError, match="There is no job 'nobody'"):
        write_report(store, "nobody", tmp_path / "report.html")
    store.close()


def test_what_was_refused_is_of_all_processes(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'treasure.db'}")
    store.start_job("a", "astronomy", {})
    store.save_status("a", "w1", {"refused": {"nofollow": 20, "blocked: x.org": 3}})
    store.save_status("a", "w2", {"refused": {"nofollow": 22}})
    store.save_status("a", "w3", {})
    report = write_report(store, "a", tmp_path / "report.html").read_text()
    assert "<td>nofollow</td><td>42</td>" in report
    assert "<td>blocked: x.org</td><td>3</td>" in report
    store.close()
