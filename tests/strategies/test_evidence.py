"""Evidence: rows for queued URLs, bounded, and gone when fetched."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.strategies.evidence import ANCHOR_TERMS, FEATURES, RAISED, REUSED, Evidence
from treasure.strategies.link_features import PRIOR
from treasure.text import NEW, VOCABULARY


def _row(evidence: Evidence, key: int) -> int:
    (row,), _ = evidence.rows([key])
    return row


def test_rows_are_found_by_key_and_forgotten() -> None:
    evidence = Evidence()
    row = _row(evidence, 42)
    evidence.column["in_links"][row] = 3
    assert evidence.row(42) == row
    assert evidence.live().tolist() == [row]
    evidence.drop(42)
    assert evidence.row(42) is None
    assert evidence.live().size == 0


def test_rows_are_used_again_as_good_as_new() -> None:
    evidence = Evidence()
    rows, new = evidence.rows(range(REUSED))
    assert new == list(range(REUSED))
    evidence.column["in_links"][rows] = 3
    evidence.column["host"][rows] = 3
    for key in range(REUSED):
        evidence.drop(key)
    again = _row(evidence, 1000)
    assert again in rows
    assert evidence.column["in_links"][again] == 0
    assert evidence.column["host"][again] == -1
    assert evidence.live().tolist() == [again]


def test_the_worst_go_when_there_is_no_room() -> None:
    evidence = Evidence(limit=100)
    for key in range(100):
        evidence.column["score"][_row(evidence, key)] = key / 100
    _row(evidence, 1000)
    assert len(evidence) == 100
    assert evidence.row(0) is None
    assert evidence.row(99) is not None


def test_what_is_asked_for_stays_when_others_must_go() -> None:
    evidence = Evidence(limit=100)
    for key in range(100):
        evidence.column["score"][_row(evidence, key)] = key / 100
    listed, new = evidence.rows([0, 1000, 1, 1001])
    assert new == [1, 3]
    assert listed == [evidence.row(key) for key in (0, 1000, 1, 1001)]
    assert evidence.row(2) is None


def test_terms_are_added_once_while_there_is_room() -> None:
    evidence = Evidence()
    row = _row(evidence, 1)
    evidence.add_terms("anchor_terms", [row], [[5, -1, 5, 7]])
    evidence.add_terms("anchor_terms", [row], [list(range(100))])
    terms = evidence.column["anchor_terms"][row].tolist()
    assert terms[:3] == [5, 7, 0]
    assert len(set(terms)) == ANCHOR_TERMS


def test_state_keeps_rows_and_words() -> None:
    first = Evidence()
    for key in (7, 8, 9):
        row = _row(first, key)
        first.add_terms("url_terms", [row], [[VOCABULARY[f"word{key}"]]])
        first.column["pages"][row, 0] = key
    first.drop(8)
    second = Evidence()
    _row(second, 1)
    second.restore(first.state())
    assert second.row(1) is None
    assert second.row(8) is None
    for key in (7, 9):
        row = second.row(key)
        assert row == first.row(key)
        assert second.column["url_terms"][row].tolist() == first.column["url_terms"][row].tolist()
        assert second.column["pages"][row, 0] == key
    assert _row(second, 10) == _row(first, 10)


def test_what_the_best_witness_says_counts() -> None:
    evidence = Evidence()
    rows, _ = evidence.rows([1, 2])
    values = np.zeros((3, len(RAISED)), np.float32)
    values[:, RAISED.index("heading")] = [0.5, 0.9, -0.5]
    kinds = np.array([[7, 1, 4], [8, 1, 5], [9, 1, 6]], np.int32)
    boilerplate = np.array([0, 1, 1], np.uint8)
    heard = evidence.hear(np.array([rows[0], rows[0], rows[1]]), kinds, boilerplate, values, 2.0)
    assert heard.tolist() == rows
    evidence.hear(heard, kinds[1:], boilerplate[1:], values[1:] - 1.0, 3.0)
    column = evidence.column
    assert column["heading"][rows].tolist() == pytest.approx([0.9, -0.5])
    assert column["distance"][rows].tolist() == [2.0, 2.0]
    assert column["in_links"][rows].tolist() == [2.0, 2.0]  # a page is one witness
    assert column["boilerplate"][rows].tolist() == [1.0, 2.0]
    assert column["paths"][rows, :3].tolist() == [[8, 8, -1], [9, 9, -1]]
    assert column["pages"][rows, :3].tolist() == [[1, 1, -1], [1, 1, -1]]
    assert column["lists"][rows, :3].tolist() == [[5, 5, -1], [6, 6, -1]]
    assert column["folder"][rows].tolist() == [-1, -1]


def test_a_row_has_room_for_all_features() -> None:
    assert len(PRIOR) == FEATURES


def test_words_that_nobody_knows_stay_unknown() -> None:
    first, second = Evidence(), Evidence()
    first.add_terms("url_terms", [_row(first, 7)], [[NEW]])
    second.restore(first.state())
    assert second.column["url_terms"][_row(second, 7)].tolist()[:2] == [NEW, -1]
