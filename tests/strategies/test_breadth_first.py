from __future__ import annotations

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.breadth_first import BreadthFirst


def test_all_links_are_alike_however_good_their_pages() -> None:
    strategy = BreadthFirst(brief())
    good = page("Birds", "[A|birds] and [B|nests]")
    assert strategy.score(arrival(good, 0.9), good.links) == [0.5, 0.5]
    assert strategy.score(arrival(good, 0.0, depth=7), good.links) == [0.5, 0.5]
