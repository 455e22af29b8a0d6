"""Archive: the repository as a WARC file, and back.

Each page has a ``metadata`` record with everything that was measured. Where the body was kept, or
the answer was a redirect or an error, a ``response`` record comes before it, so that the file is
also a web: ``scrapy crawl treasure -a web=file.warc.gz`` crawls it, and any WARC tool reads it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec

from treasure import __version__
from treasure.errors import WebError
from treasure.repository.records import LinkRecord, PageRecord
from treasure.repository.store import Store

METADATA_TYPE = "application/vnd.treasure.page+json"
BATCH_PAGES = 100
END = "urn:treasure:end"
"""Address of the last record, which says how many pages there are: WARC readers take a file that
was cut off for a whole one."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MOVED = ("content-encoding", "transfer-encoding", "content-length", "connection")
"""Headers that speak of how the body travelled; it is stored unpacked."""
_FIELDS = [field.name for field in fields(PageRecord) if field.name not in {"html", "links"}]


def write_warc(rows: Iterable[dict[str, Any]], file: IO[bytes], *, gzip: bool = True) -> int:
    """Write *rows* (with their HTML) as WARC records; return how many pages."""
    from warcio.warcwriter import WARCWriter

    writer = WARCWriter(file, gzip=gzip)
    info = {"software": f"treasure/{__version__}", "format": "WARC File Format 1.0"}
    writer.write_record(writer.create_warcinfo_record("treasure", info))
    count = 0
    for row in rows:
        count += 1
        if row["html"] or row["status"] >= 300:
            writer.write_record(_response(writer, row))
        measured = {name: row[name] for name in _FIELDS}
        measured |= {"links": row["links"], "has_html": bool(row["html"])}
        writer.write_record(_metadata(writer, row["url"], measured, row["fetched_at"]))
    writer.write_record(_metadata(writer, END, {"pages": count}, time.time()))
    return count


def _metadata(writer: Any, url: str, measured: dict[str, Any], then: float) -> Any:
    payload = msgspec.json.encode(measured)
    return writer.create_warc_record(
        url,
        "metadata",
        payload=BytesIO(payload),
        length=len(payload),
        warc_content_type=METADATA_TYPE,
        warc_headers_dict={"WARC-Date": _date(then)},
    )


def _response(writer: Any, row: dict[str, Any]) -> Any:
    from warcio.statusandheaders import StatusAndHeaders

    try:
        phrase = HTTPStatus(row["status"]).phrase
    except ValueError:
        phrase = "Unknown"
    headers = [
        (f"X-Archive-Orig-{name}" if name.lower() in _MOVED else name, _one_line(value))
        for name, value in row["headers"].items()
        if _TOKEN.fullmatch(name)
    ]
    headers.append(("Content-Length", str(len(row["html"]))))
    return writer.create_warc_record(
        row["url"],
        "response",
        payload=BytesIO(row["html"]),
        length=len(row["html"]),
        http_headers=StatusAndHeaders(f"{row['status']} {phrase}", headers, protocol="HTTP/1.1"),
        warc_headers_dict={"WARC-Date": _date(row["fetched_at"])},
    )


def load_warc(store: Store, path: str | Path) -> int:
    """Store the pages of a file that ``write_warc`` wrote; return how many."""
    batch: list[PageRecord] = []
    count = 0
    for record in read_warc(path):
        batch.append(record)
        count += 1
        if len(batch) == BATCH_PAGES:
            store.write(batch)
            batch = []
    store.write(batch)
    if not count:
        raise WebError(
            f"{path} has no pages of a repository: expected a WARC file that `treasure export`"
            f" wrote. To judge the pages of any other, crawl it: -a web={path}."
        )
    return count


def read_warc(path: str | Path) -> Iterator[PageRecord]:
    """Return the pages of a file that ``write_warc`` wrote; raise WebError for a damaged one."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    try:
        with Path(path).open("rb") as file:
            body, body_url, count, whole = b"", "", 0, False
            for record in ArchiveIterator(file):
                url = record.rec_headers.get_header("WARC-Target-URI")
                if record.rec_type == "response":
                    body, body_url = record.content_stream().read(), url
                elif record.rec_headers.get_header("Content-Type") == METADATA_TYPE:
                    measured = msgspec.json.decode(record.content_stream().read())
                    if url == END:
                        whole = measured["pages"] == count
                        break
                    yield _record(measured, body if body_url == url else b"")
                    body, body_url, count = b"", "", count + 1
        if count and not whole:
            raise WebError(f"{path} is damaged: it ends after {count:,} pages, before its end.")
    except OSError as error:
        raise WebError(f"The file {path} cannot be read: {error.strerror}.") from None
    except (ArchiveLoadFailed, msgspec.MsgspecError, KeyError, TypeError, EOFError) as error:
        raise WebError(f"{path} is damaged: {error}.") from None


def _record(measured: dict[str, Any], body: bytes) -> PageRecord:
    values = {name: measured[name] for name in _FIELDS}
    values["numbers"] = tuple((number, share) for number, share in measured["numbers"])
    links = tuple(LinkRecord(**link) for link in measured["links"])
    html = body if measured["has_html"] else b""
    return PageRecord(**values, links=links, html=html)


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _one_line(value: str) -> str:
    return " ".join(value.split())
