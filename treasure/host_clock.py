"""HostClock: when each host may be asked again, shared by all jobs of one machine.

Jobs of one Scrapyd node know nothing of each other; two that crawl the same site would each keep
its delay and ask twice as often as it allows. They share a small file instead: one time per slot,
a host's slot found by its hash, mapped into the memory of every job and guarded by a lock on that
slot alone. Two hosts in one slot wait for each other now and then, which does no harm.

Times are wall-clock seconds, since they must mean the same to every process.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from treasure.errors import ConfigError

SLOTS = 1 << 17
BUSY_SECONDS = 30.0
"""How long a host counts as busy with a download of which we hear nothing more."""
LONGEST_SECONDS = 7 * 86_400.0
"""A time further ahead than this is rubbish (a clock that was set back) and is ignored."""
_TIME = struct.Struct("<d")


class HostClock:
    """The file of times."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            size = SLOTS * _TIME.size
            # All of it now: a page of the map that finds no room later ends the process (SIGBUS).
            os.posix_fallocate(self._file, 0, size)
            self._times = mmap.mmap(self._file, size)
        except OSError as error:
            raise ConfigError(
                f"The host clock {path} cannot be opened: {error.strerror}."
                " TREASURE_RUNS_DIR must be a folder we may write to."
            ) from None

    def enter(self, host: str, delay: float, now: float, *, alone: bool = True) -> float:
        """Reserve *host*; return 0, or the seconds to wait when somebody else was there.

        With *alone* nobody may enter before ``leave``; otherwise only *delay* is kept.
        """
        with self._slot(host) as place:
            wait = self._read(place, now) - now
            if wait > 0:
                return wait
            self._write(place, now + (max(delay, BUSY_SECONDS) if alone else delay))
            return 0.0

    def leave(self, host: str, delay: float, now: float) -> None:
        """Note that our download from *host* ended: it is free after *delay*."""
        with self._slot(host) as place:
            self._write(place, now + delay)

    def hold(self, host: str, until: float) -> None:
        """Let nobody enter before *until*."""
        with self._slot(host) as place:
            self._write(place, max(until, self._read(place, until)))

    def close(self) -> None:
        """Let go of the file."""
        self._times.close()
        os.close(self._file)

    @contextmanager
    def _slot(self, host: str) -> Iterator[int]:
        digest = blake2b(host.encode(), digest_size=4).digest()
        place = int.from_bytes(digest, "little") % SLOTS * _TIME.size
        fcntl.lockf(self._file, fcntl.LOCK_EX, _TIME.size, place)
        try:
            yield place
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _TIME.size, place)

    def _read(self, place: int, now: float) -> float:
        time: float = _TIME.unpack_from(self._times, place)[0]
        return time if time - now < LONGEST_SECONDS else 0.0

    def _write(self, place: int, time: float) -> None:
        _TIME.pack_into(self._times, place, time)
