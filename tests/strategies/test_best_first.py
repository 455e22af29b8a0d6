from __future__ import annotations

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.best_first import BestFirst


def test_links_score_as_their_best_pages() -> None:
    strategy = BestFirst(brief())
    good, bad = page("Good", "[A|one] [B|two]"), page("Bad", "[B|two] [C|three]")
    assert strategy.score(arrival(good, 0.8), good.links) == [0.8, 0.8]
    assert strategy.score(arrival(bad, 0.2), bad.links) == [0.8, 0.2]
