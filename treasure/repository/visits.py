"""Visits: which stored pages are looked at again, and what a look found.

The database checker of the Treasure papers (2016, section 3.2) without its downloads: an adapter
(``spiders/refresh.py``) asks ``due``, fetches, and tells ``looked``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import Connection, insert, select, update

from treasure.errors import UnreadablePageError
from treasure.extract import decode, read_page
from treasure.pages import Page, Verdict
from treasure.repository import duplicates, freshness, packing, writing
from treasure.repository.freshness import History, Policy
from treasure.repository.models import (
    bodies,
    contents,
    pages,
    revisits,
    versions,
    visits,
)
from treasure.repository.records import LinkRecord, PageRecord
from treasure.repository.store import Store

CHANGED, SAME, COSMETIC, GONE, FAILED = "changed", "unchanged", "cosmetic", "gone", "failed"
OUTCOMES = (CHANGED, SAME, COSMETIC, GONE, FAILED)
CERTAINLY_GONE = (404, 410)
_HOW_WE_CAME = """job key url depth referrer anchor context score ageing explored passed_over
    graph_node explanation""".split()
OVERSIGHT = 5
"""For each page we may ask for, this many that are due are compared by their promise."""


class Judges(Protocol):
    """Gives the judge of a job; None when its topic is not known any more."""

    def __call__(self, job: str) -> Callable[[Page], Verdict] | None:
        """Return what gives a page of *job* its verdict."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A page that should be looked at."""

    page_id: int
    job: str
    url: str
    relevance: float
    history: History
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""

    @property
    def conditions(self) -> dict[str, str]:
        """Headers with which an unchanged page costs a line instead of a page."""
        found = {}
        if self.etag:
            found["If-None-Match"] = self.etag
        if self.last_modified:
            found["If-Modified-Since"] = self.last_modified
        return found


@dataclass(frozen=True, slots=True)
class Look:
    """What came back."""

    time: float
    status: int = 0
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    failure: str = ""
    seconds: float = 0.0


class Visits:
    """The looks at one repository."""

    def __init__(self, store: Store, judges: Judges, policy: Policy | None = None) -> None:
        self.store = store
        self.judges = judges
        self.policy = policy or Policy()

    def due(self, now: float, limit: int, job: str | None = None) -> list[Visit]:
        """Return up to *limit* pages that are due, the most promising first."""
        query = (
            select(
                revisits,
                pages.c.job,
                pages.c.url,
                pages.c.final_url,
                pages.c.relevance,
                pages.c.headers,
                bodies.c.digest,
            )
            .join(pages, pages.c.id == revisits.c.page_id)
            .join(contents, contents.c.page_id == pages.c.id, isouter=True)
            .join(bodies, bodies.c.id == contents.c.body_id, isouter=True)
            .where(revisits.c.due <= now)
            .order_by(revisits.c.due)
            .limit(limit * OVERSIGHT)
        )
        if job is not None:
            query = query.where(pages.c.job == job)
        with self.store.reading() as connection:
            found = [_visit(row) for row in connection.execute(query)]
        found.sort(key=lambda v: freshness.promise(v.history, v.relevance, now), reverse=True)
        return found[:limit]

    def looked(self, visit: Visit, look: Look) -> str:
        """Take in what a look found; return which of OUTCOMES it was."""
        if look.status in CERTAINLY_GONE:
            return self._missed(visit, look, certain=True)
        if look.status == 304 or (look.status == 200 and self._same_body(visit, look)):
            return self._unchanged(visit, look, SAME)
        if look.status != 200:
            return self._missed(visit, look, certain=False)
        try:
            page = read_page(look.url or visit.url, _text(look))
        except UnreadablePageError as error:
            return self._missed(visit, look, certain=False, detail=str(error))
        if visit.history.gone_at is None and self._same_text(visit, page):
            return self._unchanged(visit, look, COSMETIC)
        return self._changed(visit, look, page)

    def _same_body(self, visit: Visit, look: Look) -> bool:
        return visit.history.gone_at is None and packing.digest(look.body) == visit.digest

    def _same_text(self, visit: Visit, page: Page) -> bool:
        """Whether only markup, menus or advertisements differ."""
        stored = self.store.html(visit.page_id)
        row = self.store.page(visit.page_id)
        if not stored or row is None:
            return False
        try:
            before = read_page(page.url, decode(stored, row["headers"].get("Content-Type", "")))
        except UnreadablePageError:
            return False
        return before.main_text == page.main_text and before.title == page.title

    def _unchanged(self, visit: Visit, look: Look, outcome: str) -> str:
        history = freshness.unchanged(visit.history, look.time, self.policy)
        with self.store.writing() as connection:
            self._note(connection, visit, look, history, outcome)
            if outcome == COSMETIC:
                # The next condition must speak of what the server has now.
                connection.execute(
                    update(pages).where(pages.c.id == visit.page_id).values(headers=look.headers)
                )
        return outcome

    def _missed(self, visit: Visit, look: Look, *, certain: bool, detail: str = "") -> str:
        history = freshness.missed(visit.history, look.time, self.policy, certain=certain)
        gone = history.gone_at is not None
        with self.store.writing() as connection:
            self._note(connection, visit, look, history, GONE if gone else FAILED, detail)
            if gone:
                connection.execute(
                    update(contents)
                    .where(contents.c.page_id == visit.page_id)
                    .values(searchable=False)
                )
                # A copy that is still there takes the place of the one that is not.
                duplicates.forget(connection, {visit.page_id: visit.job})
        return GONE if gone else FAILED

    def _changed(self, visit: Visit, look: Look, page: Page) -> str:
        history = freshness.changed(visit.history, look.time, self.policy)
        record = self._record(visit, look, page)
        prepared = writing.prepare([record])
        with self.store.writing() as connection:
            _keep_version(connection, visit.page_id)
            writing.put(connection, prepared)
            self._note(connection, visit, look, history, CHANGED)
        return CHANGED

    def _note(
        self,
        connection: Connection,
        visit: Visit,
        look: Look,
        history: History,
        outcome: str,
        detail: str = "",
    ) -> None:
        connection.execute(
            update(revisits)
            .where(revisits.c.page_id == visit.page_id)
            .values(
                due=freshness.due(history, visit.relevance),
                interval=history.interval,
                checked_at=history.checked_at,
                checks=history.checks,
                changes=history.changes,
                misses=history.misses,
                gone_at=history.gone_at,
            )
        )
        connection.execute(
            insert(visits).values(
                page_id=visit.page_id,
                time=look.time,
                status=look.status,
                outcome=outcome,
                detail=packing.clean(detail or look.failure),
            )
        )

    def _record(self, visit: Visit, look: Look, page: Page) -> PageRecord:
        """Return the page as it is now; how we came to it stays."""
        row = self.store.page(visit.page_id)
        assert row is not None
        judge = self.judges(visit.job)
        verdict = judge(page) if judge is not None else _verdict_before(row)
        scores = {link.url: link.score for link in self.store.links(visit.page_id)}
        return PageRecord(
            **{name: row[name] for name in _HOW_WE_CAME},
            fetched_at=look.time,
            final_url=look.url or visit.url,
            canonical_url=page.canonical,
            status=look.status,
            headers=look.headers,
            seconds=look.seconds,
            size=len(look.body),
            relevance=verdict.relevance,
            on_topic=verdict.on_topic,
            unsure=verdict.unsure,
            topic=verdict.topic,
            reason=verdict.reason,
            numbers=verdict.numbers,
            title=page.title,
            text=page.main_text if verdict.on_topic else "",
            language=page.language,
            html=look.body,
            # A link that is new has not been scored by any strategy: it gets the page's relevance.
            links=tuple(
                LinkRecord(link.url, scores.get(link.url, verdict.relevance), link.anchor_text)
                for link in page.links
            ),
        )


def _visit(row: Any) -> Visit:
    names = {name.lower(): value for name, value in row.headers.items()}
    # A page without its body cannot be compared: ask for all of it.
    known = row.digest is not None
    return Visit(
        page_id=row.page_id,
        job=row.job,
        url=row.url,
        relevance=row.relevance,
        history=History(
            row.checked_at, row.interval, row.checks, row.changes, row.misses, row.gone_at
        ),
        etag=names.get("etag", "") if known and row.gone_at is None else "",
        last_modified=names.get("last-modified", "") if known and row.gone_at is None else "",
        digest=bytes(row.digest or b""),
    )


def _text(look: Look) -> str:
    names = {name.lower(): value for name, value in look.headers.items()}
    return decode(look.body, names.get("content-type", ""))


def _verdict_before(row: dict[str, Any]) -> Verdict:
    return Verdict(
        relevance=row["relevance"],
        on_topic=row["on_topic"],
        topic=row["topic"],
        numbers=tuple((number, share) for number, share in row["numbers"]),
        unsure=row["unsure"],
        reason=row["reason"],
    )


def _keep_version(connection: Connection, page_id: int) -> None:
    query = (
        select(pages, contents.c.body_id)
        .join(contents, contents.c.page_id == pages.c.id, isouter=True)
        .where(pages.c.id == page_id)
    )
    row = connection.execute(query).one()
    connection.execute(
        insert(versions).values(
            page_id=page_id,
            fetched_at=row.fetched_at,
            status=row.status,
            headers=row.headers,
            title=row.title,
            relevance=row.relevance,
            on_topic=row.on_topic,
            numbers=row.numbers,
            body_id=row.body_id,
        )
    )
