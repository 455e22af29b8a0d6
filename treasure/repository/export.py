"""Export: the repository as JSON lines, CSV or Parquet. WARC is in ``archive``.

Pages are read in portions, each with a short look at the database, so that an export of millions
neither fills the memory nor keeps a running crawl from tidying up.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
from sqlalchemy import select

from treasure.errors import ConfigError
from treasure.repository import packing
from treasure.repository.models import bodies, contents, duplicates, pages
from treasure.repository.store import Store

PORTION_PAGES = 500
FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".warc.gz": "warc",
    ".warc": "warc",
}
"""The format that each ending of a file's name asks for."""
COLUMNS = """url title topic relevance numbers language fetched_at status depth score referrer
    anchor final_url canonical_url job on_topic failure size host text""".split()
"""What the flat formats hold; JSON lines hold everything."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages."""

    job: str | None = None
    everything: bool = False
    """Also pages off topic, failures and duplicates."""
    html: bool = False
    """Also the body of each page, under ``html``."""


def read(store: Store, selection: Selection) -> Iterator[dict[str, Any]]:
    """Return the pages of *selection* with all that is known, in the order they were stored."""
    last = 0
    while True:
        rows = _portion(store, selection, last)
        if not rows:
            return
        for row in rows:
            last = row["id"]
            yield _page(row)


def _portion(store: Store, selection: Selection, last: int) -> list[dict[str, Any]]:
    columns: list[Any] = [pages, contents.c.text, contents.c.links, duplicates.c.kept_id]
    query = (
        select(*columns, *([bodies.c.html] if selection.html else []))
        .join(contents, contents.c.page_id == pages.c.id, isouter=True)
        .join(duplicates, duplicates.c.page_id == pages.c.id, isouter=True)
        .where(pages.c.id > last)
        .order_by(pages.c.id)
        .limit(PORTION_PAGES)
    )
    if selection.html:
        query = query.join(bodies, bodies.c.id == contents.c.body_id, isouter=True)
    if selection.job is not None:
        query = query.where(pages.c.job == selection.job)
    if not selection.everything:
        query = query.where(pages.c.on_topic, duplicates.c.page_id.is_(None))
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def _page(row: dict[str, Any]) -> dict[str, Any]:
    row["text"] = row["text"] or ""
    links = packing.unpack_links(row["links"] or b"")
    row["links"] = [{"url": link.url, "score": link.score, "anchor": link.anchor} for link in links]
    row["duplicate_of"] = row.pop("kept_id")
    if "html" in row:
        row["html"] = packing.decompress(row["html"] or b"")
    return row


def format_of(path: str) -> str:
    """Return the format that the name of a file asks for."""
    for suffix, name in FORMATS.items():
        if path.endswith(suffix):
            return name
    raise ConfigError(
        f"The name {path!r} does not say which format is wanted: expected one that ends in"
        f" {', '.join(FORMATS)}, or give --format."
    )


def write_jsonl(rows: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Write a JSON object a line; return how many."""
    count = 0
    for row in rows:
        count += 1
        file.write(msgspec.json.encode(row) + b"\n")
    return count


def write_csv(rows: Iterable[dict[str, Any]], file: IO[str]) -> int:
    """Write a table that a spreadsheet opens without running what a page put into it."""
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for row in rows:
        count += 1
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return count


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(f"{number} {share:.3f}" for number, share in value)
    if isinstance(value, str) and value.lstrip(" \n\x00").startswith(_FORMULA):
        return "'" + value
    return value


def write_parquet(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write a Parquet file with typed columns."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ConfigError(
            "Parquet needs the package pyarrow: pip install 'treasure-crawler[parquet]'."
        ) from None
    number = pa.struct([("number", pa.string()), ("share", pa.float64())])
    kinds = {
        "relevance": pa.float64(),
        "score": pa.float64(),
        "fetched_at": pa.float64(),
        "status": pa.int32(),
        "depth": pa.int32(),
        "size": pa.int64(),
        "on_topic": pa.bool_(),
        "numbers": pa.list_(number),
    }
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for portion in _portions(rows):
            count += len(portion)
            flat = [{name: _typed(row[name]) for name in COLUMNS} for row in portion]
            writer.write_table(pa.Table.from_pylist(flat, schema=schema))
    return count


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return [{"number": number, "share": share} for number, share in value]
    return value


def _portions(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    portion: list[dict[str, Any]] = []
    for row in rows:
        portion.append(row)
        if len(portion) == PORTION_PAGES:
            yield portion
            portion = []
    if portion:
        yield portion
