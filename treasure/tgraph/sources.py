"""Where pages for a graph come from: a folder, a repository, the live web; webs and WARCs too.

A source has ``urls()`` and ``page(url)``, as a VirtualWeb has, and answers who links to whom.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote

from treasure.errors import GraphError, UnreadablePageError
from treasure.extract import read_page
from treasure.pages import Page
from treasure.robots import FORBIDDEN, Rules, parse
from treasure.urls import canonical, host_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from treasure.addresses import AddressPolicy
    from treasure.repository.store import Store

PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".xht", ".shtml", ""})


class Source(Protocol):
    """Pages by address."""

    def urls(self) -> Iterator[str]:
        """Return every address."""

    def page(self, url: str) -> Page | None:
        """Return the page at *url*, or None."""


class FolderWeb:
    """A folder of HTML files, as ``wget -r`` leaves them; *base* is the address of the folder."""

    def __init__(self, folder: Path, base: str = "http://folder.example/") -> None:
        if not folder.is_dir():
            raise GraphError(f"{folder} is no folder. Expected a folder of HTML files.")
        if not canonical(base):
            raise GraphError(
                f"The address of a folder must be an http(s) URL. Got {base!r} instead."
            )
        self._folder = folder.resolve()
        self._base = base if base.endswith("/") else base + "/"

    def urls(self) -> Iterator[str]:
        """Return the address of every HTML file, in order of their names."""
        for file in sorted(self._folder.rglob("*")):
            if file.is_file() and file.suffix.lower() in PAGE_SUFFIXES:
                yield self._base + quote(file.relative_to(self._folder).as_posix())

    def page(self, url: str) -> Page | None:
        """Read the file behind *url*; ``index.html`` of a folder, and ``.html`` may be left out."""
        plain = url.partition("#")[0].partition("?")[0]
        if not plain.startswith(self._base):
            return None
        file = (self._folder / unquote(plain.removeprefix(self._base))).resolve()
        if not file.is_relative_to(self._folder):
            return None
        for candidate in (file, file / "index.html", file.with_name(file.name + ".html")):
            if candidate.is_file():
                return read_page(url, candidate.read_bytes())
        return None


class RepositoryWeb:
    """The stored pages of a repository whose HTML was kept, and the links between them."""

    def __init__(self, store: Store, job: str | None = None) -> None:
        self._store = store
        self._job = job

    def urls(self) -> Iterator[str]:
        """Return the address of every page that was fetched, oldest first."""
        from treasure.repository.models import pages

        return iter(self._urls(pages.c.status == 200))

    def page(self, url: str) -> Page | None:
        """Read the latest stored body of *url*."""
        for number in self._store.find(url, self._job):
            html = self._store.html(number)
            if html:
                return read_page(url, html)
        return None

    def referrers(self, url: str) -> list[str]:
        """Return stored pages that link to *url*."""
        return [link.url for link in self._store.backlinks(url, job=self._job, limit=1_000)]

    def targets(self) -> list[str]:
        """Return the pages that were judged on topic."""
        from treasure.repository.models import pages

        return self._urls(pages.c.on_topic)

    def _urls(self, chosen: ColumnElement[bool]) -> list[str]:
        from sqlalchemy import select

        from treasure.repository.models import pages

        query = select(pages.c.url).where(chosen).order_by(pages.c.id)
        if self._job is not None:
            query = query.where(pages.c.job == self._job)
        with self._store.reading() as connection:
            return list(dict.fromkeys(connection.execute(query).scalars()))


def backlinks(source: Source, progress: Callable[[str, int], None]) -> Callable[[str], list[str]]:
    """Return who links to whom in *source*; every page is read once."""
    known: dict[str, list[str]] = defaultdict(list)
    for count, url in enumerate(source.urls(), 1):
        try:
            page = source.page(url)
        except UnreadablePageError:
            page = None
        for target in {canonical(link.url) for link in page.links} if page is not None else ():
            known[target].append(url)
        progress("pages searched for links", count)
    return lambda url: known.get(url, [])


class LiveWeb:
    """The live web, one page at a time: robots.txt obeyed, a pause between requests to a host.

    A graph needs a few hundred pages around the examples at most. So this is no second crawler:
    plain requests one after the other, through the same door as single pages (``fetch``).
    """

    def __init__(
        self,
        *,
        contact: str = "",
        policy: AddressPolicy | None = None,
        delay_seconds: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._contact = contact
        self._policy = policy
        self._delay = delay_seconds
        self._sleep = sleep
        self._rules: dict[str, Rules] = {}
        self._next: dict[str, float] = {}
        self.refused: list[str] = []
        """What could not be had, and why."""

    def page(self, url: str) -> Page | None:
        """Fetch *url* when its host allows it, after a polite pause."""
        from treasure.fetch import FetchError, fetch_page

        try:
            rules = self._robots(url)
            if not rules.allows(url):
                self.refused.append(f"{url}: {FORBIDDEN}")
                return None
            self._pause(url, rules.delay)
            return fetch_page(url, self._policy, contact=self._contact)
        except (FetchError, UnreadablePageError) as error:
            self.refused.append(str(error))
            return None

    def _robots(self, url: str) -> Rules:
        from treasure.fetch import fetch_robots

        host = host_of(canonical(url))
        if host not in self._rules:
            self._pause(url)
            body = fetch_robots(url, self._policy, contact=self._contact)
            self._rules[host] = Rules(parse(body), "treasure")
        return self._rules[host]

    def _pause(self, url: str, asked: float = 0.0) -> None:
        """Wait until the host may be asked; the next time after our delay, or what it asks for."""
        host = host_of(canonical(url))
        self._sleep(max(0.0, self._next.get(host, 0.0) - time.monotonic()))
        self._next[host] = time.monotonic() + max(self._delay, asked)
