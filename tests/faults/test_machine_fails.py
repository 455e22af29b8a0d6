"""The disk is full, the database locked, the clock set back, the network gone."""

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.crawl.small_web import addresses, served
from tests.faults.crawls import asked, crawling
from tests.faults.test_servers_fail import complete

pytestmark = pytest.mark.slow
SITES, PAGES = 6, 12

JUMP = '''
import time
_real, _start = time.time, time.monotonic()
def _set_back():
    """An hour less, from the fourth second on."""
    return _real() - (3600.0 if time.monotonic() - _start > 4.0 else 0.0)
time.time = _set_back
'''


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_the_disk_is_full_for_a_while(small_disk, tmp_path):
    runs, log, filler = small_disk / "runs", tmp_path / "crawl.log", small_disk / "filler"
    with served(SITES, PAGES) as web:
        with crawling(runs, f"seeds={next(iter(web))}/0", log=log) as crawl:
            crawl.until(asked(web, 15), "at work")
            _fill(filler)
            crawl.until(lambda: "trying again" in crawl.log, "noticed")
            filler.unlink()
            assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{runs / 'treasure.db'}")


def test_the_disk_is_full_when_a_crawl_is_told_to_end(small_disk, tmp_path):
    runs, log, filler = small_disk / "runs", tmp_path / "crawl.log", small_disk / "filler"
    with served(SITES, PAGES) as web:
        seeds = f"seeds={next(iter(web))}/0"
        with crawling(runs, seeds, log=log) as crawl:
            crawl.until(asked(web, 15), "at work")
            _fill(filler)
            crawl.until(lambda: "trying again in 5 s" in crawl.log, "noticed")
            crawl.process.terminate()
            assert crawl.ends() == 1, crawl.log[-3000:]
            assert "disk is full; nothing acknowledged is lost. Mend it and restart." in crawl.log
            assert "Traceback" not in crawl.log, crawl.log[-5000:]
        filler.unlink()
        with crawling(runs, seeds, log=log) as crawl:
            assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{runs / 'treasure.db'}")


def _fill(path: Path) -> None:
    """Take what room there is."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 65_536)
        except OSError:
            pass


def test_the_database_is_locked_for_a_while(tmp_path):
    """For longer than SQLite itself waits, which is half a minute."""
    runs = tmp_path / "runs"
    database = runs / "treasure.db"
    with served(SITES, PAGES) as web, crawling(runs, f"seeds={next(iter(web))}/0") as crawl:
        crawl.until(asked(web, 15), "at work")
        other = sqlite3.connect(database, timeout=60, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        crawl.until(lambda: "trying again" in crawl.log, "noticed")
        other.execute("ROLLBACK")
        other.close()
        assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{database}")


def test_the_clock_is_set_back(tmp_path):
    runs = tmp_path / "runs"
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(JUMP)
    path = os.pathsep.join([str(tmp_path / "clock"), os.environ.get("PYTHONPATH", "")])
    with served(SITES, PAGES) as web, crawling(
        runs, f"seeds={next(iter(web))}/0", "host_delay_seconds=0.5", PYTHONPATH=path
    ) as crawl:  # fmt: skip
        assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{runs / 'treasure.db'}")


def test_the_network_is_gone_for_a_while(tmp_path):
    """Longer than all tries of a link take together; none of them counts."""
    runs = tmp_path / "runs"
    with served(SITES, PAGES) as web, crawling(
        runs, f"seeds={next(iter(web))}/0", "retry_times=1", "retry_seconds=0.1"
    ) as crawl:  # fmt: skip
        crawl.until(asked(web, 15), "at work")
        for site in web.values():
            site.unplug()
        crawl.until(lambda: "waiting for the network" in crawl.log, "noticed")
        for site in web.values():
            site.plug()
        assert crawl.ends() == 0, crawl.log[-3000:]
        assert "The network is back" in crawl.log
        complete(web, f"sqlite:///{runs / 'treasure.db'}")
        assert len(addresses(web)) == SITES * PAGES
