from __future__ import annotations

import pytest

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.nutch import Nutch
from treasure.topics import Topic


def test_links_inherit_the_cosine_to_the_gold_standard() -> None:
    # Gold: the topic's text holds its name three times, the example "owls barn" once:
    # owls 4, barn 1. Page: owls 2, barn 1, hill 2. cos = (8 + 1) / (sqrt(17) x 3).
    given = brief(Topic(name="owls"), examples=[page("Example", "owls barn")])
    read = page("Page", "owls owls barn [A|hill] hill", "[B|the]")
    expected = 9 / (17**0.5 * 3)
    assert Nutch(given).score(arrival(read), read.links) == [pytest.approx(expected)] * 2


def test_nothing_in_common_is_worth_nothing() -> None:
    read = page("Page", "hill [A|tower]")
    assert Nutch(brief(Topic(name="owls"))).score(arrival(read, 1.0), read.links) == [0.0]
