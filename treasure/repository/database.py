"""Database: SQLite or PostgreSQL behind one URL, its errors in our words.

SQLite runs with a write-ahead log, so that readers and the one writer do not wait for each other,
and without a sync per transaction: a killed process loses nothing, a power cut the last second.
Transactions that write take the lock at once; one that upgraded later could find it taken and
would have to start again.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    URL,
    ClauseElement,
    Connection,
    Dialect,
    Engine,
    StaticPool,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from treasure.errors import ConfigError, RepositoryUnavailable

logger = logging.getLogger(__name__)

BUSY_SECONDS = 30
"""How long a SQLite writer waits for another one."""
WRITES = "treasure_writes"
"""Execution option of the engine whose transactions write."""
_FORBIDDEN = frozenset({"42501", "3F000"})
"""SQLSTATEs of PostgreSQL: insufficient privilege, no schema that we may use."""
_SECRETS = frozenset({"password", "sslpassword", "passfile"})


class Database:
    """Connections to one database. Methods may be called from any thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writer = engine.execution_options(**{WRITES: True})

    @property
    def is_postgresql(self) -> bool:
        """Whether this is PostgreSQL; else it is SQLite."""
        return self.engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection with one consistent view."""
        with our_errors(self.engine.url), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are committed together at the end."""
        with our_errors(self.engine.url), self._writer.begin() as connection:
            yield connection


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    key: tuple[str, ...],
    keep: tuple[str, ...] = (),
) -> None:
    """Insert *rows*; where *key* is known replace all that they name but *keep*.

    All rows name the same columns. They go straight to the driver: SQLAlchemy would take as long
    for a row of thirty columns as the database does.
    """
    if not rows:
        return
    upserting = _upserting(connection.dialect, table, tuple(rows[0]), key, keep)
    columns = [[row[name] for row in rows] for name in upserting.names]
    for place, prepare in upserting.preparing:
        columns[place] = [prepare(value) for value in columns[place]]
    values: list[Any] = list(zip(*columns, strict=True))
    if not connection.dialect.positional:
        values = [dict(zip(upserting.names, row, strict=True)) for row in values]
    connection.exec_driver_sql(upserting.statement, values)


class _Upserting(NamedTuple):
    statement: str
    names: Sequence[str]
    """Of the columns, in the order of the statement."""
    preparing: Sequence[tuple[int, Callable[[Any], Any]]]
    """What makes values such as the driver takes, by the place of their column."""


@lru_cache(maxsize=64)
def _upserting(
    dialect: Dialect,
    table: Table,
    names: tuple[str, ...],
    key: tuple[str, ...],
    keep: tuple[str, ...],
) -> _Upserting:
    """Return what inserts rows with these *names*; to build it takes longer than a row."""
    # Each kind has its own INSERT .. ON CONFLICT; the other kind's takes a while to import.
    statement = import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table).inline()
    replaced = {name: statement.excluded[name] for name in names if name not in (*key, *keep)}
    conflict: ClauseElement = (
        statement.on_conflict_do_update(index_elements=list(key), set_=replaced)
        if replaced
        else statement.on_conflict_do_nothing(index_elements=list(key))
    )
    ordered = [column.name for column in table.columns if column.name in names]
    types = [table.c[name].type.dialect_impl(dialect) for name in ordered]
    prepared = [(place, kind.bind_processor(dialect)) for place, kind in enumerate(types)]
    return _Upserting(
        str(conflict.compile(dialect=dialect, column_keys=ordered)),
        ordered,
        [(place, prepare) for place, prepare in prepared if prepare is not None],
    )


def insert_pairs(connection: Connection, table: Table, pairs: Sequence[tuple[int, int]]) -> None:
    """Insert rows of a table that has two numbers.

    A page has some sixty of them. SQLite takes half the time for many rows in a statement that it
    takes for as many statements.
    """
    if connection.dialect.name == "postgresql":
        _with_columns(connection, pairs, f"INSERT INTO {table.name} SELECT * FROM {_COLUMNS}")
        return
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        marks = ", ".join(["(?, ?)"] * len(some))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} VALUES {marks}", tuple(chain.from_iterable(some))
        )


def delete_pairs(connection: Connection, table: Table, pairs: Sequence[tuple[int, int]]) -> None:
    """Delete rows of a table that has two numbers."""
    one, two = (column.name for column in table.columns)
    if connection.dialect.name == "postgresql":
        _with_columns(
            connection,
            pairs,
            f"DELETE FROM {table.name} USING {_COLUMNS} AS gone (one, two)"
            f" WHERE {one} = gone.one AND {two} = gone.two",
        )
    elif pairs:
        statement = f"DELETE FROM {table.name} WHERE {one} = ? AND {two} = ?"
        connection.exec_driver_sql(statement, list(pairs))


PAIRS_AT_ONCE = 400
"""Versions of SQLite before 3.32 take 999 values a statement."""
_COLUMNS = "unnest(CAST(%s AS bigint[]), CAST(%s AS bigint[]))"


def _with_columns(connection: Connection, pairs: Sequence[tuple[int, int]], statement: str) -> None:
    """Run the statement on PostgreSQL, once, with both columns as one value each.

    That takes a fifth of the time, at both ends: a statement a pair is a message a pair.
    """
    if pairs:
        columns = [",".join(map(str, column)) for column in zip(*pairs, strict=True)]
        connection.exec_driver_sql(statement, tuple(f"{{{column}}}" for column in columns))


def open_engine(url: str) -> Engine:
    """Return an engine for *url*; raise ConfigError for what can never work."""
    parsed = parse(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    try:
        engine = create_engine(parsed, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The repository {shown(parsed)} needs the Python package {error.name!r}:"
            " pip install 'treasure-crawler[postgresql]'."
        ) from None
    event.listen(engine, "connect", _compress_fast)
    return engine


def _compress_fast(connection: Any, _record: Any) -> None:
    """Let PostgreSQL pack long values with lz4 where it can; its own way is most of a write."""
    cursor = connection.cursor()
    cursor.execute(
        "SELECT set_config(name, 'lz4', false) FROM pg_settings"
        " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)"
    )
    cursor.close()
    connection.commit()


def parse(url: str) -> URL:
    """Return the URL's parts, PostgreSQL through psycopg 3 unless it says otherwise."""
    expected = "expected sqlite:///file.db or postgresql://user@host/name"
    try:
        parsed = make_url(url)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        # Not shown: a URL that cannot be parsed cannot be stripped of its password.
        scheme = url.partition(":")[0][:40] if "://" in url else url[:40]
        raise ConfigError(
            f"TREASURE_REPOSITORY is no database address (it begins with {scheme!r}); {expected}."
        ) from None
    except ModuleNotFoundError:
        pass
    backend = parsed.get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        raise ConfigError(f"TREASURE_REPOSITORY cannot be a {backend} database; {expected}.")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed


def shown(url: URL) -> str:
    """Return *url* without its secrets."""
    kept = {name: value for name, value in url.query.items() if name not in _SECRETS}
    return url.set(query=kept).render_as_string(hide_password=True)


@contextmanager
def our_errors(url: URL) -> Iterator[None]:
    """Turn a database that does not answer into RepositoryUnavailable; our bugs stay bugs."""
    try:
        yield
    except PoolTimeout:
        raise RepositoryUnavailable(f"The repository {shown(url)} has no free connection") from None
    except DBAPIError as error:
        if _is_ours(error):
            raise
        reason = " ".join(str(error.orig).split()) or type(error.orig).__name__
        if url.password:
            reason = reason.replace(str(url.password), "***")
        if reason == "unable to open database file":
            reason += " (we must be able to write to it and to its folder, even to read)"
        raise RepositoryUnavailable(
            f"The repository {shown(url)} cannot be used: {reason}"
        ) from None


def _is_ours(error: DBAPIError) -> bool:
    """Whether the statement was wrong, not the database or what we may do there."""
    if getattr(error.orig, "sqlstate", "") in _FORBIDDEN:
        return False
    kinds = {"IntegrityError", "ProgrammingError", "DataError", "NotSupportedError"}
    return type(error).__name__ in kinds and not error.connection_invalidated


def _write_ahead(cursor: sqlite3.Cursor) -> str:
    """Have a write-ahead log where there can be one, and return the kind of log there is.

    SQLite does not wait here for a process that makes the same new database at this moment.
    """
    patience = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return str(cursor.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > patience:
                raise
        time.sleep(0.05)


def _sqlite(url: URL) -> Engine:
    memory = url.database in (None, "", ":memory:")
    if not memory:
        folder = Path(str(url.database)).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"The repository's folder {folder} cannot be made: {error.strerror}."
            ) from None
    options: dict[str, Any] = {"poolclass": StaticPool} if memory else {}
    engine = create_engine(
        url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, **options
    )

    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        mode = _write_ahead(cursor)
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA temp_store=MEMORY")
        cursor.execute("PRAGMA cache_size=-65536")
        cursor.close()
        if mode != "wal" and not memory:
            logger.warning("%s has no write-ahead log: readers wait for writers.", url.database)

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
    return engine
