from __future__ import annotations

import pytest

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.shark_search import SharkSearch
from treasure.topics import Topic

# One word of topic text and no background: sim(q, text) = 1 / sqrt(distinct words of the text),
# as long as each occurs once.
OWLS = Topic(name="owls")


def shark(**options: float) -> SharkSearch:
    return SharkSearch(brief(OWLS), **options)


def test_anchor_on_topic() -> None:
    # p: owls, hunt, night, barn: sim(q, p) = 1/2, inherited = 0.5 x 1/2 = 1/4.
    # anchor "barn owls": 1/sqrt(2); context 1; neighbourhood = 0.8/sqrt(2) + 0.2.
    read = page("Owls", "hunt night [A|barn owls]")
    neighbourhood = 0.8 / 2**0.5 + 0.2
    expected = 0.8 * 0.25 + 0.2 * neighbourhood
    assert shark().score(arrival(read), read.links) == [pytest.approx(expected)]


def test_context_where_the_anchor_says_nothing() -> None:
    # The same words, the anchor being "night": anchor 0, context sim = 1/2.
    read = page("Owls", "barn owls hunt [A|night]")
    expected = 0.8 * 0.25 + 0.2 * (0.2 * 0.5)
    assert shark().score(arrival(read), read.links) == [pytest.approx(expected)]


def test_descendants_of_a_relevant_page_inherit_less_and_less() -> None:
    strategy = shark()
    owls = page("Owls", "owls [A|hill]")  # sim = 1/sqrt(2), inherited 0.5/sqrt(2)
    child, grandchild = page("A", "river [B|tower]"), page("B", "bridge [C|town]")
    strategy.score(arrival(owls), owls.links)
    inherited = 0.5 / 2**0.5
    for read in (child, grandchild):
        inherited *= 0.5
        strategy.learn(arrival(read))
        assert strategy.score(arrival(read), read.links) == [pytest.approx(0.8 * inherited)]


def test_options_are_the_papers_constants() -> None:
    read = page("Owls", "owls hunt night [A|barn]")
    only_inherited = shark(gamma=1.0, delta=1.0)
    assert only_inherited.score(arrival(read), read.links) == [pytest.approx(0.5)]
