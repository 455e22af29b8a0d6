"""Jobs, states, orders and the journal."""

from __future__ import annotations

import time

from treasure.repository.jobs import latest, running
from treasure.repository.store import Store


def test_states_come_back_and_the_last_counts(store: Store) -> None:
    assert store.load_state("a", "judge") is None
    store.save_state("a", "judge", b"one\x00")
    store.save_state("a", "judge", b"two\xff")
    store.save_state("b", "judge", b"")
    assert store.load_state("a", "judge") == b"two\xff"
    assert store.load_state("b", "judge") == b""
    assert store.load_state("a", "strategy") is None


def test_a_job_that_goes_on_keeps_its_start(store: Store) -> None:
    store.start_job("a", "astronomy", {"x": 1})
    started = store.jobs()[0]["started"]
    store.stop_job("a", "finished")
    assert store.jobs()[0]["stop_reason"] == "finished"
    assert store.jobs()[0]["stopped"] >= started
    store.start_job("a", "astronomy", {"x": 2})
    (job,) = store.jobs()
    assert job["started"] == started
    assert job["stopped"] is None
    assert job["settings"] == {"x": 2}


def test_orders_wait_until_they_are_carried_out(store: Store) -> None:
    first = store.order("a", "block", {"host": "x.example"}, "cli")
    second = store.order("a", "pause", {}, "ui")
    store.order("b", "stop", {})
    assert [order.command for order in store.orders_since("a")] == ["block", "pause"]
    assert [order.command for order in store.orders_since("a", first)] == ["pause"]
    store.applied(first, "blocked")
    store.applied(first, "nothing left to block")  # another worker of the same fleet
    assert [order.id for order in store.orders("a") if order.applied_at is None] == [second]
    done = store.orders("a")[-1]
    assert (done.command, done.payload, done.author) == ("block", {"host": "x.example"}, "cli")
    assert done.answer == "blocked"
    assert done.applied_at is not None


def test_statuses_of_several_workers(store: Store) -> None:
    store.save_status("a", "w1", {"pages": 1})
    store.save_status("a", "w1", {"pages": 2})
    store.save_status("a", "w2", {"pages": 5})
    found = store.statuses("a")
    assert {worker: status for worker, (_, status) in found.items()} == {
        "w1": {"pages": 2},
        "w2": {"pages": 5},
    }
    then, status = latest(found)
    assert then == max(time for time, _ in found.values())
    assert status == {"pages": 5}
    assert latest({}) == (0.0, {})


def test_the_journal_is_read_from_where_one_left(store: Store) -> None:
    for i in range(5):
        store.log("a", "note", f"line {i}", {"i": i})
    store.log("b", "note", "else")
    first = store.events("a", limit=2)
    rest = store.events("a", since=first[-1].id)
    assert [event.text for event in first + rest] == [f"line {i}" for i in range(5)]
    assert rest[0].data == {"i": 2}


def test_tgraphs_have_versions(store: Store) -> None:
    assert store.load_tgraph("g") is None
    assert store.save_tgraph("g", "astronomy", b"one") == 1
    assert store.save_tgraph("g", "astronomy", b"two", [{"step": 1}]) == 2
    latest, first = store.load_tgraph("g"), store.load_tgraph("g", 1)
    assert latest is not None
    assert first is not None
    assert (latest.payload, latest.version, latest.journal) == (b"two", 2, [{"step": 1}])
    assert first.payload == b"one"
    assert store.load_tgraph("g", 7) is None
    assert [row[:2] for row in store.tgraphs()] == [("g", 2), ("g", 1)]


def test_a_process_that_was_killed_does_not_run_once_its_job_ended() -> None:
    now = time.time()
    statuses = {
        "killed": (now - 10, {"pages": 1}),
        "ended": (now - 1, {"pages": 2, "stopped": "finished"}),
        "of the fleet": (now - 0.5, {"pages": 3}),
    }
    assert set(running(statuses)) == {"killed", "of the fleet"}
    assert set(running(statuses, ended=now - 1)) == {"of the fleet"}
