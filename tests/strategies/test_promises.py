"""What the papers promise of links, and what outcomes make of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treasure.pages import Span
from treasure.strategies.promises import EVERY, EXPECTED, Promises

PAPER = {1: 1.0, 2: 0.5, -1: 0.2}
"""Priority by node: 1 is on level 1, 2 on level 2, -1 is none."""
LIST, OTHER_LIST = Span(0, 100), Span(100, 200)


def make(
    promises: Promises, keys: list[int], node: int = -1, section: str = "a/x", span: Span = LIST
) -> list[float]:
    """Have *keys* wait, all in one paragraph of a page of its own; return their scores."""
    scores = np.full(len(keys), PAPER[node])
    places = [(span, section)] * len(keys)
    topics = ["unknown"] * len(keys)
    return promises.make(keys, scores, scores, [node] * len(keys), topics, places).tolist()


def follow(promises: Promises, keys: list[int], relevance: float) -> None:
    for key in keys:
        promises.kept(key, relevance)


def test_before_any_outcome_scores_are_those_of_the_papers() -> None:
    promises = Promises()
    scores = np.array([0.9995, 0.4998, 0.1998, 0.01])
    priorities = np.array([1.0, 0.5, 0.2, 0.01])
    topics = ["on topic", "unknown", "unknown", "off topic"]
    places = [(LIST, "a/x")] * 4
    made = promises.make([1, 2, 3, 4], scores, priorities, [7, 8, -1, -1], topics, places)
    assert made.tolist() == scores.tolist()
    assert promises.changed() == {}


def test_a_node_that_leads_nowhere_sinks_below_links_that_match_nothing() -> None:
    promises = Promises()
    make(promises, list(range(20)), node=1)
    follow(promises, list(range(20)), 0.0)
    (of_node,) = make(promises, [100], node=1, section="b/new", span=OTHER_LIST)
    (of_none,) = make(promises, [101], section="b/new", span=OTHER_LIST)
    assert of_node < of_none < PAPER[1]


def test_a_node_that_does_better_than_its_level_rises() -> None:
    promises = Promises()
    make(promises, list(range(20)), node=2)
    follow(promises, list(range(20)), 1.0)
    (score,) = make(promises, [100], node=2)
    assert PAPER[2] < score <= 1.0


def test_what_waits_is_scored_again() -> None:
    promises = Promises()
    before = make(promises, list(range(50)), node=1)
    follow(promises, list(range(EVERY)), 0.0)
    changed = promises.changed()
    assert set(changed) == set(range(EVERY, 50)), "what was fetched waits no more"
    assert max(changed.values()) < min(before)
    assert promises.changed() == {}


def test_small_changes_are_not_passed_on() -> None:
    promises = Promises()
    make(promises, list(range(50)), node=1)
    follow(promises, list(range(EVERY)), 1.0)
    assert promises.changed() == {}


def test_where_nothing_was_tried_more_is_expected_while_nothing_is_found() -> None:
    promises = Promises()
    make(promises, list(range(30)), section="tried/x")
    follow(promises, list(range(30)), 0.0)
    (tried,) = make(promises, [100], section="tried/x", span=OTHER_LIST)
    (fresh,) = make(promises, [101], section="fresh/x", span=OTHER_LIST)
    assert tried < fresh / 5


def test_what_is_found_is_worth_more_than_what_nobody_knows() -> None:
    promises = Promises()
    make(promises, list(range(40)), section="good/x")
    follow(promises, list(range(40)), 1.0)
    (good,) = make(promises, [100], section="good/x", span=OTHER_LIST)
    (fresh,) = make(promises, [101], section="fresh/x", span=OTHER_LIST)
    assert fresh < good / 2


def test_where_all_is_one_section_it_says_nothing() -> None:
    promises = Promises()
    make(promises, list(range(40)), node=1)
    follow(promises, list(range(40)), EXPECTED)
    (score,) = make(promises, [100], node=2, span=OTHER_LIST)
    assert abs(score - PAPER[2]) < 1e-6


def test_links_of_a_paragraph_share_their_outcomes() -> None:
    promises = Promises()
    make(promises, list(range(10)))
    make(promises, list(range(100, 110)), span=OTHER_LIST)
    follow(promises, [0, 1, 2, 3], 0.0)
    follow(promises, [100, 101, 102, 103], 1.0)
    changed = promises.changed()
    assert changed[105] > PAPER[-1] > changed[5]


def test_links_already_fetched_do_not_wait() -> None:
    promises = Promises()
    make(promises, [1, 2], node=1)
    follow(promises, [1], 0.0)
    make(promises, [1, 3], node=1)
    follow(promises, [1] * EVERY, 0.0)
    make(promises, list(range(10, 40)), node=1)
    follow(promises, list(range(10, 30)), 0.0)
    assert 1 not in promises.changed()


def test_memory_is_bounded_and_the_oldest_keep_their_score() -> None:
    promises = Promises(waiting=20)
    make(promises, list(range(40)), node=1)
    follow(promises, [0, 1, 2], 0.0)  # forgotten: no outcome is counted for them
    assert make(promises, [50], node=1) == [PAPER[1]]
    follow(promises, list(range(30, 40)), 0.0)
    assert set(promises.changed()) <= set(range(20, 60))


def test_goes_on_where_it_was() -> None:
    promises = Promises()
    make(promises, list(range(30)), node=1)
    make(promises, list(range(100, 130)), section="b/y", span=OTHER_LIST)
    follow(promises, [0, 1, 2, 3, 100], 0.3)
    other = Promises()
    other.restore(promises.state())
    assert other.state() == promises.state()
    for each in (promises, other):
        follow(each, [4, 5, 6, 101], 0.0)
    assert other.changed() == promises.changed() != {}
    assert make(other, [7, 200], node=1) == make(promises, [7, 200], node=1)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from([1, 2, -1]), st.floats(0, 1)), max_size=60
    )
)
def test_scores_are_scores(steps: list[tuple[int, int, float]]) -> None:
    promises = Promises(waiting=16)
    for key, node, relevance in steps:
        scores = make(promises, [key, key + 1], node=node, section=f"s/{key % 3}")
        promises.kept(key, relevance)
        scores += promises.changed().values()
        assert all(0 <= score <= 1 for score in scores)
