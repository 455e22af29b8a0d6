"""The tables of the repository.

    jobs --- pages --- contents --- bodies     title, text, links; HTML as it came, once
       |        +----- backlinks               who links there, by the key of the address
       |        +----- unfinished              stored, but not yet read closely (finishing.py)
       |        +----- fingerprints, bands     what makes near duplicates meet
       |        +----- duplicates              of which page it is a duplicate
       |        +----- revisits, visits        when to look again; what the looks found
       |        +----- versions                what stood there before
       +---- states, statuses, orders, events; tgraphs

A page is one fetch of one address by one job, on topic or not. What is small and wanted of every
page is in ``pages``; what is large is in ``contents`` and ``bodies``. The links of a page are one
packed value, since they are read and written together (docs/repository.md has the cost of a row
each). ``backlinks`` answers the one question that goes across pages; like ``bands`` it has no index
by page, since what a page put there can be told from its links (its signature).

These tables say what the code expects; ``migrations`` is what makes them, and a test compares.
The full-text index is made there too: SQLite and PostgreSQL have nothing in common in it.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    false,
)

metadata = MetaData()

Id = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only where the type is spelt INTEGER."""


class Json(TypeDecorator[Any]):
    """JSON as text: the same bytes in every database, and NUL or half a character do no harm."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Return the text of *value*."""
        if value is None:
            return None
        try:
            return msgspec.json.encode(value).decode()
        except UnicodeEncodeError:
            return json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Return the value behind the text."""
        return None if value is None else json.loads(value)


jobs = Table(
    "jobs",
    metadata,
    Column("job", String(100), primary_key=True),
    Column("topic", Text, nullable=False, default=""),
    Column("settings", Json, nullable=False, default=dict),
    Column("started", Float, nullable=False),
    Column("stopped", Float),
    Column("stop_reason", String(200), nullable=False, default=""),
)

pages = Table(
    "pages",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job", String(100), nullable=False),
    Column("key", BigInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("host", String(255), nullable=False),
    Column("final_url", Text, nullable=False),
    Column("canonical_url", Text, nullable=False),
    Column("fetched_at", Float, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", Json, nullable=False),
    Column("failure", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("size", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("referrer", Text, nullable=False),
    Column("anchor", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("ageing", Float, nullable=False),
    Column("explored", Boolean, nullable=False),
    Column("passed_over", Integer, nullable=False),
    Column("relevance", Float, nullable=False),
    Column("on_topic", Boolean, nullable=False),
    Column("unsure", Boolean, nullable=False),
    Column("topic", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("numbers", Json, nullable=False),
    Column("graph_node", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("language", String(20), nullable=False),
    Column("explanation", Json, nullable=False),
    Index("pages_by_address", "key", "job", unique=True),
    Index("pages_by_time", "job", "fetched_at"),
)

bodies = Table(
    "bodies",
    metadata,
    Column("id", Id, primary_key=True),
    Column("digest", LargeBinary(16), nullable=False),
    Column("html", LargeBinary, nullable=False),
    Index("bodies_by_digest", "digest", unique=True),
)

contents = Table(
    "contents",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("body_id", ForeignKey("bodies.id")),
    Column("links", LargeBinary, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Words that stand for site, topic, numbers and so on: filters are part of the text index.
    Column("tags", Text, nullable=False, server_default=""),
    # The one switch of the search index; triggers follow it.
    Column("searchable", Boolean, nullable=False, server_default=false()),
    Index("contents_by_body", "body_id"),
)

backlinks = Table(
    "backlinks",
    metadata,
    Column("target", BigInteger, primary_key=True, autoincrement=False),
    Column("page_id", Id, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

unfinished = Table(
    "unfinished",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
)

fingerprints = Table(
    "fingerprints",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", BigInteger, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Index("fingerprints_by_digest", "digest"),
)

bands = Table(
    "bands",
    metadata,
    Column("band", BigInteger, primary_key=True, autoincrement=False),
    Column("page_id", Id, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

duplicates = Table(
    "duplicates",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("kept_id", ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("similarity", Float, nullable=False),
    Index("duplicates_by_kept", "kept_id"),
)

revisits = Table(
    "revisits",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("due", Float, nullable=False),
    Column("interval", Float, nullable=False),
    Column("checked_at", Float, nullable=False),
    Column("checks", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("misses", Integer, nullable=False),
    Column("gone_at", Float),
    Index("revisits_by_due", "due"),
)

visits = Table(
    "visits",
    metadata,
    Column("id", Id, primary_key=True),
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("time", Float, nullable=False),
    Column("status", Integer, nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("detail", Text, nullable=False),
    Index("visits_by_page", "page_id"),
)

versions = Table(
    "versions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("fetched_at", Float, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", Json, nullable=False),
    Column("title", Text, nullable=False),
    Column("relevance", Float, nullable=False),
    Column("on_topic", Boolean, nullable=False),
    Column("numbers", Json, nullable=False),
    Column("body_id", ForeignKey("bodies.id")),
    Index("versions_by_page", "page_id"),
    Index("versions_by_body", "body_id"),
)

tgraphs = Table(
    "tgraphs",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("topic", Text, nullable=False),
    Column("saved_at", Float, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("journal", Json, nullable=False),
)

states = Table(
    "states",
    metadata,
    Column("job", String(100), primary_key=True),
    Column("kind", String(100), primary_key=True),
    Column("saved_at", Float, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

statuses = Table(
    "statuses",
    metadata,
    Column("job", String(100), primary_key=True),
    Column("worker", String(200), primary_key=True),
    Column("time", Float, nullable=False),
    Column("status", Json, nullable=False),
)

orders = Table(
    "orders",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job", String(100), nullable=False),
    Column("command", String(100), nullable=False),
    Column("payload", Json, nullable=False),
    Column("author", String(200), nullable=False),
    Column("time", Float, nullable=False),
    Column("applied_at", Float),
    Column("answer", Text, nullable=False, default=""),
    Index("orders_by_job", "job", "id"),
)

events = Table(
    "events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job", String(100), nullable=False),
    Column("time", Float, nullable=False),
    Column("kind", String(100), nullable=False),
    Column("text", Text, nullable=False),
    Column("data", Json, nullable=False),
    Index("events_by_job", "job", "id"),
)
