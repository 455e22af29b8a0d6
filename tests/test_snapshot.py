"""What is packed is what was there when the snapshot began, whatever happens meanwhile."""

from __future__ import annotations

import os
import threading
import time

import pytest

from treasure import snapshot
from treasure.snapshot import SnapshotError, begin, collect

pytestmark = pytest.mark.skipif(not snapshot.POSSIBLE, reason="only Linux forks safely")


def test_as_it_was() -> None:
    learned = list(range(1_000))

    def pack() -> bytes:
        time.sleep(0.1)
        return b",".join(str(number).encode() for number in learned)

    child = begin([("strategy", pack), ("judge", lambda: b"\x00" * 3_000_000)])
    learned.clear()
    found = collect(child)
    assert found["strategy"].split(b",")[-1] == b"999"
    assert len(found["judge"]) == 3_000_000
    with pytest.raises(ChildProcessError):
        os.waitpid(child.pid, os.WNOHANG)


def test_a_child_that_stumbles(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SnapshotError, match="status"):
        collect(begin([("judge", lambda: bytes(1 // 0))]))
    assert "Traceback" not in capfd.readouterr().out


def test_a_child_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that another thread held when we forked is never let go in the child."""
    monkeypatch.setattr(snapshot, "SILENT_SECONDS", 0.2)
    lock, held, over = threading.Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            over.wait(10)

    def pack() -> bytes:
        with lock:
            return b""

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = begin([("judge", pack)])
    over.set()
    thread.join()
    with pytest.raises(SnapshotError, match="said nothing"):
        collect(child)
