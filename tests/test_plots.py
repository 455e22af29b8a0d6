from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure import plots

POINTS = st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30)


@given(st.lists(st.tuples(st.text(max_size=5), POINTS), max_size=3))
def test_lines_are_well_formed_and_inside(
    series: list[tuple[str, list[tuple[float, float]]]],
) -> None:
    drawing = plots.lines(series, x="pages", y="on <topic>")
    safe = drawing.encode("utf-8", "replace").decode()
    root = ElementTree.fromstring("".join(c for c in safe if c >= " " and c not in "\ufffe\uffff"))
    for line in root.iter("polyline"):
        for pair in line.get("points", "").split():
            x, y = map(float, pair.split(","))
            assert plots.LEFT - 0.1 <= x <= plots.WIDTH
            assert 0 <= y <= plots.HEIGHT


@pytest.mark.parametrize("most", [0.001, 0.7, 1, 3, 9.99, 10, 499, 1e6])
def test_ticks_are_few_and_round(most: float) -> None:
    ticks = plots._ticks(most)
    assert ticks[0] == 0
    assert 2 <= len(ticks) <= 7
    assert ticks[-1] <= most


def test_bars() -> None:
    root = ElementTree.fromstring(plots.bars([("a<b", 3), ("c", 0)], y="pages"))
    assert len(list(root.iter("rect"))) == 2
