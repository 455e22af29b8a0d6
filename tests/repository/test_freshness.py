"""When to look again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from treasure.repository.freshness import (
    History,
    Policy,
    changed,
    due,
    first_due,
    missed,
    promise,
    unchanged,
)

POLICY = Policy()
START = History(checked_at=0.0, interval=1000.0 * 60)


def test_a_change_shortens_and_its_absence_lengthens() -> None:
    assert changed(START, 10.0, POLICY).interval < START.interval
    assert unchanged(START, 10.0, POLICY).interval > START.interval
    assert changed(START, 10.0, POLICY).changes == 1
    assert unchanged(START, 10.0, POLICY).checks == 1


@given(st.lists(st.sampled_from([changed, unchanged]), max_size=80))
def test_intervals_stay_within_bounds(steps: list[object]) -> None:
    history = START
    for now, step in enumerate(steps):
        history = step(history, float(now), POLICY)  # type: ignore[operator]
        assert POLICY.least_seconds <= history.interval <= POLICY.most_seconds
    assert history.checks == len(steps)


def test_relevance_makes_it_sooner() -> None:
    assert due(START, 1.0) < due(START, 0.5) < due(START, 0.0)
    assert first_due(5.0, 0.9) > 5.0
    assert promise(START, 1.0, 50.0) > promise(START, 0.2, 50.0)


def test_promise_grows_with_time_and_with_changes() -> None:
    often = History(0.0, 1000.0, checks=10, changes=9)
    seldom = History(0.0, 1000.0, checks=10, changes=0)
    assert promise(often, 0.5, 500.0) > promise(seldom, 0.5, 500.0)
    assert promise(often, 0.5, 900.0) > promise(often, 0.5, 500.0)
    assert promise(often, 0.5, -5.0) == 0.0


def test_gone_at_once_or_after_some_misses() -> None:
    assert missed(START, 7.0, POLICY, certain=True).gone_at == 7.0
    history = START
    for now in (1.0, 2.0):
        history = missed(history, now, POLICY, certain=False)
        assert history.gone_at is None
    history = missed(history, 3.0, POLICY, certain=False)
    assert history.gone_at == 3.0
    assert missed(history, 4.0, POLICY, certain=True).gone_at == 3.0
    back = changed(history, 5.0, POLICY)
    assert (back.gone_at, back.misses) == (None, 0)
