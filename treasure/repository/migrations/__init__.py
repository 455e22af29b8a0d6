"""Migrations: from whatever version a database has to the one the code expects.

Steps are plain modules, found by name and not by path, so that they work from a zipped egg; each
has ``upgrade(op)`` with Alembic's operations. Their numbers are Alembic's revisions, and the table
``alembic_version`` is Alembic's own, so that its tools can read a repository.

A step is never changed once it is released: write the next one.
"""

from __future__ import annotations

import logging
from importlib import import_module

from sqlalchemy import Connection, inspect, text

from treasure.errors import ConfigError

logger = logging.getLogger(__name__)

STEPS = {
    "0001": "treasure.repository.migrations.step_0001_pages",
    "0002": "treasure.repository.migrations.step_0002_search",
}
LATEST = max(STEPS)
_LOCK = 7_305_804_402_566_934_629
"""Number of PostgreSQL's advisory lock: two workers that start together migrate once."""


def version(connection: Connection) -> str:
    """Return the database's version; empty for a database without our tables."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""


def migrate(connection: Connection, upto: str = LATEST) -> None:
    """Bring the database to version *upto*, within the connection's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    current = version(connection)
    if current and current not in STEPS:
        raise ConfigError(
            f"The repository has version {current}, this Treasure knows up to {LATEST}:"
            " update Treasure, or choose another TREASURE_REPOSITORY."
        )
    if not current and inspect(connection).has_table("pages"):
        raise ConfigError(
            "The database has a table 'pages' that is not ours: give Treasure a database (or a"
            " PostgreSQL schema) of its own in TREASURE_REPOSITORY."
        )
    missing = [step for step in sorted(STEPS) if current < step <= upto]
    if missing:
        _apply(connection, current, missing)


def _apply(connection: Connection, current: str, missing: list[str]) -> None:
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of its plug-ins
    # Imported here: most starts find the database as it should be.
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    op = Operations(MigrationContext.configure(connection))
    new = not current
    for step in missing:
        if not new:
            logger.info("Migrating the repository from version %s to %s.", current, step)
        import_module(STEPS[step]).upgrade(op)
        current = step
    connection.execute(
        text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    )
    connection.execute(text("DELETE FROM alembic_version"))
    connection.execute(
        text("INSERT INTO alembic_version (version_num) VALUES (:version)"), {"version": current}
    )
