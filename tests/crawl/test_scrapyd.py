"""Deployed to a real Scrapyd by scrapyd-client, where only the egg can bring Treasure."""

from __future__ import annotations

import json
import shutil
import site
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.crawl.crawling import ROOT
from tests.crawl.sites import Site, gap
from tests.crawl.test_politeness import page
from tests.servers import answers, free_port, missing, running

CLONED = ("treasure", "pyproject.toml", "setup.py", "scrapy.cfg", "LICENSE", "README.md")
NOT_CLONED = shutil.ignore_patterns("__pycache__", "*.egg-info", "runs")


class Scrapyd:
    """A Scrapyd and the way to talk to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.python = _environment_without_treasure(folder / "env")

    def call(self, name: str, **data: Any) -> dict[str, Any]:
        body = urlencode(data, doseq=True).encode() if name == "schedule" else None
        query = "" if body else f"?{urlencode(data)}"
        with urlopen(f"http://127.0.0.1:{self.port}/{name}.json{query}", body) as response:
            told = json.load(response)
        assert told["status"] == "ok", told
        return told

    def schedule(self, spider: str = "treasure", **arguments: Any) -> str:
        return str(self.call("schedule", project="treasure", spider=spider, **arguments)["jobid"])

    def wait(self, *jobs: str) -> None:
        deadline = time.monotonic() + 120
        while True:
            finished = {j["id"] for j in self.call("listjobs", project="treasure")["finished"]}
            if finished >= set(jobs):
                return
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.2)

    def logs(self) -> str:
        return "".join(p.read_text()[-3_000:] for p in (self.folder / "logs").rglob("*.log"))


def _environment_without_treasure(folder: Path) -> str:
    """Return a Python with all our dependencies, where only the egg can bring Treasure."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    # Named in a .pth, a folder is searched but its own .pth (the editable install) is not read.
    (packages / "rest.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return str(folder / "bin" / "python")


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    pytest.importorskip("scrapyd_client")
    if shutil.which("git") is None:
        missing("git")
    folder = tmp_path_factory.mktemp("scrapyd")
    server = Scrapyd(folder)
    (folder / "scrapyd.conf").write_text(
        f"[scrapyd]\nhttp_port = {server.port}\nbind_address = 127.0.0.1\npoll_interval = 0.2\n"
        "eggs_dir = eggs\nlogs_dir = logs\nitems_dir = items\ndbs_dir = dbs\nmax_proc = 4\n"
    )
    code = f"import os; os.chdir({str(folder)!r}); from scrapyd.__main__ import main; main()"
    command = [server.python, "-c", code]
    with running(command, lambda: answers(server.port), log=folder / "scrapyd.log"):
        _deploy(server)
        yield server


def _deploy(server: Scrapyd) -> None:
    clone = server.folder / "clone"
    clone.mkdir()
    for name in CLONED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, clone / name, ignore=NOT_CLONED)
        else:
            shutil.copy(source, clone / name)
    config = (clone / "scrapy.cfg").read_text()
    config = config.replace("http://localhost:6800/", f"http://127.0.0.1:{server.port}/")
    (clone / "scrapy.cfg").write_text(config)
    done = subprocess.run(
        [sys.executable, "-m", "scrapyd_client.deploy", "-v", "v1"],
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert '"status": "ok"' in done.stdout, done.stderr + done.stdout


def rows(runs: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(runs / "treasure.db") as database:
        return database.execute(query).fetchall()


def test_the_egg_holds_everything(scrapyd: Scrapyd) -> None:
    assert scrapyd.call("listspiders", project="treasure")["spiders"] == ["refresh", "treasure"]
    (egg,) = (scrapyd.folder / "eggs").rglob("*.egg")
    names = zipfile.ZipFile(egg).namelist()
    for needed in ("treasure/ddc/data/lexicon.bin", "treasure/web/static/index.html"):
        assert needed in names
    assert any(name.startswith("treasure/repository/migrations/step_") for name in names)


def test_jobs_crawl_fill_the_repository_and_share_hosts(scrapyd: Scrapyd, tmp_path: Path) -> None:
    # Two starting points, so that neither job waits for the other's first page.
    pages = {f"/{i}": page(*(f"/{i}/{n}" for n in range(4))) for i in range(2)}
    pages |= {f"/{i}/{n}": page() for i in range(2) for n in range(4)}
    with Site(dict(pages)) as shared:
        common = {
            "topic": "astronomy",
            "runs_dir": str(tmp_path),
            "allowed_networks": "127.0.0.0/8",
            "strategy": "best-first",
            "setting": ["TREASURE_HOST_DELAY_SECONDS=0.3", "LOG_LEVEL=INFO"],
        }
        one = scrapyd.schedule(seeds=f"{shared.url}/0", jobid="stars-one", **common)
        two = scrapyd.schedule(seeds=f"{shared.url}/1", **common)
        scrapyd.wait(one, two)
        assert sorted({visit.path for visit in shared.visits} - {"/robots.txt"}) == sorted(pages)
        assert gap(shared) >= 0.29
    assert one == "stars-one"
    counts = dict(rows(tmp_path, "select job, count(*) from pages group by job"))
    assert counts == {one: 5, two: 5}
    assert dict(rows(tmp_path, "select job, stop_reason from jobs")) == {
        one: "finished",
        two: "finished",
    }
    log = (scrapyd.folder / "logs" / "treasure" / "treasure" / f"{one}.log").read_text()
    assert "treasure.summary" in log
    assert "Traceback" not in log
    items = (scrapyd.folder / "items" / "treasure" / "treasure" / f"{one}.jl").read_text()
    assert len(items.splitlines()) == 5
    assert json.loads(items.splitlines()[0])["relevance"] > 0.5


def test_a_mistake_is_in_the_log_and_the_crawl_can_be_cancelled(
    scrapyd: Scrapyd, tmp_path: Path
) -> None:
    job = scrapyd.schedule(topic="astronomi", seeds="http://127.0.0.1/", runs_dir=str(tmp_path))
    scrapyd.wait(job)
    log = (scrapyd.folder / "logs" / "treasure" / "treasure" / f"{job}.log").read_text()
    assert "configuration_error" in log
    assert "Traceback" not in log


def test_refresh_can_be_scheduled(scrapyd: Scrapyd, tmp_path: Path) -> None:
    from treasure.repository.store import Store

    Store.open(f"sqlite:///{tmp_path / 'treasure.db'}").close()
    job = scrapyd.schedule("refresh", runs_dir=str(tmp_path))
    scrapyd.wait(job)
    log = (scrapyd.folder / "logs" / "treasure" / "refresh" / f"{job}.log").read_text()
    assert "Spider closed (finished)" in log
    assert "Traceback" not in log
