"""What SQLite and PostgreSQL are told in different words."""

from __future__ import annotations

from sqlalchemy import select, text

from treasure.repository.database import delete_pairs, insert_pairs
from treasure.repository.models import backlinks
from treasure.repository.store import Store


def test_pairs_come_and_go(store: Store) -> None:
    pairs = [(-(2**63), 1), (-1, 7), (0, 7), (2**63 - 1, 2**40)]
    with store.writing() as connection:
        insert_pairs(connection, backlinks, pairs)
        insert_pairs(connection, backlinks, [])
    with store.writing() as connection:
        delete_pairs(connection, backlinks, [pairs[1], (0, 8)])
        delete_pairs(connection, backlinks, [])
    with store.reading() as connection:
        assert sorted(map(tuple, connection.execute(select(backlinks)))) == [
            pairs[0],
            *pairs[2:],
        ]


def test_postgresql_packs_with_lz4_where_it_can(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    with store.reading() as connection:
        ways = "SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression'"
        known = connection.execute(text(ways)).scalar() or []
        used = connection.execute(text("SHOW default_toast_compression")).scalar()
    assert used == ("lz4" if "lz4" in known else "pglz")
    store.close()
