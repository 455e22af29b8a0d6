"""JobStore: jobs, what they learned, what they were told to do and what happened to them.

A running crawl shows its status and takes its orders here, so the command line and the web page
reach it through the repository alone, on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select, update

from treasure.repository.database import Database, upsert
from treasure.repository.models import events, jobs, orders, states, statuses, tgraphs

ALIVE_SECONDS = 15.0
"""A process that gave no sign of life for this long does not run."""
SILENT_SECONDS = 3.0
"""A process of a fleet may be silent for this long when another one ends the job."""


Statuses = Mapping[str, tuple[float, dict[str, Any]]]
"""What each process of a job said last, and when."""


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


class StoredGraph(NamedTuple):
    """A version of a T-Graph."""

    name: str
    version: int
    topic: str
    saved_at: float
    payload: bytes
    journal: list[Any]


def latest(statuses: Statuses) -> tuple[float, dict[str, Any]]:
    """Return what was said last of all, and when; 0 and nothing when no process said anything."""
    return max(statuses.values(), key=itemgetter(0), default=(0.0, {}))


def running(statuses: Statuses, ended: float | None = None) -> dict[str, dict[str, Any]]:
    """Return the status of each process that runs: it said so lately, and not that it stopped.

    One that was killed says nothing; it does not run either when its job *ended* without it.
    """
    since = max(time.time() - ALIVE_SECONDS, (ended or 0.0) - SILENT_SECONDS)
    return {
        worker: status
        for worker, (then, status) in statuses.items()
        if then > since and "stopped" not in status
    }


class JobStore(Database):
    """The part of the repository that is about jobs, not pages."""

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
            upsert(connection, jobs, [row], ("job",), keep=("started",))

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
            upsert(connection, states, [row], ("job", "kind"))

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
            upsert(connection, statuses, [row], ("job", "worker"))

    def statuses(self, job: str) -> Statuses:
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

    def orders(self, job: str, limit: int = 100) -> list[Order]:
        """Return the latest orders of *job*, carried out or not, latest first."""
        query = select(orders).where(orders.c.job == job).order_by(orders.c.id.desc())
        return self._orders(query.limit(limit))

    def orders_since(self, job: str, since: int = 0) -> list[Order]:
        """Return all orders after number *since*, carried out or not, oldest first."""
        query = select(orders).where(orders.c.job == job, orders.c.id > since)
        return self._orders(query.order_by(orders.c.id))

    def _orders(self, query: Any) -> list[Order]:
        columns = [orders.c[name] for name in Order._fields]
        with self.reading() as connection:
            found = connection.execute(query.with_only_columns(*columns))
            return [Order(*row) for row in found]

    def applied(self, order_id: int, answer: str = "") -> None:
        """Note that an order was carried out, and what came of it.

        Of a fleet the first answer stays: whoever comes later finds little left to do.
        """
        done = {"applied_at": time.time(), "answer": answer}
        first = orders.c.applied_at.is_(None)
        with self.writing() as connection:
            connection.execute(update(orders).where(orders.c.id == order_id, first).values(done))

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

    # -- T-Graphs

    def save_tgraph(
        self, name: str, topic: str, payload: bytes, journal: Sequence[Any] = ()
    ) -> int:
        """Keep a T-Graph as the next version of *name*; return the version."""
        latest = select(func.coalesce(func.max(tgraphs.c.version), 0)).where(tgraphs.c.name == name)
        with self.writing() as connection:
            version = int(connection.execute(latest).scalar_one()) + 1
            row = {
                "name": name,
                "version": version,
                "topic": topic,
                "saved_at": time.time(),
                "payload": payload,
                "journal": list(journal),
            }
            connection.execute(insert(tgraphs).values(row))
        return version

    def load_tgraph(self, name: str, version: int | None = None) -> StoredGraph | None:
        """Return a version of a T-Graph, the latest unless told; None when there is none."""
        query = select(*[tgraphs.c[field] for field in StoredGraph._fields])
        query = query.where(tgraphs.c.name == name).order_by(tgraphs.c.version.desc()).limit(1)
        if version is not None:
            query = query.where(tgraphs.c.version == version)
        with self.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else StoredGraph(*row)

    def tgraphs(self) -> list[tuple[str, int, str, float]]:
        """Return name, version, topic and time of every T-Graph, latest first."""
        columns = (tgraphs.c.name, tgraphs.c.version, tgraphs.c.topic, tgraphs.c.saved_at)
        with self.reading() as connection:
            found = connection.execute(select(*columns).order_by(tgraphs.c.saved_at.desc()))
            return [(name, version, topic, then) for name, version, topic, then in found]
