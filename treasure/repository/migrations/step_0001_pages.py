"""Version 1: jobs, pages, their contents and links; states, orders and the journal."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _column(name: str, kind: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, **options)


def upgrade(op: Operations) -> None:
    """Make the tables of version 1."""
    _jobs(op)
    _pages(op)
    _contents(op)


def _jobs(op: Operations) -> None:
    op.create_table(
        "jobs",
        sa.Column("job", sa.String(100), primary_key=True),
        _column("topic", sa.Text),
        _column("settings", sa.Text),
        _column("started", sa.Float),
        sa.Column("stopped", sa.Float),
        _column("stop_reason", sa.String(200)),
    )
    op.create_table(
        "states",
        sa.Column("job", sa.String(100), primary_key=True),
        sa.Column("kind", sa.String(100), primary_key=True),
        _column("saved_at", sa.Float),
        _column("payload", sa.LargeBinary),
    )
    op.create_table(
        "statuses",
        sa.Column("job", sa.String(100), primary_key=True),
        sa.Column("worker", sa.String(200), primary_key=True),
        _column("time", sa.Float),
        _column("status", sa.Text),
    )
    op.create_table(
        "orders",
        sa.Column("id", ID, primary_key=True),
        _column("job", sa.String(100)),
        _column("command", sa.String(100)),
        _column("payload", sa.Text),
        _column("author", sa.String(200)),
        _column("time", sa.Float),
        sa.Column("applied_at", sa.Float),
        _column("answer", sa.Text),
    )
    op.create_index("orders_by_job", "orders", ["job", "id"])
    op.create_table(
        "events",
        sa.Column("id", ID, primary_key=True),
        _column("job", sa.String(100)),
        _column("time", sa.Float),
        _column("kind", sa.String(100)),
        _column("text", sa.Text),
        _column("data", sa.Text),
    )
    op.create_index("events_by_job", "events", ["job", "id"])


def _pages(op: Operations) -> None:
    op.create_table(
        "pages",
        sa.Column("id", ID, primary_key=True),
        _column("job", sa.String(100)),
        _column("key", sa.BigInteger),
        _column("url", sa.Text),
        _column("host", sa.String(255)),
        _column("final_url", sa.Text),
        _column("canonical_url", sa.Text),
        _column("fetched_at", sa.Float),
        _column("status", sa.Integer),
        _column("headers", sa.Text),
        _column("failure", sa.Text),
        _column("seconds", sa.Float),
        _column("size", sa.Integer),
        _column("depth", sa.Integer),
        _column("referrer", sa.Text),
        _column("anchor", sa.Text),
        _column("context", sa.Text),
        _column("score", sa.Float),
        _column("ageing", sa.Float),
        _column("explored", sa.Boolean),
        _column("passed_over", sa.Integer),
        _column("relevance", sa.Float),
        _column("on_topic", sa.Boolean),
        _column("unsure", sa.Boolean),
        _column("topic", sa.Text),
        _column("reason", sa.Text),
        _column("numbers", sa.Text),
        _column("graph_node", sa.Text),
        _column("title", sa.Text),
        _column("language", sa.String(20)),
        _column("explanation", sa.Text),
    )
    op.create_index("pages_by_address", "pages", ["key", "job"], unique=True)
    op.create_index("pages_by_time", "pages", ["job", "fetched_at"])


def _contents(op: Operations) -> None:
    op.create_table(
        "bodies",
        sa.Column("id", ID, primary_key=True),
        _column("digest", sa.LargeBinary(16)),
        _column("html", sa.LargeBinary),
    )
    op.create_index("bodies_by_digest", "bodies", ["digest"], unique=True)
    op.create_table(
        "contents",
        sa.Column("page_id", ID, sa.ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("body_id", ID, sa.ForeignKey("bodies.id")),
        _column("links", sa.LargeBinary),
        _column("title", sa.Text),
        _column("text", sa.Text),
    )
    op.create_index("contents_by_body", "contents", ["body_id"])
    op.create_table(
        "backlinks",
        sa.Column("target", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("page_id", ID, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
