"""The order of the queue: what is looked at again, and what the frontier is told."""

from __future__ import annotations

import numpy as np

from treasure.strategies.evidence import Evidence
from treasure.strategies.queue_order import BEST, HEAD, SLICE, QueueOrder


def queue(count: int) -> tuple[QueueOrder, Evidence]:
    evidence = Evidence(10_000)
    rows, _ = evidence.rows(list(range(1, count + 1)))
    scores = np.linspace(0.9, 0.1, count)
    evidence.column["score"][rows] = evidence.column["sent"][rows] = scores
    return QueueOrder(evidence), evidence


def test_every_link_has_its_turn_and_the_best_have_it_each_time() -> None:
    order, evidence = queue(4_000)
    seen: set[int] = set()
    for _ in range(4_000 // SLICE + 1):
        rows = order.due(4).tolist()
        assert set(range(HEAD)) <= set(rows)
        assert len(rows) <= SLICE + HEAD
        seen.update(rows)
    assert seen == set(evidence.live().tolist())


def test_only_changes_among_the_best_are_told_and_told_once() -> None:
    order, evidence = queue(1_000)
    rows = order.due(4)
    evidence.column["score"][[0, 1, 999]] = [0.2, 0.899, 0.05]
    order.pass_on(rows)
    assert order.changed() == {1: 0.2}
    assert order.changed() == {}


def test_a_link_that_wrongly_was_among_the_best_is_looked_at_again() -> None:
    order, evidence = queue(3_000)
    order.due(4)
    evidence.column["score"][:BEST] = 0.01
    assert set(range(BEST)) <= set(order.due(4).tolist())


def test_a_link_that_is_gone_is_not_looked_at() -> None:
    order, evidence = queue(2_000)
    evidence.drop(1)
    assert 0 not in order.due(4).tolist()


def test_links_that_are_met_again_keep_their_score_until_it_moves() -> None:
    order, evidence = queue(4)
    new, _ = evidence.rows([5])
    rows = np.array([0, 1, *new])
    evidence.column["score"][rows] = [0.88, 0.4, 0.2]
    assert order.settle(rows).tolist() == rows[1:].tolist()
    assert evidence.column["sent"][rows].tolist() == [0.9, 0.4, 0.2]
    assert not order.settle(rows[1:]).size
