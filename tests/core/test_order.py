"""The best of the queue, and what has moved: compiled, uncompiled, and told plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

INSTALLED, UNCOMPILED = both("order")
BOTH = pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
SCORES = st.sampled_from([-1.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9])


@BOTH
@given(st.lists(st.tuples(SCORES, SCORES)), st.integers(1, 12))
def test_the_best_are_those_of_a_sorted_queue(module, links, count):
    score, sent = np.array(links).reshape(len(links), 2).T.copy()
    higher = np.maximum(score, sent)
    asked = np.arange(0, len(links), 2)
    ranked = sorted(asked.tolist(), key=lambda row: -higher[row])
    rows, values = module.best(asked, score, sent, count)
    assert values.tolist() == higher[rows].tolist()
    assert sorted(values.tolist(), reverse=True) == higher[ranked[:count]].tolist()
    certain = [row for row in ranked[:count] if higher[row] > min(values)]
    assert set(certain) <= set(rows.tolist())
    assert len(set(rows.tolist())) == len(rows)


@BOTH
@given(st.lists(st.sampled_from([0.0, 0.2, 0.209, 0.21, 0.22, 0.8]), min_size=8, max_size=8))
def test_scores_settle(module, values):
    score, sent = np.array(values).reshape(2, 4).copy()
    rows = np.array([3, 0, 2])
    moved = np.abs(score - sent) > 0.05 * np.maximum(score, sent)
    expected = sent.copy()
    expected[rows[moved[rows]]] = score[rows[moved[rows]]]
    assert module.settle(rows, score, sent, 0.05) == rows[moved[rows]].tolist()
    assert sent.tolist() == expected.tolist()
