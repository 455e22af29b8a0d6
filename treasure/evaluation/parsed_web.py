"""ParsedWeb: a virtual web whose pages are read once, and then only decoded.

An evaluation fetches the same pages hundreds of times. What was read is kept in a SQLite file
beside the runs, for all processes and until the WARC file, the reader or the format changes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import treasure
from treasure.errors import UnreadablePageError
from treasure.evaluation.page_codec import FORMAT, decode, encode
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.pages import Page
from treasure.urls import canonical, join

CACHE_FOLDER = Path("data/runs/cache")
READERS = (
    "extract.py",
    "core/hrefs.py",
    "core/tables.py",
    "core/tags.py",
    "core/walk.py",
    "core/words.py",
    "core/written.py",
    "parsable.py",
    "text.py",
    "word_table.py",
    "urls.py",
    "pages.py",
    "evaluation/archived.py",
    "evaluation/parsed_web.py",
)
"""Where a page becomes what it is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a URL answers: a page, an address to go to, or neither."""

    status: int
    page: Page | None = None
    location: str = ""


class ParsedWeb:
    """Answers for URLs, as a crawler sees them."""

    def __init__(self, web: VirtualWeb, cache: Path | None = CACHE_FOLDER) -> None:
        self.web = web
        self._cache: sqlite3.Connection | None = None
        if cache is not None:
            self._cache = _open_cache(cache / f"{web.path.stem}-{_stamp(web.path)}.db")

    @classmethod
    def open(cls, path: str | Path, cache: Path | None = CACHE_FOLDER) -> ParsedWeb:
        """Open the WARC file at *path*."""
        return cls(VirtualWeb.open(path), cache)

    def answer(self, url: str) -> Answer:
        """Return what *url* answers; an unknown URL and an unreadable page have no page."""
        page = self._remembered(url)
        if page is not None:
            return Answer(200, page)
        response = self.web.get(url)
        if response is None:
            return Answer(404)
        if 300 <= response.status < 400:
            return Answer(
                response.status,
                location=canonical(join(response.url, response.header("location"))),
            )
        if not response.is_page:
            return Answer(response.status)
        try:
            page = response.page()
        except UnreadablePageError:
            return Answer(200)
        self._remember(url, page)
        return Answer(200, page)

    def page(self, url: str, hops: int = 5) -> Page | None:
        """Return the page at *url*, redirects followed."""
        answer = self.answer(url)
        if answer.location and hops:
            return self.page(answer.location, hops - 1)
        return answer.page

    def _remembered(self, url: str) -> Page | None:
        if self._cache is None:
            return None
        row = self._cache.execute("SELECT data FROM pages WHERE url = ?", (url,)).fetchone()
        return decode(row[0]) if row else None

    def _remember(self, url: str, page: Page) -> None:
        if self._cache is not None:
            self._cache.execute("INSERT OR IGNORE INTO pages VALUES (?, ?)", (url, encode(page)))


def _open_cache(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, data BLOB)")
    return connection


def _stamp(path: Path) -> str:
    """Return a digest of whatever a read page depends on."""
    stat = path.stat()
    parts = [str(path.resolve()), str(stat.st_size), str(stat.st_mtime_ns), str(FORMAT)]
    for name in READERS:
        source = Path(treasure.__file__).parent / name
        if source.is_file():
            parts.append(blake2b(source.read_bytes(), digest_size=8).hexdigest())
    return blake2b("|".join(parts).encode(), digest_size=8).hexdigest()
