"""Duplicates: pages of one job that say the same.

Exact duplicates share a digest of their words. Near duplicates share most of their runs of four
words (shingles): Broder's resemblance (1997), estimated from 64 minimum hashes, and found without
a scan by cutting these into 8 bands of 8 (Leskovec, Rajaraman and Ullman, *Mining of Massive
Datasets*, section 3.4): two pages meet when one band is equal, which 99 % of pairs with a
resemblance of 0.9 do and 3 % of those with 0.5. Bands are rows of an indexed table.

The page that was stored first is kept; the others point to it, and leave search, export and
revisits to it. Only kept pages have fingerprints, so that copies are not compared with copies.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from treasure.repository.database import delete_pairs, insert_pairs, upsert
from treasure.repository.models import bands, duplicates, fingerprints, unfinished
from treasure.text import words

PERMUTATIONS = 64
BANDS = 8
SHINGLE_WORDS = 4
LEAST_WORDS = 30
"""Shorter texts have too few shingles to tell near from far."""
NEAR = 0.85
"""Least estimated resemblance of near duplicates."""
MOST_CANDIDATES = 20
"""Pages of one band that are compared; a band that more share is made of boilerplate."""

Signature = NDArray[np.uint32]


class Print(NamedTuple):
    """What a page is compared by."""

    page_id: int
    digest: int
    signature: Signature
    bands: tuple[int, ...]


class Duplicate(NamedTuple):
    """Of which page a page is a duplicate."""

    page_id: int
    kept_id: int
    kind: str
    """``exact`` or ``near``."""
    similarity: float


def fingerprint(page_id: int, job: str, text: str) -> Print | None:
    """Return what the page is compared by; None when it has no words."""
    tokens = words(text)
    if not tokens:
        return None
    digest = _number(job.encode(), " ".join(tokens).encode("utf-8", "replace"))
    signature = _signature(tokens)
    return Print(page_id, digest, signature, _bands(job, signature))


def resemblance(one: Signature, other: Signature) -> float:
    """Return the estimated share of shingles that two pages have in common."""
    return float(np.count_nonzero(one == other)) / len(one) if len(one) == len(other) != 0 else 0.0


def group(
    connection: Connection, jobs: dict[int, str], prints: Sequence[Print]
) -> dict[int, Duplicate]:
    """Store *prints* and return those that are duplicates, by page.

    *jobs* has the job of each page: what a page was compared by before may have to be undone.
    """
    forget(connection, {page.page_id: jobs[page.page_id] for page in prints})
    known = _Known(connection, prints)
    found: dict[int, Duplicate] = {}
    for page in sorted(prints, key=lambda page: page.page_id):
        duplicate = known.duplicate(page)
        if duplicate is not None:
            found[page.page_id] = duplicate
        known.add(page, duplicate)
    kept = [page for page in prints if page.page_id not in found]
    rows = [
        {"page_id": page.page_id, "digest": page.digest, "signature": page.signature.tobytes()}
        for page in kept
    ]
    upsert(connection, fingerprints, rows, ("page_id",))
    insert_pairs(connection, bands, [(band, page.page_id) for page in kept for band in page.bands])
    upsert(connection, duplicates, [one._asdict() for one in found.values()], ("page_id",))
    return found


def release(connection: Connection, kept_ids: Iterable[int]) -> list[int]:
    """Let the duplicates of pages that changed or died stand for themselves; return them."""
    ids = list(kept_ids)
    query = select(duplicates.c.page_id).where(duplicates.c.kept_id.in_(ids))
    freed = list(connection.execute(query).scalars())
    if freed:
        connection.execute(delete(duplicates).where(duplicates.c.page_id.in_(freed)))
        upsert(connection, unfinished, [{"page_id": page_id} for page_id in freed], ("page_id",))
    return freed


def forget(connection: Connection, jobs: dict[int, str]) -> None:
    """Take pages out of their groups and compare nothing with them any more."""
    ids = list(jobs)
    connection.execute(delete(duplicates).where(duplicates.c.page_id.in_(ids)))
    query = select(fingerprints.c.page_id, fingerprints.c.signature)
    old = connection.execute(query.where(fingerprints.c.page_id.in_(ids))).all()
    if not old:
        return
    pairs = [
        (band, page_id)
        for page_id, packed in old
        for band in _bands(jobs[page_id], np.frombuffer(packed, dtype=np.uint32))
    ]
    delete_pairs(connection, bands, pairs)
    connection.execute(delete(fingerprints).where(fingerprints.c.page_id.in_(ids)))
    release(connection, ids)


class _Known:
    """What the prints of one batch may meet: in the database, and before them in the batch."""

    def __init__(self, connection: Connection, prints: Sequence[Print]) -> None:
        self.exact: dict[int, int] = {}
        self.near: dict[int, list[int]] = {}
        self.signatures: dict[int, Signature] = {}
        own = [page.page_id for page in prints]
        query = (
            select(fingerprints.c.digest, fingerprints.c.page_id)
            .where(fingerprints.c.digest.in_({page.digest for page in prints}))
            .where(fingerprints.c.page_id.not_in(own))
        )
        for digest, page_id in connection.execute(query):
            self.exact[digest] = min(page_id, self.exact.get(digest, page_id))
        wanted = {band for page in prints for band in page.bands}
        for band, page_id in connection.execute(
            select(bands.c.band, bands.c.page_id).where(bands.c.band.in_(wanted))
        ):
            self.near.setdefault(band, []).append(page_id)
        met = {page_id for ids in self.near.values() for page_id in ids[:MOST_CANDIDATES]}
        query_signatures = select(fingerprints.c.page_id, fingerprints.c.signature)
        for page_id, packed in connection.execute(
            query_signatures.where(fingerprints.c.page_id.in_(met))
        ):
            self.signatures[page_id] = np.frombuffer(packed, dtype=np.uint32)

    def duplicate(self, page: Print) -> Duplicate | None:
        """Return of what *page* is a duplicate."""
        if (kept := self.exact.get(page.digest)) is not None:
            return Duplicate(page.page_id, kept, "exact", 1.0)
        met = {other for band in page.bands for other in self.near.get(band, ())[:MOST_CANDIDATES]}
        best = max(
            ((resemblance(page.signature, self.signatures[other]), -other) for other in met),
            default=(0.0, 0),
        )
        if best[0] < NEAR:
            return None
        return Duplicate(page.page_id, -best[1], "near", round(best[0], 3))

    def add(self, page: Print, duplicate: Duplicate | None) -> None:
        """Let the next pages of the batch meet *page*."""
        if duplicate is not None:
            self.exact.setdefault(page.digest, duplicate.kept_id)
            return
        self.exact[page.digest] = page.page_id
        self.signatures[page.page_id] = page.signature
        for band in page.bands:
            self.near.setdefault(band, []).append(page.page_id)


def _signature(tokens: Sequence[str]) -> Signature:
    from datasketch import MinHash

    if len(tokens) < LEAST_WORDS:
        return np.empty(0, dtype=np.uint32)
    joined = (tokens[i : i + SHINGLE_WORDS] for i in range(len(tokens) - SHINGLE_WORDS + 1))
    shingles = {" ".join(run).encode("utf-8", "replace") for run in joined}
    # CRC-32 is enough here and halves the time: its values are permuted 64 ways.
    estimate = MinHash(num_perm=PERMUTATIONS, seed=1, hashfunc=zlib.crc32)
    estimate.update_batch(list(shingles))
    signature: Signature = estimate.hashvalues.astype(np.uint32)
    return signature


def _bands(job: str, signature: Signature) -> tuple[int, ...]:
    if not len(signature):
        return ()
    rows = signature.reshape(BANDS, -1)
    return tuple(_number(b"%d" % i + job.encode(), row.tobytes()) for i, row in enumerate(rows))


def _number(salt: bytes, data: bytes) -> int:
    key = hashlib.blake2b(salt, digest_size=16).digest()
    return int.from_bytes(
        hashlib.blake2b(data, digest_size=8, key=key).digest(), "big", signed=True
    )
