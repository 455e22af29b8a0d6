"""The embedded home: crashes, damage, two processes, and what goes wrong on a disk."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from treasure.config import TreasureConfig
from treasure.errors import ConfigError, FrontierUnavailable, JobError
from treasure.frontier import embedded, open_frontier
from treasure.frontier.base import Entry, Policy
from treasure.frontier.embedded import EmbeddedFrontier
from treasure.frontier.memory import MemoryFrontier
from treasure.frontier.rocks import Batch
from treasure.frontier.rows import Counters
from treasure.urls import host_of

FREE = Policy(delay=0.0, concurrency=100, ageing_fetches=100)

WORKER = """
    import sys
    from treasure.frontier.base import Entry, Policy
    from treasure.frontier.embedded import EmbeddedFrontier

    frontier = EmbeddedFrontier(sys.argv[1], Policy(delay=0.0, concurrency=100, ageing_fetches=100))
    start, step = frontier.counts().done * 1000, 0
    while True:
        names = [f"http://{n % 5}.org/{start + step}-{n}" for n in range(6)]
        new = [Entry(name, hash(name) % 100 / 100) for name in names]
        frontier.push(new)
        print("pushed", *(entry.url for entry in new), flush=True)
        leases = [frontier.take(0.0) for _ in range(3)]
        for lease in leases[:2]:
            print("doing", lease.entry.url, flush=True)
            frontier.acknowledge([lease.key])
            print("done", lease.entry.url, flush=True)
        step += 1
"""


def test_kill_at_any_moment(tmp_path: Path) -> None:
    """Nothing that push returned is lost, nothing that was acknowledged comes again."""
    draw = random.Random(5)
    pushed: set[str] = set()
    doing: set[str] = set()
    done: set[str] = set()
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path / "f")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(draw.randrange(5, 400))]
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().splitlines()
        process.wait()
        process.stdout.close()
        for word, *urls in (line.split() for line in [*lines, *rest]):
            {"pushed": pushed, "doing": doing, "done": done}[word].update(urls)
    frontier = EmbeddedFrontier(tmp_path / "f", FREE)
    counts = frontier.counts()
    waiting = {entry.url for entry in frontier.peek(1_000_000)}
    assert len(waiting) == counts.queued
    assert pushed - waiting - done <= doing - done
    assert not waiting & done
    assert all(frontier.seen(url) for url in pushed)
    taken = 0
    while (lease := frontier.take(0.0)) is not None:
        frontier.landed(lease.key, 0.0)
        taken += 1
    assert taken == counts.queued
    frontier.close()


def test_order_survives_restarts(tmp_path: Path) -> None:
    """Stopped and opened again after every few calls, it gives what the one in memory gives."""
    draw = random.Random(3)
    memory, disk = MemoryFrontier(FREE), EmbeddedFrontier(tmp_path / "f", FREE)
    for step in range(12):
        entries = [
            Entry(f"http://{draw.randrange(9)}.org/{draw.randrange(500)}", draw.randrange(20) / 20)
            for _ in range(30)
        ]
        assert memory.push(entries) == disk.push(entries)
        for _ in range(10):
            one, other = memory.take(0.0), disk.take(0.0)
            assert one == other
            assert one is not None
            memory.acknowledge([one.key])
            disk.acknowledge([one.key])
        if step % 3 == 2:
            disk.close()
            disk = EmbeddedFrontier(tmp_path / "f", FREE)
    assert memory.peek(1_000) == disk.peek(1_000)
    assert memory.hosts(20) == disk.hosts(20)
    disk.close()


def test_politeness_survives_a_crash(tmp_path: Path) -> None:
    """In wall-clock time, whatever the clock of the next process shows."""
    frontier = EmbeddedFrontier(tmp_path / "f", Policy(delay=50.0), clock=lambda: 1_000.0)
    frontier.push([Entry("http://a.org/1", 0.5), Entry("http://a.org/2", 0.4)])
    frontier.push([Entry("http://b.org/1", 0.5)])
    frontier.hold("b.org", 1_600.0)
    assert frontier.take(1_000.0) is not None
    del frontier  # no close
    again = EmbeddedFrontier(tmp_path / "f", Policy(delay=50.0), clock=lambda: 7.0)
    assert again.take(7.0) is None
    assert again.next_time(7.0) == pytest.approx(57.0, abs=5)
    lease = again.take(60.0)
    assert lease is not None
    assert (lease.entry.url, lease.attempts) == ("http://a.org/1", 1)
    again.acknowledge([lease.key])
    last = again.take(130.0)
    assert last is not None
    assert last.entry.url == "http://a.org/2"
    assert again.next_time(130.0) == pytest.approx(607.0, abs=5)
    again.close()


def test_a_retry_waits_on_after_a_crash(tmp_path: Path) -> None:
    """It keeps its time, in wall-clock time, and how often it was tried; others go on."""
    frontier = EmbeddedFrontier(tmp_path / "f", FREE, clock=lambda: 1_000.0)
    frontier.push([Entry("http://a.org/1", 0.9), Entry("http://a.org/2", 0.4)])
    lease = frontier.take(1_000.0)
    assert lease is not None
    frontier.release(lease.key, not_before=1_300.0)
    del frontier  # no close
    again = EmbeddedFrontier(tmp_path / "f", FREE, clock=lambda: 7.0)
    assert (again.counts().queued, again.hosts(1)) == (2, [("a.org", 1)])
    other = again.take(7.0)
    assert other is not None
    assert other.entry.url == "http://a.org/2"
    again.acknowledge([other.key])
    assert again.next_time(7.0) == pytest.approx(307.0, abs=5)
    assert again.take(250.0) is None
    retry = again.take(320.0)
    assert retry is not None
    assert (retry.entry.url, retry.attempts) == ("http://a.org/1", 1)
    again.acknowledge([retry.key])
    assert again.next_time(320.0) is None
    again.close()
    last = EmbeddedFrontier(tmp_path / "f", FREE)
    assert (last.counts().queued, last.counts().done, dict(last._shelf.tried())) == (0, 2, {})
    last.close()


def test_a_job_keeps_its_ageing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    frontier = EmbeddedFrontier(tmp_path / "f", Policy(ageing_fetches=10))
    frontier.push([Entry("http://a.org/1", 0.5)])
    frontier.close()
    EmbeddedFrontier(tmp_path / "f", Policy(ageing_fetches=20)).close()
    assert "goes on with the ageing it began with: 10 fetches" in caplog.text


def test_two_processes(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys
        from treasure.frontier.embedded import EmbeddedFrontier
        frontier = EmbeddedFrontier(sys.argv[1])
        print("open", flush=True)
        sys.stdin.read()
        """
    )
    folder = tmp_path / "job" / "frontier"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(JobError, match=rf"in use by process {other.pid}\. Stop"):
            EmbeddedFrontier(folder)
        other.kill()
    EmbeddedFrontier(folder).close()


def test_twice_in_one_process(tmp_path: Path) -> None:
    frontier = EmbeddedFrontier(tmp_path / "f")
    with pytest.raises(JobError, match=rf"open in this process \({os.getpid()}\) already"):
        EmbeddedFrontier(tmp_path / "f")
    frontier.close()
    frontier.close()
    EmbeddedFrontier(tmp_path / "f").close()


def test_after_it_is_closed(tmp_path: Path) -> None:
    """Whoever still asks, such as the status page while a crawl ends, is told so."""
    frontier = EmbeddedFrontier(tmp_path / "f")
    frontier.push([Entry("http://a.org/", 0.5)])
    frontier._shelf.failed = True
    frontier.close()
    for call in (
        lambda: frontier.sample(3),
        lambda: frontier.push([Entry("http://a.org/", 0.5)]),
        lambda: frontier.seen("http://a.org/"),
        frontier.checkpoint,
    ):
        with pytest.raises(FrontierUnavailable, match="is closed"):
            call()


CRASH = """
    import os, signal, sys
    from treasure.frontier.base import Entry
    from treasure.frontier.embedded import EmbeddedFrontier

    frontier = EmbeddedFrontier(sys.argv[1])
    for step in range(20):
        frontier.push([Entry(f"http://b.org/{step}-{n}", 0.5) for n in range(500)])
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("ending", ["sst", "log", "MANIFEST", "CURRENT"])
def test_damage_is_named(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "f"
    frontier = EmbeddedFrontier(folder, FREE)
    for start in range(0, 20_000, 500):
        frontier.push([Entry(f"http://a.org/{n}", 0.5) for n in range(start, start + 500)])
    frontier.close()  # writes tables
    crashed = [sys.executable, "-c", textwrap.dedent(CRASH), str(folder)]  # leaves a log
    assert subprocess.run(crashed, check=False).returncode == -signal.SIGKILL
    files = [f for f in folder.iterdir() if f.name.endswith(ending) or f.name.startswith(ending)]
    assert files
    for file in files:
        data = bytearray(file.read_bytes())
        middle = len(data) // 3
        data[middle : middle + 64] = bytes(byte ^ 0xFF for byte in data[middle : middle + 64])
        file.write_bytes(data if ending in {"sst", "log"} else b"rubbish\n")
    with pytest.raises(JobError, match=r"damaged \(.*\)\. Bring it back from a backup, or name"):
        _use(EmbeddedFrontier(folder, FREE))


def _use(frontier: EmbeddedFrontier) -> None:
    try:
        while (lease := frontier.take(0.0)) is not None:
            frontier.acknowledge([lease.key])
    finally:
        frontier.close()


def test_another_version(tmp_path: Path) -> None:
    from rocksdict import Options, Rdict

    EmbeddedFrontier(tmp_path / "f").close()
    options = Options(raw_mode=True)
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(str(tmp_path / "f"))}
    db = Rdict(str(tmp_path / "f"), options, column_families=families)
    db.put(b"format", b"treasure frontier 99")
    db.close()
    with pytest.raises(JobError, match="of another version"):
        EmbeddedFrontier(tmp_path / "f")


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError, match=r"folder .* cannot be used"):
        EmbeddedFrontier(tmp_path / "file" / "f")


def test_a_write_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full: the call fails, what was known stays, and later it goes on."""
    frontier = EmbeddedFrontier(tmp_path / "f", FREE)
    frontier.push([Entry(f"http://a.org/{n}", n / 10) for n in range(5)])
    lease = frontier.take(0.0)
    assert lease is not None
    before = frontier.counts(), frontier.peek(10)

    def full(batch: Batch) -> None:
        raise FrontierUnavailable("IO error: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(frontier._shelf, "write", full)
        for call in (
            lambda: frontier.push([Entry("http://b.org/new", 1.0), Entry("http://a.org/1", 0.9)]),
            lambda: frontier.take(0.0),
            lambda: frontier.acknowledge([lease.key]),
            lambda: frontier.rescore({lease.key: 0.1}) or frontier.acknowledge([1]),
            lambda: frontier.discard(lambda url: True),
        ):
            with pytest.raises(FrontierUnavailable, match="No space left"):
                call()
    counts, waiting = frontier.counts(), frontier.peek(10)
    assert (counts.queued, counts.leased, counts.done) == (4, 1, 0)
    assert waiting == before[1]
    frontier.acknowledge([lease.key])
    assert frontier.push([Entry("http://c.org/new", 1.0)]) == [True]
    frontier.close()
    again = EmbeddedFrontier(tmp_path / "f", FREE)
    assert [entry.url for entry in again.peek(10)] == ["http://c.org/new"] + [
        entry.url for entry in before[1]
    ]
    again.close()


def test_a_disk_that_is_full_at_the_end_loses_nothing(tmp_path: Path) -> None:
    frontier = EmbeddedFrontier(tmp_path, FREE)
    frontier.push([Entry(f"http://a.org/{n}", n / 10) for n in range(5)])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        frontier.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    again = EmbeddedFrontier(tmp_path, FREE)
    assert len(again.peek(10)) == 5
    again.close()


def test_after_an_error_the_disk_is_asked(tmp_path: Path) -> None:
    """The tables are opened again after an error; what is remembered is not trusted."""
    frontier = EmbeddedFrontier(tmp_path, FREE)
    entries = [Entry(f"http://a.org/{n}", n / 10) for n in range(5)]
    assert all(frontier.push(entries))
    frontier._shelf.failed = True
    assert frontier.push([*entries, Entry("http://b.org/", 1.0)]) == [False] * 5 + [True]
    frontier._shelf.failed = True
    assert frontier.seen("http://a.org/1")
    assert frontier.counts().queued == 6
    frontier.close()


def test_counts_that_lag_behind_are_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening counts per host what is there, though not every count was written."""
    monkeypatch.setattr(embedded, "BEHIND_ARRIVALS", 50)
    draw = random.Random(2)
    frontier = EmbeddedFrontier(tmp_path, FREE)
    for step in range(60):
        host = draw.randrange(8)
        frontier.push([Entry(f"http://{host}.org/{step}-{n}", draw.random()) for n in range(7)])
        if step % 4 == 0 and (lease := frontier.take(0.0)) is not None and step % 8 == 0:
            frontier.acknowledge([lease.key])
        if step % 10 == 9:
            before = frontier.counts().queued + frontier.counts().leased
            frontier.close()
            frontier = EmbeddedFrontier(tmp_path, FREE)
            assert frontier.counts().queued == before
            urls = [entry.url for entry in frontier.peek(1_000)]
            assert dict(frontier.hosts(10)) == Counter(host_of(url) for url in urls)
    frontier.close()


def test_counters_are_kept(tmp_path: Path) -> None:
    frontier = EmbeddedFrontier(tmp_path / "f", FREE)
    frontier.push([Entry("http://a.org/1", 0.5), Entry("http://a.org/2", 0.5)])
    assert frontier.take(0.0) is not None
    assert frontier._shelf.counters() == Counters(sequence=1, arrivals=2, done=0, rate=0.01)
    frontier.checkpoint()
    frontier.close()


def test_settings_choose_the_home(tmp_path: Path) -> None:
    config = TreasureConfig(runs_dir=str(tmp_path), frontier_exploration=0.25, random_seed=3)
    frontier = open_frontier(config, "my-job")
    assert isinstance(frontier, EmbeddedFrontier)
    assert frontier.policy.exploration == 0.25
    assert (tmp_path / "my-job" / "frontier" / "CURRENT").exists()
    frontier.close()
    assert isinstance(open_frontier(TreasureConfig(frontier="memory"), "x"), MemoryFrontier)
    with pytest.raises(ConfigError, match=r"must be memory, embedded .* Did you mean 'embedded'"):
        open_frontier(TreasureConfig(frontier="embeded"), "x")
