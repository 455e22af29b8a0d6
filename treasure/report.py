"""The run report: one HTML file that tells how a crawl went, with plots and no other files.

Everything comes from the repository, so a report can be written again at any time, also of a job
that crashed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from sqlalchemy import case, func, select

from treasure import plots, stopping
from treasure.errors import JobError
from treasure.repository.harvest import Harvest, harvest
from treasure.repository.models import pages
from treasure.repository.store import Store

FILE = "report.html"
TOP = 15

_STYLE = """
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem
auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}table{
border-collapse:collapse}td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,
1fr));gap:1rem}figure{margin:0}figcaption{opacity:.7}.alert{border-left:4px solid #d9480f;padding:
.3rem .8rem;margin:.5rem 0}svg{width:100%;height:auto}code{overflow-wrap:anywhere}"""


def write_report(store: Store, job: str, path: Path) -> Path:
    """Write the report of *job* to *path*."""
    path.write_text(report(store, job), encoding="utf-8")
    return path


def report(store: Store, job: str) -> str:
    """Return the report of *job* as HTML."""
    row = next((row for row in store.jobs() if row["job"] == job), None)
    if row is None:
        raise JobError(f"There is no job {job!r}.")
    found = harvest(store, job)
    parts = [
        f"<h1>{escape(job)}: {escape(row['topic'])}</h1>",
        f"<p>{found.on_topic:,} of {found.pages:,} pages are on topic: a harvest of"
        f" <b>{found.rate:.1%}</b>. {_ended(row)}</p>",
        *_alerts(store, job),
        "<div class=plots>",
        _figure("Harvest: on-topic pages by pages fetched", _harvest_plot(found)),
        _figure("Pages a minute", _pace_plot(store, job)),
        _figure("Relevance of pages", _relevance_plot(store, job)),
        _figure("Depth of pages", _depth_plot(store, job)),
        "</div>",
        "<h2>Hosts</h2>",
        _hosts(store, job),
        "<h2>Pages that were no pages</h2>",
        _failures(store, job),
        "<h2>Links refused</h2>",
        _refused(store, job),
        "<h2>What people did</h2>",
        _orders(store, job),
        "<h2>Settings</h2>",
        _table(("setting", "value"), sorted(row["settings"].items())),
    ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(job)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"{''.join(parts)}</html>\n"
    )


def _ended(row: dict[str, Any]) -> str:
    start = _clock(row["started"])
    if row["stopped"] is None:
        return f"It started {start} and has not ended."
    return (
        f"It ran from {start} to {_clock(row['stopped'])} and ended because"
        f" {escape(stopping.in_words(row['stop_reason']))}."
    )


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _figure(caption: str, plot: str) -> str:
    return f"<figure>{plot}<figcaption>{escape(caption)}</figcaption></figure>"


def _harvest_plot(found: Harvest) -> str:
    return plots.lines([(found.job, found.curve)], x="pages", y="on topic")


def _pace_plot(store: Store, job: str) -> str:
    first = select(func.min(pages.c.fetched_at)).where(pages.c.job == job).scalar_subquery()
    minute = func.floor((pages.c.fetched_at - first) / 60)
    rows = _rows(store, select(minute, func.count()).where(pages.c.job == job).group_by(minute))
    points = sorted((float(minute), float(count)) for minute, count in rows)
    if len(points) == 1:
        points.append((points[0][0] + 1, points[0][1]))
    return plots.lines([("pages", points)], x="minutes", y="pages a minute")


def _relevance_plot(store: Store, job: str) -> str:
    bucket = case((pages.c.relevance >= 1, 9), else_=func.floor(pages.c.relevance * 10))
    query = select(bucket, func.count()).where(pages.c.job == job, pages.c.status == 200)
    counts = {int(place): count for place, count in _rows(store, query.group_by(bucket))}
    return plots.bars([(f"{i / 10:.1f}", float(counts.get(i, 0))) for i in range(10)], y="pages")


def _depth_plot(store: Store, job: str) -> str:
    query = select(pages.c.depth, func.count()).where(pages.c.job == job).group_by(pages.c.depth)
    counts = dict(_rows(store, query))
    return plots.bars(
        [(str(depth), float(counts[depth])) for depth in sorted(counts)[:20]], y="pages"
    )


def _hosts(store: Store, job: str) -> str:
    hits = func.sum(case((pages.c.on_topic, 1), else_=0))
    query = (
        select(pages.c.host, func.count(), hits, func.avg(pages.c.seconds))
        .where(pages.c.job == job)
        .group_by(pages.c.host)
        .order_by(hits.desc(), func.count().desc())
        .limit(TOP)
    )
    rows = [
        (host, f"{count:,}", f"{good:,}", f"{good / count:.0%}", f"{seconds:.2f}")
        for host, count, good, seconds in _rows(store, query)
    ]
    return _table(("host", "pages", "on topic", "harvest", "seconds"), rows)


def _failures(store: Store, job: str) -> str:
    query = (
        select(pages.c.failure, func.count())
        .where(pages.c.job == job, pages.c.failure != "")
        .group_by(pages.c.failure)
        .order_by(func.count().desc())
        .limit(TOP)
    )
    return _table(("what came instead", "links"), _rows(store, query))


def _refused(store: Store, job: str) -> str:
    """Return what all processes of the job refused."""
    counts: Counter[str] = Counter()
    for _, status in store.statuses(job).values():
        counts.update(status.get("refused", {}))
    return _table(("rule", "links"), sorted(counts.items()))


def _alerts(store: Store, job: str) -> list[str]:
    return [
        f"<div class=alert><b>{_clock(event.time)} {escape(event.text)}</b><br>"
        f"{escape(str(event.data.get('advice', '')))}</div>"
        for event in store.events(job)
        if event.kind == "alert"
    ]


def _orders(store: Store, job: str) -> str:
    rows = [
        (_clock(order.time), order.author, order.command, order.answer)
        for order in store.orders_since(job)
    ]
    return _table(("time", "who", "order", "what came of it"), rows)


def _rows(store: Store, query: Any) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        return [tuple(row) for row in connection.execute(query)]


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
