"""What SQLite and PostgreSQL are told in different words."""

from __future__ import annotations

from sqlalchemy import select, text

from treasure.repository.database import PAIRS_AT_ONCE, delete_pairs, insert_pairs, upsert
from treasure.repository.models import backlinks, jobs, states
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


def test_many_pairs_come_in_several_statements(store: Store) -> None:
    pairs = [(number, number % 7) for number in range(2 * PAIRS_AT_ONCE + 1)]
    with store.writing() as connection:
        insert_pairs(connection, backlinks, pairs)
    with store.reading() as connection:
        assert sorted(map(tuple, connection.execute(select(backlinks)))) == pairs


def test_rows_replace_what_their_key_had(store: Store) -> None:
    first = [
        {"job": f"job {n}", "topic": "%s ? :x", "settings": {"n": n}, "started": n, "stopped": None}
        | {"stop_reason": "%(job)s"}
        for n in range(3)
    ]
    again = [first[1] | {"topic": "other", "settings": ["a\ud800"], "started": 7.5, "stopped": 8}]
    state = {"job": "a", "kind": "b", "saved_at": 1, "payload": b"\0"}
    with store.writing() as connection:
        upsert(connection, jobs, first, ("job",))
        upsert(connection, jobs, again, ("job",), keep=("started",))
        upsert(connection, jobs, [], ("job",))
        upsert(connection, states, [state], ("job", "kind"))
    with store.reading() as connection:
        found = connection.execute(select(jobs).order_by(jobs.c.job)).mappings().all()
        kept = connection.execute(select(states)).mappings().all()
    assert [dict(row) for row in found] == [first[0], again[0] | {"started": 1.0}, first[2]]
    assert [dict(row) for row in kept] == [state]


def test_postgresql_packs_with_lz4_where_it_can(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    with store.reading() as connection:
        ways = "SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression'"
        known = connection.execute(text(ways)).scalar() or []
        used = connection.execute(text("SHOW default_toast_compression")).scalar()
    assert used == ("lz4" if "lz4" in known else "pglz")
    store.close()
