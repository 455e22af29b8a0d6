"""Store: writes what a crawl found and reads it back.

One store serves one process; its methods may be called from any thread. A batch of pages with
their links is one transaction: after ``write`` all of it is there, or none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from treasure.repository import packing
from treasure.repository.database import WRITES, open_engine, our_errors
from treasure.repository.models import (
    backlinks,
    contents,
    events,
    jobs,
    metadata,
    orders,
    pages,
    states,
    statuses,
)
from treasure.repository.records import LinkRecord, PageRecord
from treasure.urls import canonical, url_key


class Order(NamedTuple):
    """What somebody asked a running crawl to do."""

    id: int
    job: str
    command: str
    payload: dict[str, Any]
    author: str
    time: float
    applied_at: float | None
    answer: str


class Event(NamedTuple):
    """A line of a job's journal."""

    id: int
    job: str
    time: float
    kind: str
    text: str
    data: dict[str, Any]


class Backlink(NamedTuple):
    """A stored page that links to an address, with the link's score and anchor there."""

    page_id: int
    job: str
    url: str
    score: float
    anchor: str


class Store:
    """The repository of one or many jobs."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writer = engine.execution_options(**{WRITES: True})

    @classmethod
    def open(cls, url: str) -> Store:
        """Open the repository at *url*; make or migrate its tables."""
        engine = open_engine(url)
        store = cls(engine)
        try:
            with store.writing() as connection:
                metadata.create_all(connection)
        except BaseException:
            engine.dispose()
            raise
        return store

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

    # -- pages

    def write(self, records: Sequence[PageRecord]) -> None:
        """Store *records* in one transaction; what a job fetched again replaces what was there."""
        if not records:
            return
        latest = {(record.job, record.key): record for record in records}
        rows = [packing.page_row(record) for record in latest.values()]
        full = [
            (address, packing.content_row(record))
            for address, record in latest.items()
            if record.on_topic or record.html or record.links
        ]
        links = [(address, _targets(latest[address])) for address, _ in full]
        with self.writing() as connection:
            self._upsert(connection, pages, rows, ("key", "job"))
            ids = _page_ids(connection, latest)
            connection.execute(delete(backlinks).where(backlinks.c.page_id.in_(ids.values())))
            if gone := ids.keys() - {address for address, _ in full}:
                some = [ids[address] for address in gone]
                connection.execute(delete(contents).where(contents.c.page_id.in_(some)))
            if full:
                content = [row | {"page_id": ids[address]} for address, row in full]
                self._upsert(connection, contents, content, ("page_id",))
            pairs = [
                {"target": target, "page_id": ids[address]}
                for address, targets in links
                for target in targets
            ]
            if pairs:
                connection.execute(insert(backlinks), pairs)

    def links(self, page_id: int) -> list[LinkRecord]:
        """Return the links of a stored page with their scores."""
        with self.reading() as connection:
            query = select(contents.c.links).where(contents.c.page_id == page_id)
            packed = connection.execute(query).scalar()
        return packing.unpack_links(packed) if packed else []

    def html(self, page_id: int) -> bytes:
        """Return the body of a stored page as it came; empty when it was not kept."""
        with self.reading() as connection:
            query = select(contents.c.html).where(contents.c.page_id == page_id)
            packed = connection.execute(query).scalar()
        return packing.decompress(packed) if packed else b""

    def backlinks(self, url: str, *, job: str | None = None, limit: int = 100) -> list[Backlink]:
        """Return stored pages that link to *url*, latest first."""
        key = url_key(canonical(url) or url)
        query = (
            select(pages.c.id, pages.c.job, pages.c.url, contents.c.links)
            .join_from(backlinks, pages, backlinks.c.page_id == pages.c.id)
            .join(contents, contents.c.page_id == pages.c.id)
            .where(backlinks.c.target == key)
            .order_by(pages.c.id.desc())
            .limit(limit)
        )
        if job is not None:
            query = query.where(pages.c.job == job)
        with self.reading() as connection:
            found = connection.execute(query).all()
        return [
            Backlink(page_id, owner, page_url, link.score, link.anchor)
            for page_id, owner, page_url, packed in found
            for link in packing.unpack_links(packed)
            if url_key(canonical(link.url) or link.url) == key
        ]

    # -- jobs and their states

    def start_job(self, job: str, topic: str, settings: Mapping[str, Any]) -> None:
        """Note that *job* runs; one that goes on keeps its first start."""
        row = {
            "job": job,
            "topic": topic,
            "settings": dict(settings),
            "started": time.time(),
            "stopped": None,
            "stop_reason": "",
        }
        with self.writing() as connection:
            self._upsert(connection, jobs, [row], ("job",), keep=("started",))

    def stop_job(self, job: str, reason: str) -> None:
        """Note that *job* ended."""
        ended = {"stopped": time.time(), "stop_reason": reason[:200]}
        with self.writing() as connection:
            connection.execute(update(jobs).where(jobs.c.job == job).values(ended))

    def jobs(self) -> list[dict[str, Any]]:
        """Return all jobs, latest first."""
        with self.reading() as connection:
            found = connection.execute(select(jobs).order_by(jobs.c.started.desc()))
            return [dict(row) for row in found.mappings()]

    def save_state(self, job: str, kind: str, payload: bytes) -> None:
        """Keep what a part of *job* learned; the last one counts."""
        row = {"job": job, "kind": kind, "saved_at": time.time(), "payload": payload}
        with self.writing() as connection:
            self._upsert(connection, states, [row], ("job", "kind"))

    def load_state(self, job: str, kind: str) -> bytes | None:
        """Return what ``save_state`` kept; None when there is nothing."""
        with self.reading() as connection:
            query = select(states.c.payload).where(states.c.job == job, states.c.kind == kind)
            payload = connection.execute(query).scalar()
        return None if payload is None else bytes(payload)

    def save_status(self, job: str, worker: str, status: Mapping[str, Any]) -> None:
        """Show what one process of *job* is doing now."""
        row = {"job": job, "worker": worker, "time": time.time(), "status": dict(status)}
        with self.writing() as connection:
            self._upsert(connection, statuses, [row], ("job", "worker"))

    def statuses(self, job: str) -> dict[str, tuple[float, dict[str, Any]]]:
        """Return time and status of each process of *job*."""
        query = select(statuses.c.worker, statuses.c.time, statuses.c.status)
        with self.reading() as connection:
            found = connection.execute(query.where(statuses.c.job == job)).all()
        return {worker: (then, status) for worker, then, status in found}

    # -- orders and the journal

    def order(self, job: str, command: str, payload: Mapping[str, Any], author: str = "cli") -> int:
        """Ask a running crawl to do something; return the order's number."""
        row = {
            "job": job,
            "command": command,
            "payload": dict(payload),
            "author": author,
            "time": time.time(),
        }
        with self.writing() as connection:
            return int(
                connection.execute(insert(orders).values(row).returning(orders.c.id)).scalar_one()
            )

    def pending_orders(self, job: str, since: int = 0) -> list[Order]:
        """Return orders after number *since* that nobody has carried out, oldest first."""
        query = (
            select(orders)
            .where(orders.c.job == job, orders.c.id > since, orders.c.applied_at.is_(None))
            .order_by(orders.c.id)
        )
        return self._orders(query)

    def orders(self, job: str, limit: int = 100) -> list[Order]:
        """Return the latest orders of *job*, carried out or not, latest first."""
        query = select(orders).where(orders.c.job == job).order_by(orders.c.id.desc())
        return self._orders(query.limit(limit))

    def _orders(self, query: Any) -> list[Order]:
        columns = [orders.c[name] for name in Order._fields]
        with self.reading() as connection:
            found = connection.execute(query.with_only_columns(*columns))
            return [Order(*row) for row in found]

    def applied(self, order_id: int, answer: str = "") -> None:
        """Note that an order was carried out, and what came of it."""
        done = {"applied_at": time.time(), "answer": answer}
        with self.writing() as connection:
            connection.execute(update(orders).where(orders.c.id == order_id).values(done))

    def log(self, job: str, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        """Add a line to the journal of *job*."""
        row = {"job": job, "time": time.time(), "kind": kind, "text": text, "data": data or {}}
        with self.writing() as connection:
            connection.execute(insert(events).values(row))

    def events(self, job: str, since: int = 0, limit: int = 1_000) -> list[Event]:
        """Return lines of the journal after number *since*, oldest first."""
        columns = [events.c[name] for name in Event._fields]
        query = select(*columns).where(events.c.job == job, events.c.id > since)
        with self.reading() as connection:
            found = connection.execute(query.order_by(events.c.id).limit(limit))
            return [Event(*row) for row in found]

    def count(self, job: str | None = None, *, on_topic: bool = False) -> int:
        """Return how many pages are stored."""
        query = select(func.count()).select_from(pages)
        if job is not None:
            query = query.where(pages.c.job == job)
        if on_topic:
            query = query.where(pages.c.on_topic)
        with self.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def _upsert(
        self,
        connection: Connection,
        table: Table,
        rows: Sequence[Mapping[str, Any]],
        key: tuple[str, ...],
        keep: tuple[str, ...] = (),
    ) -> None:
        """Insert *rows*; where *key* is known replace all but *keep*."""
        dialect = postgresql if self.engine.dialect.name == "postgresql" else sqlite
        statement = dialect.insert(table)
        replaced = {name: statement.excluded[name] for name in rows[0] if name not in (*key, *keep)}
        connection.execute(
            statement.on_conflict_do_update(index_elements=list(key), set_=replaced), list(rows)
        )


def _targets(record: PageRecord) -> set[int]:
    return {url_key(canonical(link.url) or link.url) for link in record.links}


def _page_ids(
    connection: Connection, addresses: Mapping[tuple[str, int], PageRecord]
) -> dict[tuple[str, int], int]:
    """Return the row number of each (job, key)."""
    keys = [key for _, key in addresses]
    query = select(pages.c.job, pages.c.key, pages.c.id).where(pages.c.key.in_(keys))
    found = {(job, key): page_id for job, key, page_id in connection.execute(query)}
    return {address: found[address] for address in addresses}
