"""Writing: records into tables.

What takes time without the database (packing, hashing) is done before the transaction begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select

from treasure.repository import packing
from treasure.repository.database import delete_pairs, insert_pairs, upsert
from treasure.repository.models import backlinks, bodies, contents, pages, unfinished
from treasure.repository.records import PageRecord

Address = tuple[str, int]
"""Job and key of the URL: what makes a page one row."""


class Prepared(NamedTuple):
    """Records as rows, the last of each address."""

    pages: dict[Address, dict[str, Any]]
    contents: dict[Address, dict[str, Any]]
    digests: dict[Address, bytes]
    bodies: dict[bytes, bytes]
    targets: dict[Address, set[int]]
    fresh: set[Address]
    """Those that are to be finished."""


def prepare(records: Sequence[PageRecord]) -> Prepared:
    """Return *records* as rows."""
    latest = {(record.job, record.key): record for record in records}
    full = {address: record for address, record in latest.items() if _has_content(record)}
    digests = {a: packing.digest(record.html) for a, record in full.items() if record.html}
    return Prepared(
        pages={a: packing.page_row(record) for a, record in latest.items()},
        contents={a: packing.content_row(record) for a, record in full.items()},
        digests=digests,
        bodies={digest: packing.compress(full[a].html) for a, digest in digests.items()},
        targets={a: packing.targets(record.links) for a, record in full.items()},
        fresh={a for a, record in full.items() if record.on_topic},
    )


def put(connection: Connection, prepared: Prepared) -> dict[Address, int]:
    """Write *prepared*, in place of what its addresses held; return their row numbers."""
    known = page_ids(connection, prepared.pages)
    upsert(connection, pages, list(prepared.pages.values()), ("key", "job"))
    if known:
        _forget(connection, known.values())
    ids = page_ids(connection, prepared.pages)
    body_ids = _keep_bodies(connection, prepared.bodies)
    rows = [
        row | {"page_id": ids[a], "body_id": body_ids.get(prepared.digests.get(a, b""))}
        for a, row in prepared.contents.items()
    ]
    upsert(connection, contents, rows, ("page_id",))
    pairs = [(target, ids[a]) for a, targets in prepared.targets.items() for target in targets]
    insert_pairs(connection, backlinks, sorted(pairs))  # the table is in this order
    # What was there before may be in groups of duplicates, which finishing puts right.
    queue = [{"page_id": ids[a]} for a in ids if a in prepared.fresh or a in known]
    upsert(connection, unfinished, queue, ("page_id",))
    return ids


def _has_content(record: PageRecord) -> bool:
    return bool(record.on_topic or record.html or record.links)


def page_ids(connection: Connection, addresses: Iterable[Address]) -> dict[Address, int]:
    """Return the row number of each known address."""
    wanted = set(addresses)
    query = (
        select(pages.c.job, pages.c.key, pages.c.id)
        .where(pages.c.key.in_([key for _, key in wanted]))
        # Locked in one order, so that two writers never wait for each other in a circle.
        .order_by(pages.c.key, pages.c.job)
        .with_for_update()
    )
    found = {(job, key): page_id for job, key, page_id in connection.execute(query)}
    return {address: found[address] for address in wanted & found.keys()}


def _forget(connection: Connection, page_ids: Iterable[int]) -> None:
    """Remove content and links of pages that are about to be written again."""
    ids = list(page_ids)
    query = select(contents.c.page_id, contents.c.links).where(contents.c.page_id.in_(ids))
    pairs = [
        (target, page_id)
        for page_id, packed in connection.execute(query)
        for target in packing.targets(packing.unpack_links(packed))
    ]
    delete_pairs(connection, backlinks, pairs)
    connection.execute(delete(contents).where(contents.c.page_id.in_(ids)))


def _keep_bodies(connection: Connection, packed: Mapping[bytes, bytes]) -> dict[bytes, int]:
    """Store bodies that are new; return the row number of each."""
    rows = [{"digest": digest, "html": html} for digest, html in sorted(packed.items())]
    upsert(connection, bodies, rows, ("digest",), keep=("html",))
    query = select(bodies.c.digest, bodies.c.id).where(bodies.c.digest.in_(packed))
    return {bytes(digest): body_id for digest, body_id in connection.execute(query)}
