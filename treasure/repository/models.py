"""The tables of the repository.

    jobs --- pages --- contents        text, HTML and links of a page on topic
       |        +----- backlinks       who links there, by the key of the address
       +---- states, statuses, orders, events

A page is one fetch of one address by one job, on topic or not. What is small and wanted of every
page is in ``pages``; what is large is in ``contents``. The links of a page are one packed value,
since they are read and written together: a row each would cost seven times the space (measured in
docs/repository.md). ``backlinks`` answers the one question that goes across pages.
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

contents = Table(
    "contents",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
    Column("html", LargeBinary, nullable=False),
    Column("links", LargeBinary, nullable=False),
)

backlinks = Table(
    "backlinks",
    metadata,
    Column("target", BigInteger, primary_key=True),
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Index("backlinks_by_page", "page_id"),
    sqlite_with_rowid=False,
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
