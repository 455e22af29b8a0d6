"""A real crawl is steered from the command line while it runs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.crawl.crawling import ROOT, command
from tests.crawl.sites import Answer, Site
from tests.crawl.test_politeness import page, rows
from tests.servers import RedisServer, free_port
from treasure.cli import main


class Endless(Site):
    """A site without an end: each page links to the next ones."""

    def answer(self, path: str) -> Answer:
        """Return the answer to a request."""
        if path == "/robots.txt":
            return 404, {}, b""
        number = int(path.rpartition("/")[2] or 0)
        links = [f"/page/{number * 2 + 1}", f"/page/{number * 2 + 2}", f"/other/{number}"]
        return 200, {"Content-Type": "text/html"}, page(*links).encode()


@pytest.fixture
def site() -> Iterator[Endless]:
    with Endless({}) as endless:
        yield endless


def treasure(runs: Path, *words: str, code: int = 0) -> dict[str, Any]:
    output, errors = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        assert main([*words, "--runs-dir", str(runs), "--json"]) == code
    told = output.getvalue()
    return json.loads(told) if told else {"error": errors.getvalue()}


def until(what: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


class Crawl:
    def __init__(self, site: Site, runs: Path, *more: str) -> None:
        runs.mkdir(exist_ok=True)
        line = command(
            runs, "topic=astronomy", f"seeds={site.url}/", "host_delay_seconds=0.03",
            "allowed_networks=127.0.0.0/8", *(more or ("job=j",)),
        )  # fmt: skip
        self.log = (runs / "log").open("a+")
        self.process = subprocess.Popen(
            line, cwd=ROOT, stderr=self.log, stdout=self.log, env={**os.environ}
        )

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self.process

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()


def silent(site: Site) -> bool:
    before = len(site.visits)
    time.sleep(0.6)
    return len(site.visits) == before


def test_a_crawl_that_may_ask_nobody_says_so(tmp_path: Path) -> None:
    later = 429, {"Retry-After": "5000"}, b""
    with Site({"/": later}) as site, Crawl(site, tmp_path):
        until(lambda: "/" in site.paths)
        until(lambda: _text(tmp_path, "status", "j").find("s until a host may be asked again") > 0)
    assert "4,9" in _text(tmp_path, "status", "j")


def _text(runs: Path, *words: str) -> str:
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(StringIO()):
        main([*words, "--runs-dir", str(runs)])
    return output.getvalue()


def test_steering(site: Endless, tmp_path: Path) -> None:
    port = free_port()
    with Crawl(site, tmp_path, "job=j", f"metrics_port={port}") as process:
        until(lambda: len(site.visits) > 20)
        until(lambda: treasure(tmp_path, "status", "j")["state"] == "running")
        with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
            assert b'treasure_frontier_queued{job="j"}' in response.read()
        told = treasure(tmp_path, "steer", "j", "pause", "--author", "ada")
        assert told["applied"]
        until(lambda: silent(site))
        until(lambda: treasure(tmp_path, "status", "j")["state"] == "paused")
        assert (
            "queued links left" in treasure(tmp_path, "steer", "j", "block", "*/other/*")["answer"]
        )
        assert treasure(tmp_path, "steer", "j", "threshold", "0.9")["applied"]
        assert treasure(tmp_path, "steer", "j", "speed", "20/s")["applied"]
        stored = rows(tmp_path, "select url from pages where on_topic order by id limit 1")[0][0]
        assert "learned" in treasure(tmp_path, "steer", "j", "relabel", stored, "off")["answer"]
        assert rows(tmp_path, f"select on_topic, reason from pages where url = '{stored}'") == [
            (0, "labelled")
        ]
        process.kill()  # everything so far must hold after a crash
        process.wait()
    assert treasure(tmp_path, "status", "j")["state"] in ("dead", "paused")
    visits = len(site.visits)
    with Crawl(site, tmp_path) as process:
        until(lambda: b"goes on" in (tmp_path / "log").read_bytes())
        fresh = until(lambda: _own_status(tmp_path, process.pid))
        assert fresh["paused"]
        assert fresh["threshold"] == 0.9
        assert "20 pages/s" in fresh["speed_limit"]
        assert len(site.visits) == visits
        seed = f"{site.url}/page/999983"
        assert "1 seeds queued" in treasure(tmp_path, "steer", "j", "seeds", seed)["answer"]
        assert treasure(tmp_path, "steer", "j", "resume")["applied"]
        until(lambda: "/page/999983" in site.paths)
        assert "written" in treasure(tmp_path, "steer", "j", "checkpoint")["answer"]
        assert not [visit for visit in site.visits[visits:] if visit.path.startswith("/other")]
        assert treasure(tmp_path, "steer", "j", "stop")["applied"]
        assert process.wait(30) == 0
    # The process that was killed before may still count as alive for some seconds.
    until(lambda: treasure(tmp_path, "status", "j")["state"] == "ended")
    ended = treasure(tmp_path, "status", "j")
    assert ended["stop_reason"] == "stopped"
    assert "steer stop" in ended["because"]
    log = rows(tmp_path, "select command, author from orders order by id")
    assert log[0] == ("pause", "ada")
    assert [name for name, _ in log] == [
        "pause", "block", "threshold", "speed", "relabel", "seeds", "resume", "checkpoint", "stop",
    ]  # fmt: skip
    told = treasure(tmp_path, "steer", "j", "stop", code=2)
    assert "does not run" in told["error"]
    assert "There is no job 'k'" in treasure(tmp_path, "steer", "k", "pause", code=2)["error"]
    assert not treasure(tmp_path, "steer", "j", "speed", "full")["applied"]


def _own_status(runs: Path, pid: int) -> dict[str, Any] | None:
    workers = treasure(runs, "status", "j")["workers"]
    return next((s for name, s in workers.items() if name.endswith(f":{pid}")), None)


def test_a_fleet_passes_orders_on(site: Endless, redis_server: RedisServer, tmp_path: Path) -> None:
    """Two workers with repositories of their own: what one is told, the other does as well."""
    job = f"fleet-{os.getpid()}-{time.time_ns()}"
    more = (f"job={job}", f"frontier={redis_server.url}")
    one, two = tmp_path / "one", tmp_path / "two"
    with Crawl(site, one, *more) as first, Crawl(site, two, *more) as second:
        for runs in (one, two):
            until(lambda runs=runs: "Spider opened" in (runs / "log").read_text())
        until(lambda: len(site.visits) > 5)
        until(lambda: _running(one, job) and _running(two, job))
        assert treasure(one, "steer", job, "pause")["applied"]
        until(lambda: treasure(two, "status", job)["state"] == "paused")
        until(lambda: silent(site))
        assert treasure(two, "steer", job, "stop")["applied"]
        assert first.wait(60) == 0
        assert second.wait(60) == 0
    for runs in (one, two):
        assert treasure(runs, "status", job)["stop_reason"] == "stopped"


def _running(runs: Path, job: str) -> bool:
    if not (runs / "treasure.db").is_file():
        return False
    jobs = {told["job"]: told for told in treasure(runs, "status")["jobs"]}
    return job in jobs and jobs[job]["state"] == "running"
