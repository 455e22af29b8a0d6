"""Virtual webs from what one has: folders of HTML, WARC files, our own repository; and labels."""

from __future__ import annotations

import csv
import mimetypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import select

from treasure.errors import WebError
from treasure.evaluation.archived import Response
from treasure.evaluation.virtual_web import VirtualWeb, WebTopic, read_web_topics
from treasure.evaluation.web_writer import TOPICS, WEB
from treasure.repository.models import pages
from treasure.repository.store import Store
from treasure.urls import canonical, join

_STORED_DROPPED = frozenset({"transfer-encoding", "content-length", "content-encoding"})
"""Headers that do not hold for bodies which a crawl has decoded."""
_INDEX = frozenset({"index.html", "index.htm"})

# -- sources


def from_folder(folder: Path, base: str = "") -> Iterator[Response]:
    """Return the files below *folder* as responses, sorted by path.

    With *base* the folder is that site. Without, its folders are named after their hosts, as
    mirroring tools write them. ``index.html`` stands for its folder, which its own name leads to.
    """
    if base and not re.match(r"https?://[^/]+", base):
        raise WebError(f"--base must be a URL such as http://example.org/. Got {base!r} instead.")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        parts = path.relative_to(folder).parts
        if path.name.startswith(".") or path.name in {WEB, TOPICS}:
            continue
        url = _file_url(parts, base)
        if not url:
            raise WebError(
                f"{path} belongs to no host. Name the first folders after their hosts"
                " (www.example.org/...), or give --base http://example.org/."
            )
        kind = mimetypes.guess_type(path.name)[0] or "text/html"
        if path.name.lower() in _INDEX:
            folder_url = url.rpartition("/")[0] + "/"
            yield Response(url, 301, (("Location", folder_url),), b"")
            url = folder_url
        yield Response(url, 200, (("Content-Type", kind),), path.read_bytes())


def _file_url(parts: tuple[str, ...], base: str) -> str:
    if base:
        root, names = base.rstrip("/"), parts
    elif len(parts) > 1 and "." in parts[0]:
        root, names = f"http://{parts[0]}", parts[1:]
    else:
        return ""
    return canonical(f"{root}/{'/'.join(quote(name) for name in names)}")


def from_warcs(paths: Sequence[Path]) -> Iterator[Response]:
    """Return the responses of several WARC files; the first answer of a URL counts."""
    for web in [VirtualWeb.open(path) for path in paths]:
        for url in web.urls():
            response = web.get(url)
            if response is not None:
                yield response


def from_repository(store: Store, job: str = "") -> Iterator[Response]:
    """Return what a crawl stored: bodies that were kept, redirects and errors, oldest first."""
    query = select(
        pages.c.id, pages.c.url, pages.c.final_url, pages.c.status, pages.c.headers
    ).order_by(pages.c.id)
    if job:
        query = query.where(pages.c.job == job)
    with store.reading() as connection:
        rows = connection.execute(query).all()
    for page_id, url, final_url, status, headers in rows:
        body = store.html(page_id)
        if not status or (status == 200 and not body):
            continue
        kept = [(k, v) for k, v in headers.items() if k.lower() not in _STORED_DROPPED]
        yield Response(url if status >= 300 else final_url or url, status, tuple(kept), body)


# -- labels


def read_labels(path: Path, known: Sequence[str]) -> list[WebTopic]:
    """Read ``topics.json``, or a CSV file with the columns ``url`` and ``topic``.

    A CSV says nothing of seeds: the shortest addresses that are no targets serve as generic ones,
    the first targets as those on topic.
    """
    if path.suffix.lower() == ".json":
        return read_web_topics(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise WebError(f"The labels {path} cannot be read: {reason}.") from None
    targets: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 2):
        url, topic = (row.get("url") or "").strip(), (row.get("topic") or "").strip()
        if not url or not topic:
            raise WebError(
                f"Line {number} of {path} has no url or no topic."
                " Expected a CSV file with the columns url and topic."
            )
        targets.setdefault(topic, []).append(canonical(url) or url)
    return [labelled(name, urls, known) for name, urls in targets.items()]


def landed(topics: Sequence[WebTopic], responses: Sequence[Response]) -> list[WebTopic]:
    """Return *topics* with targets where they are after redirects, as a crawl will find them."""
    moved = {r.url: join(r.url, r.header("location")) for r in responses if 300 <= r.status < 400}
    return [
        replace(topic, targets=frozenset(moved.get(url, url) for url in topic.targets))
        for topic in topics
    ]


def labelled(
    name: str, targets: Sequence[str], known: Sequence[str], description: str = ""
) -> WebTopic:
    """Return a topic with seeds chosen among the *known* URLs."""
    wanted = frozenset(targets)
    others = sorted((url for url in known if url not in wanted), key=lambda url: (len(url), url))
    return WebTopic(
        name, "", description or name, tuple(others[:3]), tuple(sorted(wanted)[:3]), wanted
    )


def judged_topics(store: Store, job: str, known: Sequence[str]) -> list[WebTopic]:
    """Return the topics of stored crawls with the pages that their judge found on topic."""
    query = select(pages.c.topic, pages.c.final_url).where(pages.c.on_topic).order_by(pages.c.id)
    if job:
        query = query.where(pages.c.job == job)
    found: dict[str, list[str]] = {}
    with store.reading() as connection:
        for topic, url in connection.execute(query):
            found.setdefault(topic, []).append(url)
    note = "as judged by our own classifier, not by people"
    return [labelled(name, urls, known, f"{name}: {note}") for name, urls in found.items()]


def merged_topics(paths: Sequence[Path]) -> list[WebTopic]:
    """Return the topics beside several WARC files; those with one name become one."""
    merged: dict[str, WebTopic] = {}
    for path in paths:
        beside = path.with_name(TOPICS)
        for topic in read_web_topics(beside) if beside.exists() else ():
            known = merged.get(topic.name)
            if known is not None:
                topic = replace(known, targets=known.targets | topic.targets)
            merged[topic.name] = topic
    return list(merged.values())
