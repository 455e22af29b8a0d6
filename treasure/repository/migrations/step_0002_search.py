"""Version 2: full-text search, duplicates, revisits, versions, T-Graphs.

Pages that version 1 stored are queued to be finished, which brings them into all of these.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")

# The index keeps no copy of the text: it reads the view. To forget a row it must be told what the
# row said, so every change of a searchable row passes through a trigger.
# One trigger forgets and learns: SQLite does not promise the order of two.
_FORGET = """INSERT INTO search(search, rowid, title, text, tags)
    SELECT 'delete', old.page_id, old.title, old.text, old.tags WHERE old.searchable;"""
_LEARN = """INSERT INTO search(rowid, title, text, tags)
    SELECT new.page_id, new.title, new.text, new.tags WHERE new.searchable;"""
SQLITE_SEARCH = (
    "CREATE VIEW searched AS SELECT page_id, title, text, tags FROM contents WHERE searchable",
    """CREATE VIRTUAL TABLE search USING fts5(
    title, text, tags, content='searched', content_rowid='page_id',
    tokenize="porter unicode61 remove_diacritics 2")""",
    f"CREATE TRIGGER search_insert AFTER INSERT ON contents WHEN new.searchable BEGIN {_LEARN} END",
    "CREATE TRIGGER search_change AFTER UPDATE OF title, text, tags, searchable ON contents"
    f" WHEN old.searchable OR new.searchable BEGIN {_FORGET} {_LEARN} END",
    "CREATE TRIGGER search_delete AFTER DELETE ON contents"
    f" WHEN old.searchable BEGIN {_FORGET} END",
)

# A tsvector holds at most one megabyte; 200,000 characters stay below in any script. Titles have a
# column of their own: to look for a word of a certain weight, PostgreSQL reads every document.
POSTGRESQL_SEARCH = (
    """ALTER TABLE contents ADD COLUMN document tsvector GENERATED ALWAYS AS (
    CASE WHEN searchable THEN
        setweight(to_tsvector('english'::regconfig, title), 'A')
        || setweight(to_tsvector('english'::regconfig, left(text, 200000)), 'B')
        || setweight(to_tsvector('simple'::regconfig, tags), 'D')
    END) STORED""",
    """ALTER TABLE contents ADD COLUMN title_document tsvector GENERATED ALWAYS AS (
    CASE WHEN searchable THEN to_tsvector('english'::regconfig, title) END) STORED""",
    "CREATE INDEX contents_by_word ON contents USING gin(document)",
    "CREATE INDEX contents_by_title ON contents USING gin(title_document)",
)


def upgrade(op: Operations) -> None:
    """Make the tables of version 2."""
    op.add_column("contents", _column("tags", sa.Text, server_default=""))
    op.add_column("contents", _column("searchable", sa.Boolean, server_default=sa.false()))
    op.create_table("unfinished", _page())
    _duplicates(op)
    _freshness(op)
    op.create_table(
        "tgraphs",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        _column("topic", sa.Text),
        _column("saved_at", sa.Float),
        _column("payload", sa.LargeBinary),
        _column("journal", sa.Text),
    )
    _search(op)
    op.execute(
        "INSERT INTO unfinished (page_id)"
        " SELECT contents.page_id FROM contents JOIN pages ON pages.id = contents.page_id"
        " WHERE pages.on_topic"
    )


def _column(name: str, kind: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, **options)


def _page(name: str = "page_id", *, primary_key: bool = True) -> sa.Column[Any]:
    key = sa.ForeignKey("pages.id", ondelete="CASCADE")
    return sa.Column(name, ID, key, primary_key=primary_key, nullable=False)


def _duplicates(op: Operations) -> None:
    op.create_table(
        "fingerprints",
        _page(),
        _column("digest", sa.BigInteger),
        _column("signature", sa.LargeBinary),
    )
    op.create_index("fingerprints_by_digest", "fingerprints", ["digest"])
    op.create_table(
        "bands",
        sa.Column("band", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("page_id", ID, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "duplicates",
        _page(),
        _page("kept_id", primary_key=False),
        _column("kind", sa.String(10)),
        _column("similarity", sa.Float),
    )
    op.create_index("duplicates_by_kept", "duplicates", ["kept_id"])


def _freshness(op: Operations) -> None:
    op.create_table(
        "revisits",
        _page(),
        _column("due", sa.Float),
        _column("interval", sa.Float),
        _column("checked_at", sa.Float),
        _column("checks", sa.Integer),
        _column("changes", sa.Integer),
        _column("misses", sa.Integer),
        sa.Column("gone_at", sa.Float),
    )
    op.create_index("revisits_by_due", "revisits", ["due"])
    op.create_table(
        "visits",
        sa.Column("id", ID, primary_key=True),
        _page(primary_key=False),
        _column("time", sa.Float),
        _column("status", sa.Integer),
        _column("outcome", sa.String(20)),
        _column("detail", sa.Text),
    )
    op.create_index("visits_by_page", "visits", ["page_id"])
    op.create_table(
        "versions",
        sa.Column("id", ID, primary_key=True),
        _page(primary_key=False),
        _column("fetched_at", sa.Float),
        _column("status", sa.Integer),
        _column("headers", sa.Text),
        _column("title", sa.Text),
        _column("relevance", sa.Float),
        _column("on_topic", sa.Boolean),
        _column("numbers", sa.Text),
        sa.Column("body_id", ID, sa.ForeignKey("bodies.id")),
    )
    op.create_index("versions_by_page", "versions", ["page_id"])
    op.create_index("versions_by_body", "versions", ["body_id"])


def _search(op: Operations) -> None:
    connection = op.get_bind()
    postgresql = connection.dialect.name == "postgresql"
    for statement in POSTGRESQL_SEARCH if postgresql else SQLITE_SEARCH:
        connection.exec_driver_sql(statement)
