from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from treasure.errors import ConfigError
from treasure.host_clock import BUSY_SECONDS, LONGEST_SECONDS, SLOTS, HostClock

NOW = 1_800_000_000.0


def test_two_jobs_share_a_host(tmp_path: Path) -> None:
    one, two = HostClock(tmp_path / "hosts"), HostClock(tmp_path / "hosts")
    assert one.enter("a.org", 2.0, NOW) == 0
    assert two.enter("a.org", 2.0, NOW + 1) == BUSY_SECONDS - 1
    assert two.enter("b.org", 2.0, NOW + 1) == 0
    one.leave("a.org", 2.0, NOW + 5)
    assert two.enter("a.org", 2.0, NOW + 6) == pytest.approx(1)
    assert two.enter("a.org", 2.0, NOW + 7) == 0


def test_a_job_that_died_blocks_nobody_for_long(tmp_path: Path) -> None:
    HostClock(tmp_path / "hosts").enter("a.org", 2.0, NOW)
    assert HostClock(tmp_path / "hosts").enter("a.org", 2.0, NOW + BUSY_SECONDS) == 0


def test_several_at_once_keep_only_the_delay(tmp_path: Path) -> None:
    clock = HostClock(tmp_path / "hosts")
    assert clock.enter("a.org", 0.5, NOW, alone=False) == 0
    assert clock.enter("a.org", 0.5, NOW + 0.2, alone=False) == pytest.approx(0.3)
    assert clock.enter("a.org", 0.5, NOW + 0.5, alone=False) == 0


def test_holds_are_shared_and_outlive_the_job(tmp_path: Path) -> None:
    clock = HostClock(tmp_path / "hosts")
    clock.hold("a.org", NOW + 100)
    clock.hold("a.org", NOW + 50)
    clock.close()
    assert HostClock(tmp_path / "hosts").enter("a.org", 1.0, NOW) == 100


def test_a_time_far_ahead_is_rubbish(tmp_path: Path) -> None:
    clock = HostClock(tmp_path / "hosts")
    clock.hold("a.org", NOW + 2 * LONGEST_SECONDS)
    assert clock.enter("a.org", 1.0, NOW) == 0


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="TREASURE_RUNS_DIR"):
        HostClock(tmp_path / "file" / "hosts")


def test_a_disk_that_fills_up_later_does_no_harm(tmp_path: Path) -> None:
    HostClock(tmp_path / "hosts").close()
    # A page of the map without room on the disk would end the process with SIGBUS.
    assert (tmp_path / "hosts").stat().st_blocks * 512 >= 8 * SLOTS


WORKER = """
import sys, time
from pathlib import Path
from treasure.host_clock import HostClock
clock = HostClock(Path(sys.argv[1]))
entered = 0
while entered < 20:
    wait = clock.enter("a.org", 0.01, time.time())
    if wait:
        time.sleep(min(wait, 0.003))
        continue
    started = time.time()
    time.sleep(0.002)
    print(started, time.time(), flush=True)
    clock.leave("a.org", 0.01, time.time())
    entered += 1
"""


def test_processes_never_meet_at_a_host(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(tmp_path / "hosts")]
    jobs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    visits = []
    for job in jobs:
        output, _ = job.communicate(timeout=60)
        visits += [tuple(map(float, line.split())) for line in output.splitlines()]
    visits.sort()
    assert len(visits) == 60
    for (_, ended), (started, _) in itertools.pairwise(visits):
        assert started >= ended + 0.0099
