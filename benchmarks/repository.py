"""Writing pages, against the ORM row by row; what a page costs on disk; duplicates at a million.

    python benchmarks/repository.py [--quick] [--json] [--web FILE.warc.gz]

Pages are drawn with 16 kB of HTML, 8 kB of text and 57 links, or read from a WARC. The yardstick is
what one writes first: a mapped class each for pages and links, ``session.add`` and a commit a
page, HTML unpacked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, ForeignKey, LargeBinary, Text, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from treasure.repository import duplicates
from treasure.repository.database import insert_pairs, upsert
from treasure.repository.finishing import finish
from treasure.repository.models import bands, fingerprints, pages
from treasure.repository.packing import page_row
from treasure.repository.records import LinkRecord, PageRecord
from treasure.repository.store import Store
from treasure.urls import url_key

LINKS = 57
BATCH = 100


class Base(DeclarativeBase):
    """The yardstick's tables."""


class Page(Base):
    __tablename__ = "pages"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[int] = mapped_column(BigInteger, unique=True)
    url: Mapped[str]
    title: Mapped[str]
    relevance: Mapped[float]
    headers: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    html: Mapped[bytes] = mapped_column(LargeBinary)
    links: Mapped[list[Link]] = relationship()


class Link(Base):
    __tablename__ = "links"
    id: Mapped[int] = mapped_column(primary_key=True)
    page_id: Mapped[int] = mapped_column(ForeignKey("pages.id"), index=True)
    key: Mapped[int] = mapped_column(BigInteger, index=True)
    url: Mapped[str]
    score: Mapped[float]
    anchor: Mapped[str]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer pages")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--web", help="take pages from this WARC file instead of drawn ones")
    args = parser.parse_args()
    count = 1_000 if args.quick else 5_000
    records = real(args.web, count) if args.web else [record(number) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), records, quick=args.quick)
    if args.json:
        print(json.dumps(figures))
        return
    print(
        f"writing:    {figures['ours_ms']:.2f} ms of CPU a page, {figures['ratio']:.1f} x faster"
        f" than the ORM row by row ({figures['orm_ms']:.2f} ms)"
    )
    print(
        f"on disk:    {figures['bytes_per_page']:,.0f} bytes a page on topic"
        f" ({figures['orm_bytes_per_page']:,.0f} row by row, unpacked);"
        f" {figures['measured_bytes']:,.0f} off topic"
    )
    print(
        f"links:      {figures['links_bytes']:,.0f} bytes packed and findable,"
        f" {figures['link_rows_bytes']:,.0f} as rows with an index, {LINKS} links"
    )
    print(f"finishing:  {figures['finish_ms']:.1f} ms of CPU a page, trafilatura included")
    for count, micro in figures["duplicates_us"].items():
        print(f"duplicates: {micro:,.0f} us a page to be looked up and stored among {int(count):,}")


def measure(folder: Path, records: list[PageRecord], *, quick: bool) -> dict[str, Any]:
    """Return the figures."""
    count = len(records)
    store = Store.open(f"sqlite:///{folder / 'ours.db'}")
    used = time.process_time()
    for start in range(0, count, BATCH):
        store.write(records[start : start + BATCH])
    ours = 1e3 * (time.process_time() - used) / count
    size = on_disk(folder / "ours.db")
    some = count // 10
    used = time.process_time()
    for _ in range(some // 50):
        finish(store)
    finishing = 1e3 * (time.process_time() - used) / some
    store.close()
    used = time.process_time()
    row_by_row(folder / "orm.db", records[: count // 4])
    orm = 1e3 * (time.process_time() - used) / (count // 4)
    return {
        "pages": count,
        "ours_ms": ours,
        "orm_ms": orm,
        "ratio": orm / ours,
        "bytes_per_page": size / count,
        "orm_bytes_per_page": on_disk(folder / "orm.db") / (count // 4),
        "measured_bytes": off_topic_bytes(folder),
        "links_bytes": links_bytes(folder, records[:1_000]),
        "link_rows_bytes": link_rows_bytes(folder, records[:1_000]),
        "finish_ms": finishing,
        "duplicates_us": duplicates_us(folder, (10_000, 50_000) if quick else (10_000, 1_000_000)),
    }


def record(number: int, *, on_topic: bool = True) -> PageRecord:
    """Return a page with the sizes of a real one."""
    draw = random.Random(number)
    text = " ".join(draw.choices(WORDS, k=1_200))
    url = f"https://www.site{number % 300}.example.org/articles/{number}/some-page.html"
    links = tuple(
        LinkRecord(
            f"https://www.site{draw.randrange(300)}.example.org/articles/{draw.randrange(10**6)}/"
            f"{draw.choice(WORDS)}-{draw.choice(WORDS)}.html",
            draw.random(),
            f"{draw.choice(WORDS)} {draw.choice(WORDS)}",
        )
        for _ in range(LINKS)
    )
    paragraphs = "".join(
        f"<p class='text'>{text[i : i + 400]}</p>\n" for i in range(0, len(text), 400)
    )
    menu = "".join(f"<li><a href='{link.url}'>{link.anchor}</a></li>\n" for link in links)
    return PageRecord(
        job="benchmark",
        key=url_key(url),
        url=url,
        final_url=url,
        fetched_at=time.time(),
        status=200,
        headers={"Content-Type": "text/html; charset=utf-8", "ETag": f'"{number}"', "Server": "x"},
        depth=4,
        referrer=links[0].url,
        anchor=links[0].anchor,
        context=text[:120],
        score=0.5,
        relevance=0.8 if on_topic else 0.1,
        on_topic=on_topic,
        topic="astronomy",
        numbers=(("523.8", 0.6), ("520", 0.2), ("510", 0.1)),
        title=text[:40],
        text=text if on_topic else "",
        language="en",
        html=f"<html><body><ul>{menu}</ul>{paragraphs}</body></html>".encode() if on_topic else b"",
        links=links if on_topic else (),
        explanation={"anchor": 0.4, "page": 0.3},
    )


def real(path: str, count: int) -> list[PageRecord]:
    """Return pages of a WARC file as records."""
    from treasure.evaluation.virtual_web import VirtualWeb
    from treasure.extract import read_page

    web = VirtualWeb.open(path)
    found: list[PageRecord] = []
    for url in web.urls():
        response = web.get(url)
        if response is None or response.status != 200 or len(found) == count:
            continue
        page = read_page(url, response.body)
        links = tuple(LinkRecord(k.url, 0.12345, k.anchor_text) for k in page.links)
        found.append(
            replace(
                record(len(found), on_topic=False),
                on_topic=True,
                key=url_key(url),
                url=url,
                final_url=url,
                title=page.title,
                text=page.main_text,
                html=response.body,
                links=links,
            )
        )
    return found


WORDS = [
    "".join(random.Random(i).choices("abcdefghilmnoprstuvw", k=4 + i % 6)) for i in range(9_000)
]


def row_by_row(path: Path, records: list[PageRecord]) -> None:
    """Write pages as one does first."""
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda c, _: c.execute("PRAGMA journal_mode=WAL"))
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for one in records:
            page = Page(
                key=one.key,
                url=one.url,
                title=one.title,
                relevance=one.relevance,
                headers=json.dumps(one.headers),
                text=one.text,
                html=one.html,
            )
            page.links = [
                Link(key=url_key(link.url), url=link.url, score=link.score, anchor=link.anchor)
                for link in one.links
            ]
            session.add(page)
            session.commit()
    engine.dispose()


def off_topic_bytes(folder: Path) -> float:
    """Return what a page off topic costs: measurements without content."""
    store = Store.open(f"sqlite:///{folder / 'off.db'}")
    before = on_disk(folder / "off.db")
    store.write([record(number, on_topic=False) for number in range(500)])
    store.close()
    return (on_disk(folder / "off.db") - before) / 500


def links_bytes(folder: Path, records: list[PageRecord]) -> float:
    """Return what the links of a page cost us: packed, and their back-links."""
    sizes = []
    for name, keep in (("with", True), ("without", False)):
        store = Store.open(f"sqlite:///{folder / name}.db")
        plain = records if keep else [without_links(one) for one in records]
        for start in range(0, len(plain), BATCH):
            store.write(plain[start : start + BATCH])
        store.close()
        sizes.append(on_disk(folder / f"{name}.db"))
    return (sizes[0] - sizes[1]) / len(records)


def without_links(one: PageRecord) -> PageRecord:
    """Return the page without its links."""
    return replace(one, links=())


def link_rows_bytes(folder: Path, records: list[PageRecord]) -> float:
    """Return what a row a link costs, with an index by target and one by page."""
    engine = create_engine(f"sqlite:///{folder / 'rows.db'}")
    Base.metadata.create_all(engine)
    before = on_disk(folder / "rows.db")
    with engine.begin() as connection:
        connection.execute(
            Link.__table__.insert(),  # type: ignore[attr-defined]
            [
                {
                    "page_id": page,
                    "key": url_key(k.url),
                    "url": k.url,
                    "score": k.score,
                    "anchor": k.anchor,
                }
                for page, one in enumerate(records)
                for k in one.links
            ],
        )
    engine.dispose()
    return (on_disk(folder / "rows.db") - before) / len(records)


def duplicates_us(folder: Path, counts: tuple[int, ...]) -> dict[str, float]:
    """Return the time to look up and store a page among so many others, by their number."""
    found = {}
    draw = np.random.default_rng(5)
    for count in counts:
        store = Store.open(f"sqlite:///{folder / f'duplicates{count}.db'}")
        fill_fingerprints(store, draw, count)
        prints = [drawn_print(draw, count + 1 + number) for number in range(500)]
        jobs = {one.page_id: "benchmark" for one in prints}
        template = page_row(record(0, on_topic=False))
        with store.writing() as connection:
            rows = [template | {"id": one.page_id, "key": one.page_id} for one in prints]
            upsert(connection, pages, rows, ("key", "job"))
        used = time.process_time()
        for start in range(0, len(prints), 50):
            with store.writing() as connection:
                duplicates.group(connection, jobs, prints[start : start + 50])
        found[str(count)] = 1e6 * (time.process_time() - used) / len(prints)
        store.close()
    return found


def fill_fingerprints(store: Store, draw: np.random.Generator, count: int) -> None:
    """Store fingerprints of *count* different pages."""
    template = page_row(record(0, on_topic=False))
    for start in range(1, count + 1, 10_000):
        some = [drawn_print(draw, number) for number in range(start, start + min(10_000, count))]
        with store.writing() as connection:
            rows = [template | {"id": one.page_id, "key": one.page_id} for one in some]
            upsert(connection, pages, rows, ("key", "job"))
            upsert(
                connection,
                fingerprints,
                [
                    {"page_id": p.page_id, "digest": p.digest, "signature": p.signature.tobytes()}
                    for p in some
                ],
                ("page_id",),
            )
            insert_pairs(connection, bands, [(band, p.page_id) for p in some for band in p.bands])


def drawn_print(draw: np.random.Generator, page_id: int) -> duplicates.Print:
    """Return the fingerprint of a page that is like no other."""
    signature = draw.integers(0, 1 << 32, duplicates.PERMUTATIONS, dtype=np.uint32)
    digest = int(draw.integers(-(1 << 62), 1 << 62))
    return duplicates.Print(page_id, digest, signature, duplicates._bands("benchmark", signature))


def on_disk(path: Path) -> int:
    """Return the size of a SQLite database, its log written into it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
