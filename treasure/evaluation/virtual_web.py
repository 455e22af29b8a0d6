"""VirtualWeb: a web in a WARC file, the same at every run.

A response record per URL; a URL without a record is a 404. Records are found once, by their
offset, and read when they are asked for, so a web of many gigabytes needs little memory. A damaged
file gives what can be read and says how much could not (``damaged_bytes``).
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treasure.ddc.numbers import NumberError, normal
from treasure.errors import WebError
from treasure.evaluation.archived import Response, read_response
from treasure.pages import Page
from treasure.topics import Topic
from treasure.urls import canonical, join

_GZIP = b"\x1f\x8b\x08"
MAX_RECORD_BYTES = 256 * 1024 * 1024
MAX_HOPS = 5


@dataclass(frozen=True, slots=True)
class WebTopic:
    """A topic of a virtual web with its truth."""

    name: str
    ddc: str
    description: str
    seeds: tuple[str, ...]
    on_topic_seeds: tuple[str, ...]
    targets: frozenset[str]


class VirtualWeb:
    """The pages of a WARC file by URL."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path = path
        self._data = data
        self._offsets: dict[str, int] = {}
        self._canonical: dict[str, str] = {}
        self.damaged_bytes = 0
        self._index()

    @classmethod
    def open(cls, path: str | Path) -> VirtualWeb:
        """Open a WARC file; raise WebError when it is none."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is empty"
            raise WebError(
                f"The web {path} cannot be read: {reason}. Expected a WARC file."
            ) from None
        web = cls(path, data)
        if not web._offsets:
            raise WebError(
                f"{path} is no WARC file with response records. Expected .warc or .warc.gz"
                " (compressed record by record)."
            )
        return web

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, url: str) -> bool:
        return self._find(url) is not None

    def urls(self) -> Iterator[str]:
        """Return every URL that has a record, in the order of the file."""
        return iter(self._offsets)

    def get(self, url: str) -> Response | None:
        """Return the response for *url*, without its fragment; None is a 404."""
        found = self._find(url)
        if found is None:
            return None
        record = self._record(self._offsets[found])
        return read_response(found, record[1]) if record else None

    def follow(self, url: str) -> Response | None:
        """Return the response at the end of the redirects from *url*, MAX_HOPS at most."""
        response = self.get(url)
        for _ in range(MAX_HOPS):
            if response is None or not 300 <= response.status < 400:
                return response
            response = self.get(join(response.url, response.header("location")))
        return None

    def page(self, url: str) -> Page | None:
        """Return the page at *url*, redirects followed; None when there is no 200 page."""
        response = self.follow(url)
        if response is None or not response.is_page:
            return None
        return response.page()

    def has_page(self, url: str) -> bool:
        """Tell whether there is a 200 page at *url*, redirects followed, without reading it."""
        response = self.follow(url)
        return response is not None and response.is_page

    def _find(self, url: str) -> str | None:
        url = url.partition("#")[0]
        if url in self._offsets:
            return url
        return self._canonical.get(canonical(url))

    # -- records

    def _index(self) -> None:
        size = len(self._data)
        offset = 0
        while offset < size:
            record = self._record(offset, head_only=True)
            if record is None:
                following = self._next_record(offset + 1)
                self.damaged_bytes += following - offset
                offset = following
                continue
            headers, _, offset_after = record
            if headers.get("warc-type") == "response":
                url = headers.get("warc-target-uri", "").strip("<>").partition("#")[0]
                if url:
                    self._offsets.setdefault(url, offset)
                    self._canonical.setdefault(canonical(url), url)
            offset = offset_after

    def _next_record(self, start: int) -> int:
        zipped, plain = self._data.find(_GZIP, start), self._data.find(b"WARC/1.", start)
        found = [position for position in (zipped, plain) if position >= 0]
        return min(found) if found else len(self._data)

    def _record(
        self, offset: int, *, head_only: bool = False
    ) -> tuple[dict[str, str], bytes, int] | None:
        """Return headers, payload and the next offset of a record; None when it is damaged."""
        if self._data[offset : offset + 3] == _GZIP:
            unzipped = self._unzip(offset)
            if unzipped is None:
                return None
            raw, following = unzipped
            parsed = _record_headers(raw)
            if parsed is None:
                return None
            headers, body_start, length = parsed
            if len(raw) < body_start + length or _record_headers(
                raw[body_start + length :].lstrip()
            ):
                return None
            return headers, b"" if head_only else raw[body_start : body_start + length], following
        end = self._data.find(b"\r\n\r\n", offset)
        if end < 0:
            return None
        parsed = _record_headers(self._data[offset : end + 4])
        if parsed is None:
            return None
        headers, body_start, length = parsed
        start, stop = offset + body_start, offset + body_start + length
        if stop > len(self._data):
            return None
        following = stop
        while self._data[following : following + 2] == b"\r\n":
            following += 2
        return headers, b"" if head_only else self._data[start:stop], following

    def _unzip(self, offset: int) -> tuple[bytes, int] | None:
        decompressor = zlib.decompressobj(wbits=31)
        parts, position, total = [], offset, 0
        try:
            while not decompressor.eof and position < len(self._data) and total < MAX_RECORD_BYTES:
                chunk = self._data[position : position + 65_536]
                part = decompressor.decompress(chunk, MAX_RECORD_BYTES)
                total += len(part)
                parts.append(part)
                position += len(chunk)
        except zlib.error:
            return None
        if not decompressor.eof:
            return None
        return b"".join(parts), position - len(decompressor.unused_data)


def _record_headers(raw: bytes) -> tuple[dict[str, str], int, int] | None:
    """Return the WARC headers of *raw*, where its payload begins and how long it is."""
    end = raw.find(b"\r\n\r\n")
    if not raw.startswith(b"WARC/1.") or end < 0:
        return None
    headers = {}
    for line in raw[:end].decode("utf-8", "replace").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = headers.get("content-length", "")
    return (headers, end + 4, int(length)) if length.isascii() and length.isdigit() else None


def understood_topic(topic: WebTopic) -> Topic:
    """Return the topic as a crawler is told: name, description and number."""
    return Topic(
        name=topic.name.replace("-", " "),
        description=topic.description,
        numbers=(topic.ddc,) if topic.ddc else (),
    )


def truth(topic: WebTopic) -> frozenset[str]:
    """Return the targets of *topic* by the addresses under which a crawl knows them."""
    return frozenset(canonical(url) or url for url in topic.targets)


def read_web_topics(path: str | Path) -> list[WebTopic]:
    """Read a ``topics.json``; raise WebError that names what is wrong."""
    path = Path(path)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WebError(f"The topics {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise WebError(f"{path} is no JSON: {error}.") from None
    if not isinstance(rows, list):
        raise WebError(f"{path} must hold a list of topics. Got {type(rows).__name__} instead.")
    topics = [_web_topic(path, number, row) for number, row in enumerate(rows, 1)]
    names = [topic.name for topic in topics]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WebError(
            f"{path} has two topics named {twice!r}. Expected a name of its own for each."
        )
    return topics


def _web_topic(path: Path, number: int, row: Any) -> WebTopic:
    where = f"Topic {number} of {path}"
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"]:
        raise WebError(f'{where} has no name. Expected {{"name": "...", "seeds": [...], ...}}.')
    ddc, description = (str(row.get(key) or "") for key in ("ddc", "description"))
    try:
        normal(ddc or "0")
    except NumberError as error:
        raise WebError(f"ddc of {where}: {error}") from None
    lists = {key: row.get(key, []) for key in ("seeds", "on_topic_seeds", "targets")}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(url, str) for url in value):
            raise WebError(
                f"{key} of {where} must be a list of URLs. Got {str(value)[:80]} instead."
            )
    if "seeds" not in row or "targets" not in row:
        raise WebError(
            f"{where} is incomplete: expected name, ddc, description, seeds, on_topic_seeds"
            " and targets."
        )
    return WebTopic(
        name=row["name"],
        ddc=ddc,
        description=description,
        seeds=tuple(lists["seeds"]),
        on_topic_seeds=tuple(lists["on_topic_seeds"]),
        targets=frozenset(lists["targets"]),
    )
