"""What the web page asks of the repository, beyond what the store answers itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Integer, case, cast, func, select

from treasure.repository.jobs import latest, running
from treasure.repository.models import pages
from treasure.repository.store import Store

PACE_POINTS = 120
MAX_STEPS = 50


def jobs(store: Store) -> list[dict[str, Any]]:
    """Return all jobs, latest first, each with its workers' figures added up."""
    return [job | live(store, job) for job in store.jobs()]


def live(store: Store, job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the workers of *job*, a row of ``store.jobs()``, last said."""
    statuses = store.statuses(job["job"])
    workers = [status | {"at": then} for then, status in statuses.values()]
    at_work = running(statuses, job["stopped"]).values()
    totals = {
        name: sum(worker.get(name) or 0 for worker in workers)
        for name in ("pages", "on_topic", "off_topic", "failed", "retries", "bytes")
    }
    speed = sum(worker.get("pages_per_second") or 0.0 for worker in at_work)
    return totals | {
        "running": bool(at_work),
        "paused": bool(at_work) and all(worker.get("paused") for worker in at_work),
        "pages_per_second": speed,
        "queued": latest(statuses)[1].get("queued") or 0,
        "workers": workers,
    }


def pace(store: Store, job: str) -> list[tuple[float, float]]:
    """Return pages a second over the seconds since the first page of *job*."""
    mine = pages.c.job == job
    with store.reading() as connection:
        ends = select(func.min(pages.c.fetched_at), func.max(pages.c.fetched_at)).where(mine)
        first, last = connection.execute(ends).one()
        if first is None or last == first:
            return []
        width = max(1.0, (last - first) / PACE_POINTS)
        part = cast((pages.c.fetched_at - first) / width, Integer).label("part")
        query = select(part, func.count()).where(mine).group_by(part)
        counts = {int(part): int(count) for part, count in connection.execute(query)}
    return [
        (round(part * width, 1), round(counts.get(part, 0) / width, 3))
        for part in range(max(counts) + 1)
    ]


def makeup(store: Store, job: str) -> dict[str, Any]:
    """Return of what the pages of *job* are made: statuses, failures, hosts, depths."""
    mine = pages.c.job == job
    on_topic = func.sum(case((pages.c.on_topic, 1), else_=0))
    with store.reading() as connection:

        def rows(*columns: Any, where: Any = mine, limit: int = 20) -> list[tuple[Any, ...]]:
            count = func.count().label("count")
            query = select(*columns, count, on_topic).where(where).group_by(*columns)
            return [
                tuple(row) for row in connection.execute(query.order_by(count.desc()).limit(limit))
            ]

        return {
            "statuses": rows(pages.c.status),
            "failures": rows(pages.c.failure, where=mine & (pages.c.failure != "")),
            "hosts": rows(pages.c.host),
            "depths": sorted(rows(pages.c.depth)),
        }


def recent_failures(store: Store, job: str, limit: int = 20) -> list[dict[str, Any]]:
    """Return the latest pages of *job* that could not be had."""
    query = (
        select(pages.c.id, pages.c.url, pages.c.status, pages.c.failure, pages.c.fetched_at)
        .where((pages.c.job == job) & (pages.c.failure != ""))
        .order_by(pages.c.fetched_at.desc())
        .limit(limit)
    )
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def recent_finds(store: Store, job: str, limit: int = 20) -> list[dict[str, Any]]:
    """Return the latest pages of *job* that are on topic."""
    query = (
        select(pages.c.id, pages.c.url, pages.c.title, pages.c.relevance, pages.c.fetched_at)
        .where((pages.c.job == job) & pages.c.on_topic)
        .order_by(pages.c.fetched_at.desc())
        .limit(limit)
    )
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def way(store: Store, page: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how a page was reached: from the seed to the page, each with the link that led on."""
    steps = [_step(page)]
    seen = {page["id"]}
    current = page
    while current["referrer"] and len(steps) < MAX_STEPS:
        ids = [i for i in store.find(current["referrer"], page["job"]) if i not in seen]
        before = store.page(ids[0]) if ids else None
        if before is None:
            steps.append({"id": None, "url": current["referrer"]})
            break
        seen.add(before["id"])
        steps.append(_step(before))
        current = before
    return steps[::-1]


def _step(page: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "url", "title", "anchor", "context", "score", "relevance", "on_topic", "depth")
    return {name: page[name] for name in names}
