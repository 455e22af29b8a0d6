"""Repair: checks the database, mends what can be mended, and gives back unused space."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from treasure.errors import RepositoryUnavailable
from treasure.repository.store import Store

VACUUM_SHARE = 0.1
"""Unused share of a SQLite file above which it is written anew."""


@dataclass
class Repairs:
    """What was found and done."""

    problems: list[str] = field(default_factory=list)
    index_rebuilt: bool = False
    bodies_removed: int = 0
    backlinks_removed: int = 0
    bytes_freed: int = 0


def repair(store: Store) -> Repairs:
    """Check and mend *store*."""
    done = Repairs()
    if not store.is_postgresql:
        _check_file(store, done)
        _check_index(store, done)
    _remove_orphans(store, done)
    if store.is_postgresql:
        _vacuum_postgresql(store)
    else:
        _vacuum_sqlite(store, done)
    return done


def _check_file(store: Store, done: Repairs) -> None:
    with store.reading() as connection:
        answers = connection.execute(text("PRAGMA quick_check(10)")).scalars().all()
    done.problems += [answer for answer in answers if answer != "ok"]


def _check_index(store: Store, done: Repairs) -> None:
    """Compare the text index with the pages; make it anew when they differ."""
    try:
        with store.writing() as connection:
            _tell_index(connection, "integrity-check")
            wrong = connection.execute(
                text(
                    "SELECT (SELECT count(*) FROM searched) - (SELECT count(*) FROM search_docsize)"
                )
            ).scalar_one()
    except RepositoryUnavailable as error:
        if "malformed" not in str(error):
            raise
        wrong = "its own check failed"
    if not wrong:
        return
    done.problems.append(f"the search index does not fit the pages ({wrong}); made anew")
    with store.writing() as connection:
        _tell_index(connection, "rebuild")
    done.index_rebuilt = True


def _tell_index(connection: Connection, command: str) -> None:
    connection.execute(text("INSERT INTO search(search) VALUES (:command)"), {"command": command})


def _remove_orphans(store: Store, done: Repairs) -> None:
    with store.writing() as connection:
        done.bodies_removed = connection.execute(
            text(
                "DELETE FROM bodies WHERE NOT EXISTS"
                " (SELECT 1 FROM contents WHERE contents.body_id = bodies.id) AND NOT EXISTS"
                " (SELECT 1 FROM versions WHERE versions.body_id = bodies.id)"
            )
        ).rowcount
        done.backlinks_removed = connection.execute(
            text(
                "DELETE FROM backlinks WHERE NOT EXISTS"
                " (SELECT 1 FROM contents WHERE contents.page_id = backlinks.page_id)"
            )
        ).rowcount
        connection.execute(
            text(
                "DELETE FROM bands WHERE NOT EXISTS"
                " (SELECT 1 FROM fingerprints WHERE fingerprints.page_id = bands.page_id)"
            )
        )


def _vacuum_sqlite(store: Store, done: Repairs) -> None:
    with store.writing() as connection:
        _tell_index(connection, "optimize")
    with store.reading() as connection:
        unused = connection.execute(text("PRAGMA freelist_count")).scalar_one()
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        size = connection.execute(text("PRAGMA page_size")).scalar_one()
    statements = ["PRAGMA optimize", "PRAGMA wal_checkpoint(TRUNCATE)"]
    if unused > VACUUM_SHARE * pages:
        statements = ["VACUUM", *statements]
        done.bytes_freed = unused * size
    _outside_transactions(store, statements)


def _vacuum_postgresql(store: Store) -> None:
    _outside_transactions(store, ["VACUUM ANALYZE"])


def _outside_transactions(store: Store, statements: list[str]) -> None:
    with store.reading() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        connection.rollback()
        if store.is_postgresql:
            raw.autocommit = True
        try:
            for statement in statements:
                raw.execute(statement)
        finally:
            if store.is_postgresql:
                raw.autocommit = False
