"""Store: writes what a crawl found and reads it back.

One store serves one process; its methods may be called from any thread. A batch of pages with
their links is one transaction: after ``write`` all of it is there, or none. What takes long
(main text, language, duplicates, search index) is left to ``finishing``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select

from treasure.repository import migrations, packing, writing
from treasure.repository.database import open_engine
from treasure.repository.jobs import JobStore
from treasure.repository.models import backlinks, bodies, contents, pages
from treasure.repository.records import LinkRecord, PageRecord
from treasure.urls import canonical, url_key


class Backlink(NamedTuple):
    """A stored page that links to an address, with the link's score and anchor there."""

    page_id: int
    job: str
    url: str
    score: float
    anchor: str


class Store(JobStore):
    """The repository of one or many jobs."""

    @classmethod
    def open(cls, url: str) -> Store:
        """Open the repository at *url*; make or migrate its tables."""
        store = cls(open_engine(url))
        try:
            with store.reading() as connection:
                current = migrations.version(connection)
            if current != migrations.LATEST:
                with store.writing() as connection:
                    migrations.migrate(connection)
        except BaseException:
            store.close()
            raise
        return store

    def write(self, records: Sequence[PageRecord]) -> None:
        """Store *records* in one transaction; what a job fetched again replaces what was there."""
        if not records:
            return
        prepared = writing.prepare(records)
        with self.writing() as connection:
            writing.put(connection, prepared)

    def links(self, page_id: int) -> list[LinkRecord]:
        """Return the links of a stored page with their scores."""
        with self.reading() as connection:
            query = select(contents.c.links).where(contents.c.page_id == page_id)
            return packing.unpack_links(connection.execute(query).scalar() or b"")

    def html(self, page_id: int) -> bytes:
        """Return the body of a stored page as it came; empty when it was not kept."""
        query = (
            select(bodies.c.html)
            .join(contents, contents.c.body_id == bodies.c.id)
            .where(contents.c.page_id == page_id)
        )
        with self.reading() as connection:
            return packing.decompress(connection.execute(query).scalar() or b"")

    def page(self, page_id: int) -> dict[str, Any] | None:
        """Return everything that was measured of a page, with its title and text; or None."""
        query = (
            select(pages, contents.c.text)
            .join(contents, contents.c.page_id == pages.c.id, isouter=True)
            .where(pages.c.id == page_id)
        )
        with self.reading() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else dict(row) | {"text": row["text"] or ""}

    def find(self, url: str, job: str | None = None) -> list[int]:
        """Return the pages that were fetched for *url*, the latest first."""
        key = url_key(canonical(url) or url)
        query = select(pages.c.id).where(pages.c.key == key).order_by(pages.c.fetched_at.desc())
        if job is not None:
            query = query.where(pages.c.job == job)
        with self.reading() as connection:
            return list(connection.execute(query).scalars())

    def backlinks(self, url: str, *, job: str | None = None, limit: int = 100) -> list[Backlink]:
        """Return links to *url* on stored pages, those of the latest pages first."""
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
            if packing.targets([link]) == {key}
        ]

    def page_jobs(self) -> list[str]:
        """Return the jobs that have pages here, also those that came with an archive."""
        with self.reading() as connection:
            return list(connection.execute(select(pages.c.job).distinct()).scalars())

    def fetched_urls(self, job: str) -> Iterator[str]:
        """Return the addresses that *job* has fetched so far."""
        with self.reading() as connection:
            yield from connection.execute(select(pages.c.url).where(pages.c.job == job)).scalars()

    def has_read(self, job: str) -> bool:
        """Tell whether any address of *job* gave a page."""
        gave = (pages.c.failure == "") & (pages.c.status < 300)
        query = select(pages.c.id).where((pages.c.job == job) & gave).limit(1)
        with self.reading() as connection:
            return connection.execute(query).first() is not None

    def count_free(self, job: str, given: Sequence[str] = ()) -> int:
        """Return how many pages of *job* cost nothing: redirects that led on, and those *given*."""
        led_on = pages.c.status.between(300, 399) & (pages.c.failure == "")
        free = led_on | pages.c.url.in_(given)
        query = select(func.count()).where((pages.c.job == job) & free)
        with self.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def count(self, job: str | None = None, *, on_topic: bool = False) -> int:
        """Return how many pages are stored."""
        query = select(func.count()).select_from(pages)
        if job is not None:
            query = query.where(pages.c.job == job)
        if on_topic:
            query = query.where(pages.c.on_topic)
        with self.reading() as connection:
            return int(connection.execute(query).scalar_one())
