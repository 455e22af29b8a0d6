"""Finishing: what is done to a page on topic after it is stored.

Main text, language, duplicates, search index and first revisit cost more than the rest of a crawl
together, and nobody waits for them. A queue in the database says which pages are left; whoever
finishes them (``helper`` beside a crawl, or ``treasure refresh``) takes them from there, so nothing
is lost when it ends early.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.exc import DBAPIError

from treasure.repository import duplicates, packing
from treasure.repository.database import upsert
from treasure.repository.freshness import FIRST_INTERVAL_SECONDS, first_due
from treasure.repository.main_text import language_of, main_text
from treasure.repository.models import bodies, contents, pages, revisits, unfinished
from treasure.repository.store import Store
from treasure.repository.tags import tags_of

logger = logging.getLogger(__name__)

BATCH_PAGES = 50


class Finished(NamedTuple):
    """A page that is about to be written back."""

    row: Any
    title: str
    text: str
    language: str
    print: duplicates.Print | None


def finish(store: Store, *, method: str = "trafilatura", limit: int = BATCH_PAGES) -> int:
    """Finish up to *limit* waiting pages; return how many were taken from the queue."""
    rows = _waiting(store, limit)
    pages_read = [_read(row, method) for row in rows]
    try:
        if pages_read:
            _write(store, pages_read)
    except DBAPIError:  # one of them is more than the database takes
        for page in pages_read:
            _write_or_drop(store, page)
    return len(rows)


def finish_all(store: Store, *, method: str = "trafilatura") -> int:
    """Finish everything that waits; return how many pages that were."""
    total = 0
    while done := finish(store, method=method):
        total += done
    return total


def _waiting(store: Store, limit: int) -> Sequence[Any]:
    query = (
        select(
            pages.c.id,
            pages.c.job,
            pages.c.fetched_at,
            pages.c.host,
            pages.c.topic,
            pages.c.title,
            pages.c.language,
            pages.c.relevance,
            pages.c.numbers,
            pages.c.on_topic,
            revisits.c.gone_at,
            contents.c.text,
            bodies.c.html,
        )
        .join_from(unfinished, pages, pages.c.id == unfinished.c.page_id)
        .join(contents, contents.c.page_id == pages.c.id, isouter=True)
        .join(bodies, bodies.c.id == contents.c.body_id, isouter=True)
        .join(revisits, revisits.c.page_id == pages.c.id, isouter=True)
        .order_by(unfinished.c.page_id)
        .limit(limit)
    )
    with store.reading() as connection:
        return connection.execute(query).all()


def _read(row: Any, method: str) -> Finished:
    text = row.text or ""
    if method == "trafilatura":
        text = packing.clean(main_text(packing.decompress(row.html or b""), text))
    language = language_of(row.language, text)[:20]
    title = row.title[: packing.MAX_TITLE_CHARACTERS]
    return Finished(row, title, text, language, duplicates.fingerprint(row.id, row.job, text))


def _write_or_drop(store: Store, page: Finished) -> None:
    """Write one page; one that cannot be written must not keep the others from it for ever."""
    try:
        _write(store, [page])
    except DBAPIError as error:
        logger.error("Page %d cannot be indexed: %s", page.row.id, error.orig)
        with store.writing() as connection:
            connection.execute(delete(unfinished).where(unfinished.c.page_id == page.row.id))


def _write(store: Store, batch: Sequence[Finished]) -> None:
    """Write back what is still as it was read."""
    ids = [page.row.id for page in batch]
    with store.writing() as connection:
        query = select(pages.c.id, pages.c.fetched_at).where(pages.c.id.in_(ids)).with_for_update()
        query = query.order_by(pages.c.key, pages.c.job)  # the order in which the store writes
        now = {row.id: row.fetched_at for row in connection.execute(query)}
        batch = [page for page in batch if now.get(page.row.id) == page.row.fetched_at]
        done = [page.row.id for page in batch]
        connection.execute(delete(unfinished).where(unfinished.c.page_id.in_(done)))
        jobs = {page.row.id: page.row.job for page in batch}
        alive = [page for page in batch if page.row.on_topic and page.row.gone_at is None]
        duplicates.forget(connection, jobs.copy())
        grouped = duplicates.group(
            connection, jobs, [page.print for page in alive if page.print is not None]
        )
        kept = [page for page in alive if page.row.id not in grouped]
        shown = {page.row.id for page in kept}
        for page in batch:
            connection.execute(
                update(contents)
                .where(contents.c.page_id == page.row.id)
                .values(_content(page, searchable=page.row.id in shown))
            )
            if page.language != page.row.language:
                connection.execute(
                    update(pages).where(pages.c.id == page.row.id).values(language=page.language)
                )
        upsert(connection, revisits, [_revisit(page) for page in kept], ("page_id",), _KEPT)


_KEPT = ("due", "interval", "checked_at", "checks", "changes", "misses", "gone_at")


def _content(page: Finished, *, searchable: bool) -> dict[str, Any]:
    row = page.row
    tags = tags_of(
        job=row.job,
        host=row.host,
        topic=row.topic,
        language=page.language,
        relevance=row.relevance,
        numbers=row.numbers,
    )
    return {"title": page.title, "text": page.text, "tags": tags, "searchable": searchable}


def _revisit(page: Finished) -> dict[str, Any]:
    row = page.row
    return {
        "page_id": row.id,
        "due": first_due(row.fetched_at, row.relevance),
        "interval": FIRST_INTERVAL_SECONDS,
        "checked_at": row.fetched_at,
        "checks": 0,
        "changes": 0,
        "misses": 0,
        "gone_at": None,
    }
