"""Shelf: the tables of an embedded frontier, in one RocksDB. What is in a row: ``rows.py``.

``links``    place (host number, rank) -> key of the URL, score, sequence; in the order of taking
``states``   key -> place, score, sequence; nothing when it is done
``entries``  arrival -> the link itself; numbers that only grow need next to no compaction
``tried``    key -> attempts and the time of the retry, of links that were taken and are not done
``hosts``    number -> name, politeness, how many links (at some arrival) and the rank of the best
(default)    counters, the counts of all hosts at some arrival, and the format

A batch is written to all tables or to none (atomically, in one write-ahead log), and survives the
death of the process once ``write`` returns. Link and entry are apart so that a new score does not
rewrite the text; the best rank is kept with its host so that opening reads one row per host.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from weakref import proxy

import msgspec
from rocksdict import (
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    DBRecoveryMode,
    MemtableFactory,
    Options,
    Rdict,
    SliceTransform,
    WriteBatch,
)

from treasure.errors import FrontierUnavailable, JobError
from treasure.frontier import rows
from treasure.frontier.base import Entry
from treasure.frontier.packing import pack, unpack
from treasure.frontier.rows import Counters, HostRow, LinkRows, State, Tried
from treasure.urls import url_key

FORMAT = b"treasure frontier 3"
TABLES = ("links", "states", "entries", "tried", "hosts")

REMEMBERED_STATES = 50_000
"""States kept in memory: most links of a page were on one of the pages before."""
STATE_BUCKETS = 1 << 17
"""About as many as there are states in memory when they are written to a file."""
CACHE_BYTES = 64_000_000
WRITE_BUFFER_BYTES = 96_000_000


class _Address(msgspec.Struct, array_like=True):
    """The part of an entry that tells its host."""

    url: str


_unpack_address = msgspec.msgpack.Decoder(_Address).decode


class Batch:
    """Changes that are written together."""

    def __init__(self, shelf: Shelf) -> None:
        shelf.mend()
        self.writes = WriteBatch(raw_mode=True)
        self.states: dict[int, bytes | None] = {}
        """What ``raw_states`` answers once this is written."""
        self._links, self._states, self._entries, self._tried, self._hosts = shelf.handles

    def put_entries(self, arrivals: Iterable[bytes], entries: Iterable[Entry]) -> None:
        """Keep the links themselves."""
        put, table = self.writes.put, self._entries
        for arrival, entry in zip(arrivals, entries, strict=True):
            put(arrival, pack(entry), table)

    def put_links(self, links: Mapping[int, LinkRows]) -> None:
        """Keep where links stand, and their places in the order, by the keys of their URLs.

        Table after table: its upper parts are in the processor's cache then, and a write takes a
        tenth less.
        """
        put, found = self.writes.put, links.values()
        for key, state, _, _ in found:
            put(key, state, self._states)
        for _, _, place, row in found:
            put(place, row, self._links)
        self.states |= {key: rows[1] for key, rows in links.items()}

    def delete_place(self, place: bytes) -> None:
        """Take a link's place in the order away."""
        self.writes.delete(place, self._links)

    def delete_link(self, key: int, state: State, *, tried: bool) -> None:
        """Take a link's place in the order and its text away."""
        self.delete_place(state.place)
        self.writes.delete(state.arrival, self._entries)
        if tried:
            self.writes.delete(rows.pack_key(key), self._tried)

    def put_tried(self, key: int, tried: Tried) -> None:
        """Keep how often a link was taken and when it may be again."""
        self.writes.put(rows.pack_key(key), rows.pack_tried(tried), self._tried)

    def put_done(self, key: int) -> None:
        """Remember of a link that it is done."""
        self.states[key] = b""
        self.writes.put(rows.pack_key(key), b"", self._states)

    def forget(self, key: int) -> None:
        """Forget that there ever was such a link."""
        self.states[key] = None
        self.writes.delete(rows.pack_key(key), self._states)

    def put_host(self, number: int, row: HostRow) -> None:
        """Keep a host."""
        self.writes.put(rows.pack_number(number), rows.pack_host(row), self._hosts)

    def put_counters(self, counters: Counters) -> None:
        """Keep the counters."""
        self.writes.put(b"counters", rows.pack_counters(counters))

    def put_counts(self, arrivals: int, links: array[int]) -> None:
        """Keep how many links each host has, by its number, when *arrivals* have arrived."""
        self.writes.put(b"counts", rows.pack_arrival(arrivals) + links.tobytes())


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
        """States as they are on disk; None when that has to be asked."""
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
        elif not self.handles:
            raise FrontierUnavailable(f"The frontier in {self.folder} is closed.")

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
        self._tried: Any
        self._hosts: Any
        tables: list[Any] = [self._db.get_column_family(name) for name in TABLES]
        self._links, self._states, self._entries, self._tried, self._hosts = tables
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
        return [rows.unpack_state(raw) if raw else None for raw in self.raw_states(keys)]

    def raw_states(self, keys: Sequence[int]) -> list[bytes | None]:
        """Return one answer per key: None when unknown, nothing in it when done."""
        with self._guard:  # which may open the tables again, and forget
            raws = list(map(self._remembered.get, keys))
            missing = [at for at, raw in enumerate(raws) if raw is None]
            if missing:
                found = self._states.get([rows.pack_key(keys[at]) for at in missing])
                for at, raw in zip(missing, found, strict=True):
                    if raw is not None:
                        raws[at] = self._remembered[keys[at]] = raw
        return raws

    def entry(self, state: State) -> Entry:
        """Return a link that is not done."""
        with self._guard:
            return unpack(self._entries[state.arrival])

    def links(self, number: int, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Yield place and row of a host's links, best first, from rank *start* on."""
        prefix = rows.pack_number(number)
        with self._guard:
            found = self._links.iter()
            found.seek(prefix + start)
            while found.valid():
                place: bytes = found.key()
                if not place.startswith(prefix):
                    return
                yield place, found.value()
                found.next()

    def last_rank(self, number: int) -> bytes | None:
        """Return the rank of a host's worst link."""
        prefix = rows.pack_number(number)
        with self._guard:
            found = self._links.iter()
            found.seek_for_prev(prefix + rows.LAST_RANK)
            place: bytes = found.key() if found.valid() else b""
        return place[4:] if place.startswith(prefix) else None

    def some_scores(self, arrivals: Sequence[int]) -> list[float]:
        """Return the scores of those links of *arrivals* that are not done."""
        with self._guard:
            found = self._entries.get([rows.pack_arrival(arrival) for arrival in arrivals])
        keys = [url_key(_unpack_address(raw).url) for raw in found if raw is not None]
        return [state.score for state in self.states(keys) if state is not None]

    def all_urls(self) -> Iterator[str]:
        """Yield the URL of every link that is not done, in order of arrival."""
        return (url for _, url in self.arrived(0))

    def arrived(self, start: int) -> Iterator[tuple[int, str]]:
        """Yield arrival and URL of every link that is not done, from arrival *start* on."""
        with self._guard:
            for arrival, value in self._entries.items(from_key=rows.pack_arrival(start)):
                yield rows.arrival_of(arrival), _unpack_address(value).url

    def all_links(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield place and row of every link that is not done."""
        with self._guard:
            yield from self._links.items()

    def tried(self) -> Iterator[tuple[int, Tried]]:
        """Yield what was taken before and is not done."""
        with self._guard:
            for key, raw in self._tried.items():
                yield rows.unpack_key(key), rows.unpack_tried(raw)

    def hosts(self) -> Iterator[tuple[int, HostRow]]:
        """Yield all hosts in the order of their numbers."""
        with self._guard:
            for number, value in self._hosts.items():
                yield rows.number_of(number), rows.unpack_host(value)

    def counters(self) -> Counters | None:
        """Return the counters; None in a new frontier."""
        with self._guard:
            raw = self._db.get(b"counters")
        return rows.unpack_counters(raw) if raw else None

    def counts(self) -> tuple[int, array[int]]:
        """Return how many links each host had, by its number, and after how many arrivals."""
        with self._guard:
            raw: bytes = self._db.get(b"counts") or rows.pack_arrival(0)
        return rows.arrival_of(raw[:8]), array("I", raw[8:])

    def sync(self) -> None:
        """Make everything durable against loss of power."""
        with self._guard:
            self._db.flush_wal(True)

    def close(self) -> None:
        """Make everything durable and let go of the files; once is enough."""
        if self.handles:
            if not self.failed:
                self.sync()
            (self.folder / "owner").unlink(missing_ok=True)
            self._let_go()
        self.failed = False

    def _let_go(self) -> None:
        if self.handles:
            self.handles = []  # they would keep the database open
            tables = [self._links, self._states, self._entries, self._tried, self._hosts, self._db]
            self._links = self._states = self._entries = self._tried = self._hosts = None
            self._db = None
            while tables:
                # It says once more what failed; what a full disk has no room for is in the log.
                with suppress(Exception):
                    tables.pop(0).close()

    def _claim(self) -> None:
        found = self._db.get(b"format")
        if found is None:
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
    options.set_allow_concurrent_memtable_write(False)  # a hash table in memory takes one at a time
    # Half a record at the end of the log is what a power cut leaves; anything else is damage.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    options.set_db_write_buffer_size(WRITE_BUFFER_BYTES)
    options.set_max_total_wal_size(4 * WRITE_BUFFER_BYTES)
    # A file that is opened again reads its index and filter again. Ten million links are in 110
    # files; a process often may have no more than 1,024.
    options.set_max_open_files(600)
    options.set_max_background_jobs(2)
    options.set_keep_log_file_num(3)
    options.set_max_log_file_size(1_000_000)
    options.set_wal_bytes_per_sync(1_000_000)
    return options


def _columns() -> dict[str, Options]:
    cache = Cache(CACHE_BYTES)
    return {
        "default": _column(cache),
        "links": _column(cache),
        "states": _column(cache, unordered=True),
        "entries": _column(cache),
        "tried": _column(cache),
        "hosts": _column(cache),
    }


def _column(cache: Cache, *, unordered: bool = False) -> Options:
    blocks = BlockBasedOptions()
    # Filters and indexes (some 4 bytes a link) stay outside the cache: it is cut into 64 parts, and
    # the filter of a full file is larger than a part, so each look-up would read it anew.
    blocks.set_block_cache(cache)
    blocks.set_format_version(5)
    options = Options(raw_mode=True)
    if unordered:
        # Keys are hashes, and nobody reads them in order: in a hash table a row is written in half
        # of the time that a sorted list takes, and one that nobody knows (most) is missed at once.
        blocks.set_bloom_filter(10, False)
        options.set_prefix_extractor(SliceTransform.create_fixed_prefix(rows.KEY_BYTES))
        table: Any = MemtableFactory  # its stubs know no arguments
        options.set_memtable_factory(table.hash_link_list(STATE_BUCKETS))
    options.set_block_based_table_factory(blocks)
    options.set_write_buffer_size(24_000_000)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_level_compaction_dynamic_level_bytes(True)
    return options
