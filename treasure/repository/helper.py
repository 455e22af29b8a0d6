"""Helper: the process beside a crawl that finishes its pages, at low priority.

    python -m treasure.repository.helper trafilatura < file-with-the-database-url

It reads the database's URL from its standard input, where no other user sees the password, and
ends when that is closed (also by a crawl that died) and the queue is empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

from treasure.errors import TreasureError
from treasure.repository.finishing import finish
from treasure.repository.store import Store

IDLE_SECONDS = 0.5
WAIT_SECONDS = 30.0
"""How long a crawl that ends waits for its helper."""


class Helper:
    """The process beside a crawl that finishes its pages."""

    def __init__(self, url: str, method: str = "trafilatura") -> None:
        # A crawl from a zipped egg (Scrapyd) has found us on a path that children do not know.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "treasure.repository.helper", method],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment,
            text=True,
            start_new_session=True,  # Ctrl-C is for the crawl; we end after it
        )
        assert self._process.stdin is not None
        self._process.stdin.write(url + "\n")
        self._process.stdin.flush()

    def close(self, wait_seconds: float = WAIT_SECONDS) -> bool:
        """Let it finish what is left, *wait_seconds* at most; return whether it could."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it died; what it left is in the queue
            self._process.stdin.close()
        try:
            return self._process.wait(wait_seconds) == 0
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
            return False


def main(method: str) -> int:
    """Finish pages until standard input is closed and nothing is left."""
    os.nice(10)
    try:
        store = Store.open(sys.stdin.readline().strip())
    except TreasureError as error:
        print(f"treasure: {error}", file=sys.stderr)
        return 1
    closing = threading.Event()
    threading.Thread(target=_watch, args=(closing,), daemon=True).start()
    pause = IDLE_SECONDS
    while True:
        was_closing = closing.is_set()
        try:
            done = finish(store, method=method)
            pause = IDLE_SECONDS
        except TreasureError as error:
            if was_closing:
                print(f"treasure: {error}", file=sys.stderr)
                return 1
            done, pause = 0, min(2 * pause, 30.0)
        if not done:
            if was_closing:
                return 0
            closing.wait(pause)


def _watch(closing: threading.Event) -> None:
    """Notice that the crawl closed our standard input, or died."""
    sys.stdin.read()
    closing.set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "trafilatura"))
