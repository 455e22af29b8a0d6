"""What became of links, counted compiled and uncompiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

BOTH = pytest.mark.parametrize("module", both("outcomes"), ids=["installed", "uncompiled"])
WIDTH = 5 + 3 * 8


@BOTH
@given(st.lists(st.integers(-1, 3), min_size=WIDTH, max_size=WIDTH), st.booleans())
def test_an_outcome_counts_once_for_each_kind(module, kinds, alive):
    starts = np.repeat(np.arange(8) * 5, [1] * 5 + [8] * 3)
    counts, exits = np.zeros((40, 4), np.float32), np.zeros((5, 4), np.float32)
    total = np.zeros((3, 4), np.float32)
    rows = np.array([[-1] * WIDTH, kinds], np.int32)
    module.count(1, rows, (counts, starts, exits, None, total), 0.5, alive)
    one = [1.0, 1.0, 0.5, 0.0] if alive else [1.0, 0.0, 0.0, 0.0]
    places = {start + kind for start, kind in zip(starts.tolist(), kinds, strict=True) if kind >= 0}
    for place in range(40):
        assert counts[place].tolist() == (one if place in places else [0.0] * 4)
    leaving = kinds[1] >= 0
    for page in range(5):
        counted = leaving and page in kinds[13:21]
        assert exits[page].tolist() == (one if counted else [0.0] * 4)
    assert total.tolist() == [one, one if leaving else [0.0] * 4, [0.0] * 4]


@BOTH
def test_pages_that_are_known_are_alive(module):
    counts = np.zeros((3, 4), np.float32)
    module.count_known([(1, 0.5), (2, 0.25), (1, 0.25)], counts)
    assert counts.tolist() == [[0, 0, 0, 0], [2, 2, 0.75, 0], [1, 1, 0.25, 0]]
