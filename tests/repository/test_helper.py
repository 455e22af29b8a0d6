"""The process beside a crawl."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import func, select

from tests.repository.conftest import record
from treasure.repository.helper import Helper
from treasure.repository.models import unfinished
from treasure.repository.search import search
from treasure.repository.store import Store


def waiting(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(unfinished)).scalar_one())


def fill(store: Store, start: int, stop: int) -> None:
    store.write(
        [record(f"https://a.example/{i}", text=f"Giant number{i}.") for i in range(start, stop)]
    )


def test_it_finishes_pages_while_the_crawl_writes(url: str, store: Store) -> None:
    fill(store, 0, 30)
    helper = Helper(url, "blocks")
    for start in range(30, 120, 30):
        fill(store, start, start + 30)
    assert helper.close(60)
    assert waiting(store) == 0
    assert search(store, "giant").total == 120


def test_it_is_not_waited_for_for_ever(lite: Store) -> None:
    fill(lite, 0, 10)
    helper = Helper(lite.engine.url.render_as_string(hide_password=False), "blocks")
    assert helper.close(0.0) is False
    assert helper._process.poll() is not None
    assert lite.count() == 10


def test_it_ends_when_the_crawl_is_killed(lite: Store) -> None:
    url = lite.engine.url.render_as_string(hide_password=False)
    code = (
        "import os; from treasure.repository.helper import Helper\n"
        f"helper = Helper({url!r}, 'blocks'); print(helper._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    fill(lite, 0, 10)
    crawl = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert crawl.returncode == -9
    pid = int(crawl.stdout)
    deadline = time.monotonic() + 60
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _alive(pid)
    assert waiting(lite) == 0


def _alive(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_an_address_that_does_not_work_is_one_line() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "treasure.repository.helper"],
        input="postgresql://u:s3cret@127.0.0.1:1/x\n",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "s3cret" not in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_ctrl_c_is_for_the_crawl_alone(lite: Store) -> None:
    url = lite.engine.url.render_as_string(hide_password=False)
    code = (
        "import os, signal; from treasure.repository.helper import Helper\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        f"helper = Helper({url!r}, 'blocks')\n"
        "os.killpg(0, signal.SIGINT)  # what a terminal does, here while the helper starts\n"
        "print(helper.close(60))"
    )
    fill(lite, 0, 10)
    crawl = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True
    )
    assert (crawl.stdout, crawl.stderr) == ("True\n", "")
    assert waiting(lite) == 0
