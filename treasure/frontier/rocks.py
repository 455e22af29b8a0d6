"""Shelf: the tables of an embedded frontier, in one RocksDB.

``links``    host number, rank -> key of the URL; per host in the order in which they are taken
``states``   key -> host number, score, sequence, arrival, attempts; nothing when it is done
``entries``  arrival -> the link itself; numbers that only grow need next to no compaction
``hosts``    number -> name, politeness, how many links (at some arrival) and the rank of the best
(default)    counters and the format

A batch is written to all tables or to none (atomically, in one write-ahead log), and survives the
death of the process once ``write`` returns. Link and entry are apart so that a new score does not
rewrite the text; the best rank is kept with its host so that opening reads one row per host.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from random import randbytes
from typing import Any, NamedTuple, NoReturn
from weakref import proxy

import msgspec
from rocksdict import (
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    WriteBatch,
)

from treasure.errors import FrontierUnavailable, JobError
from treasure.frontier.base import Entry
from treasure.frontier.packing import pack, unpack

FORMAT = b"treasure frontier 2"
OLD_FORMAT = b"treasure frontier 1"
"""Its host rows do not say as of which arrival they count; the frontier adds that."""
TABLES = ("links", "states", "entries", "hosts")

SAMPLED_ROWS = 10
"""Rows read for each link of a sample, at most: those that are done say nothing."""
REMEMBERED_STATES = 50_000
"""States kept in memory: most links of a page were on one of the pages before."""
CACHE_BYTES = 96_000_000
WRITE_BUFFER_BYTES = 96_000_000

_KEY = struct.Struct(">q")
_STATE = struct.Struct(">IddQQI")
_COUNTERS = struct.Struct(">QQQd")
_NUMBER = struct.Struct(">I")
_DOUBLE = struct.Struct(">d")
_RANK = struct.Struct(">QQ")
_UNSIGNED = struct.Struct(">Q")
_SIGN = 1 << 63


class State(NamedTuple):
    """Where a link stands that is not done."""

    number: int
    """Of its host."""
    score: float
    order: float
    """First part of the rank: ``rate * sequence - score``."""
    sequence: int
    arrival: int
    attempts: int

    @property
    def rank(self) -> bytes:
        """The order and the arrival as bytes that sort alike."""
        (bits,) = _KEY.unpack(_DOUBLE.pack(self.order + 0.0))  # no negative zero
        return _RANK.pack(~bits if bits < 0 else bits + _SIGN, self.arrival)

    @property
    def row(self) -> bytes:
        """Key of its row in ``links``."""
        return _NUMBER.pack(self.number) + self.rank


def order_of(rank: bytes) -> float:
    """Return the first part of *rank* as a number."""
    (bits,) = _UNSIGNED.unpack(rank[:8])
    number: float = _DOUBLE.unpack(_KEY.pack(bits - _SIGN if bits & _SIGN else ~bits))[0]
    return number


def rank_at(order: float) -> bytes:
    """Return the lowest rank of *order*."""
    return State(0, 0.0, order, 0, 0, 0).rank


class HostRow(NamedTuple):
    """A row of ``hosts``."""

    name: str
    delay: float
    allowed_at: float
    """In wall-clock time."""
    links: int
    first: bytes
    """Rank of its best link; empty when there is none."""
    arrivals: int = -1
    """Links that arrived at this number or later are not counted yet; -1 in old frontiers."""


class Counters(NamedTuple):
    """What is counted over the life of the job."""

    sequence: int = 0
    arrivals: int = 0
    done: int = 0
    rate: float = 0.0


_encode = msgspec.msgpack.Encoder().encode
_decode_host = msgspec.msgpack.Decoder(HostRow).decode


class Batch:
    """Changes that are written together."""

    def __init__(self, shelf: Shelf) -> None:
        shelf.mend()
        self.writes = WriteBatch(raw_mode=True)
        self.states: dict[int, bytes | None] = {}
        """What ``raw_states`` answers once this is written."""
        self._links, self._states, self._entries, self._hosts = shelf.handles

    def put_entry(self, arrival: int, entry: Entry) -> None:
        """Keep the link itself."""
        self.writes.put(_UNSIGNED.pack(arrival), pack(entry), self._entries)

    def put_state(self, key: int, state: State) -> None:
        """Keep where a link stands, without its place in the order."""
        row = self.states[key] = _STATE.pack(*state)
        self.writes.put(_KEY.pack(key), row, self._states)

    def put_link(self, key: int, state: State) -> bytes:
        """Keep where a link stands and its place in the order; return its rank."""
        packed, rank = _KEY.pack(key), state.rank
        row = self.states[key] = _STATE.pack(*state)
        self.writes.put(packed, row, self._states)
        self.writes.put(_NUMBER.pack(state.number) + rank, packed, self._links)
        return rank

    def delete_place(self, state: State) -> bytes:
        """Take a link's place in the order away; return its rank."""
        rank = state.rank
        self.writes.delete(_NUMBER.pack(state.number) + rank, self._links)
        return rank

    def delete_link(self, state: State) -> None:
        """Take a link's place in the order and its text away."""
        self.writes.delete(state.row, self._links)
        self.writes.delete(_UNSIGNED.pack(state.arrival), self._entries)

    def put_done(self, key: int) -> None:
        """Remember of a link that it is done."""
        self.states[key] = b""
        self.writes.put(_KEY.pack(key), b"", self._states)

    def forget(self, key: int) -> None:
        """Forget that there ever was such a link."""
        self.states[key] = None
        self.writes.delete(_KEY.pack(key), self._states)

    def put_host(self, number: int, row: HostRow) -> None:
        """Keep a host."""
        self.writes.put(_NUMBER.pack(number), _encode(row), self._hosts)

    def put_counters(self, counters: Counters) -> None:
        """Keep the counters."""
        self.writes.put(b"counters", _COUNTERS.pack(*counters))


class _Guard:
    """Says in our words what went wrong: RocksDB's errors are plain ``Exception``."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def __enter__(self) -> None:
        self.shelf.mend()

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        if kind is Exception:
            self.shelf.failed = True
            refuse(self.shelf.folder, error)


class Shelf:
    """The open tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failed = False
        """Whether RocksDB met an error: it takes no more writes then until it is opened again."""
        self.handles: list[Any] = []
        self._remembered: dict[int, bytes | None] = {}
        self._guard = _Guard(proxy(self))  # a circle would keep the database open
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JobError(
                f"The frontier folder {folder} cannot be used: {error.strerror}."
            ) from None
        self._open()

    def mend(self) -> None:
        """Open the tables again after an error such as a full disk; what was written is there."""
        if self.failed:
            self._let_go()
            self._open()

    def _open(self) -> None:
        self._db: Any
        try:
            self._db = Rdict(str(self.folder), _options(), column_families=_columns())
        except Exception as error:
            refuse(self.folder, error)
        self.failed = False
        self._remembered.clear()  # whether a batch that failed was written, only the disk knows
        self.handles = [self._db.get_column_family_handle(name) for name in TABLES]
        self._links: Any
        self._states: Any
        self._entries: Any
        self._hosts: Any
        tables: list[Any] = [self._db.get_column_family(name) for name in TABLES]
        self._links, self._states, self._entries, self._hosts = tables
        with self._guard:
            self._claim()

    def write(self, batch: Batch) -> None:
        """Write the batch; it survives the death of this process from here on."""
        with self._guard:
            self._db.write(batch.writes)
        if len(self._remembered) > REMEMBERED_STATES:
            self._remembered.clear()
        self._remembered.update(batch.states)

    def states(self, keys: Sequence[int]) -> list[State | None]:
        """Return the states of links that are not done."""
        return [State(*_STATE.unpack(raw)) if raw else None for raw in self.raw_states(keys)]

    def raw_states(self, keys: Sequence[int]) -> list[bytes | None]:
        """Return one answer per key: None when unknown, nothing in it when done."""
        remembered = self._remembered
        with self._guard:  # which may open the tables again, and forget
            missing = [key for key in keys if key not in remembered]
            rows = self._states.get([_KEY.pack(key) for key in missing])
        found: dict[int, bytes | None] = dict(zip(missing, rows, strict=True))
        return [remembered[key] if key in remembered else found[key] for key in keys]

    def entry(self, state: State) -> Entry:
        """Return a link that is not done."""
        with self._guard:
            return unpack(self._entries[_UNSIGNED.pack(state.arrival)])

    def ranks(self, number: int, start: bytes = b"") -> Iterator[tuple[bytes, int]]:
        """Yield rank and key of a host's links, best first, from *start* on."""
        prefix = _NUMBER.pack(number)
        with self._guard:
            rows = self._links.iter()
            rows.seek(prefix + start)
            while rows.valid():
                row: bytes = rows.key()
                if not row.startswith(prefix):
                    return
                yield row[4:], _KEY.unpack(rows.value())[0]
                rows.next()

    def last_rank(self, number: int) -> bytes | None:
        """Return the rank of a host's worst link."""
        with self._guard:
            rows = self._links.iter()
            rows.seek_for_prev(_NUMBER.pack(number) + b"\xff" * 16)
            row: bytes = rows.key() if rows.valid() else b""
        return row[4:] if row.startswith(_NUMBER.pack(number)) else None

    def some_scores(self, count: int) -> list[float]:
        """Return the scores of at most *count* links that are not done.

        Keys are hashes, so links that lie beside each other have nothing in common: those after a
        random key are a fair draw. A few times as many rows are read, as many may be done.
        """
        start = randbytes(_KEY.size)
        around = chain(self._states_from(start, b""), self._states_from(b"", start))
        rows = islice(around, SAMPLED_ROWS * count)
        return list(islice((unpack_state(raw).score for raw in rows if raw), count))

    def _states_from(self, start: bytes, end: bytes) -> Iterator[bytes]:
        """Yield the states of keys from *start* to before *end*; without an end, of all."""
        with self._guard:
            rows = self._states.iter()
            rows.seek(start)
            while rows.valid() and not (end and rows.key() >= end):
                yield rows.value()
                rows.next()

    def all_urls(self) -> Iterator[str]:
        """Yield the URL of every link that is not done, in order of arrival."""
        return (url for _, url in self.arrived(0))

    def arrived(self, start: int) -> Iterator[tuple[int, str]]:
        """Yield arrival and URL of every link that is not done, from arrival *start* on."""
        with self._guard:
            for arrival, value in self._entries.items(from_key=_UNSIGNED.pack(start)):
                yield _UNSIGNED.unpack(arrival)[0], unpack(value).url

    def all_ranks(self) -> Iterator[tuple[bytes, int]]:
        """Yield rank and key of every link that is not done."""
        with self._guard:
            for row, key in self._links.items():
                yield row[4:], _KEY.unpack(key)[0]

    def hosts(self) -> Iterator[tuple[int, HostRow]]:
        """Yield all hosts in the order of their numbers."""
        with self._guard:
            for number, value in self._hosts.items():
                yield _NUMBER.unpack(number)[0], _decode_host(value)

    def counters(self) -> Counters | None:
        """Return the counters; None in a new frontier."""
        with self._guard:
            raw = self._db.get(b"counters")
        return Counters(*_COUNTERS.unpack(raw)) if raw else None

    def sync(self) -> None:
        """Make everything durable against loss of power."""
        with self._guard:
            self._db.flush_wal(True)

    def close(self) -> None:
        """Make everything durable and let go of the files; once is enough."""
        if not self.handles:
            return
        if not self.failed:
            self.sync()
        (self.folder / "owner").unlink(missing_ok=True)
        self._let_go()

    def _let_go(self) -> None:
        if self.handles:
            self.handles = []  # they would keep the database open
            tables = [self._links, self._states, self._entries, self._hosts, self._db]
            self._links = self._states = self._entries = self._hosts = self._db = None
            told = [Exception] if self.failed else []  # it says once more what failed
            while tables:
                with suppress(*told):
                    tables.pop(0).close()

    def _claim(self) -> None:
        found = self._db.get(b"format")
        if found in (None, OLD_FORMAT):
            self._db.put(b"format", FORMAT)
        elif found != FORMAT:
            self.close()
            raise JobError(
                f"The frontier in {self.folder} is of another version ({found!r}, expected "
                f"{FORMAT!r}): continue the job with the version that made it, or name a new job."
            )
        (self.folder / "owner").write_text(str(os.getpid()))


def refuse(folder: Path, error: Exception) -> NoReturn:
    """Raise an error of RocksDB as one of ours."""
    reason = " ".join(str(error).split())
    if "lock" in reason.lower() and "IO error" in reason:
        raise JobError(f"The job in {folder.parent} is {_owner(folder)}.") from None
    if reason.startswith("IO error"):
        raise FrontierUnavailable(f"The frontier in {folder}: {reason}") from error
    raise JobError(
        f"The frontier in {folder} is damaged ({reason}). Bring it back from a backup, or name a"
        " new job; the pages in the repository are not touched."
    ) from error


def _owner(folder: Path) -> str:
    try:
        pid = int((folder / "owner").read_text())
    except (OSError, ValueError):
        return "in use by another process. Stop that, or name another job"
    if pid == os.getpid():
        return f"open in this process ({pid}) already"
    return f"in use by process {pid}. Stop that process, or name another job"


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_atomic_flush(True)
    # Half a record at the end of the log is what a power cut leaves; anything else is damage.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES)
    options.set_max_total_wal_size(4 * WRITE_BUFFER_BYTES)
    options.set_max_open_files(256)
    options.set_max_background_jobs(2)
    options.set_keep_log_file_num(3)
    options.set_max_log_file_size(1_000_000)
    options.set_wal_bytes_per_sync(1_000_000)
    return options


def _columns() -> dict[str, Options]:
    cache = Cache(CACHE_BYTES)
    return {
        "default": _column(cache, bloom=False),
        "links": _column(cache, bloom=False),
        "states": _column(cache, bloom=True),
        "entries": _column(cache, bloom=False),
        "hosts": _column(cache, bloom=False),
    }


def _column(cache: Cache, *, bloom: bool) -> Options:
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    blocks.set_format_version(5)
    if bloom:
        blocks.set_bloom_filter(10, False)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    options.set_write_buffer_size(32_000_000)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_level_compaction_dynamic_level_bytes(True)
    return options


def unpack_state(raw: bytes) -> State:
    """Return the state in a row of ``states``."""
    return State(*_STATE.unpack(raw))
