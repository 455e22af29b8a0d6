from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.strategies.small_web import (
    BIRD_WORDS,
    OTHER_WORDS,
    TRAIN_WORDS,
    arrival,
    brief,
    page,
    prose,
)
from treasure.strategies.base import FLOOR
from treasure.strategies.context_graph import (
    FEATURES,
    ContextGraph,
    Node,
    layers_of,
    likelihoods,
)


def test_layers_are_shortest_ways_to_a_target() -> None:
    # 1 -> 0; 2 -> 1; 3 -> 2 and 3 -> 0; 4 -> 9 (unknown); 5 -> 2, three links away.
    links = {0: [], 1: [0], 2: [1], 3: [2, 0], 4: [9], 5: [2]}
    nodes = {key: Node([], to, on_topic=key == 0) for key, to in links.items()}
    assert layers_of(nodes, 4) == {0: 0, 1: 1, 3: 1, 2: 2, 5: 3}
    assert layers_of(nodes, 2) == {0: 0, 1: 1, 3: 1, 2: 2}


def test_likelihoods_by_hand() -> None:
    # Vocabulary of three. P(a|0) = 3/6, P(b|0) = 2/6; P(a|1) = 1/4, P(b|1) = 1/4.
    words = {0: Counter(a=2, b=1), 1: Counter(c=1)}
    logs = likelihoods(words, ["a", "b"])
    assert logs[0] == pytest.approx(math.log(3 / 6 * 2 / 6) / math.sqrt(2))
    assert logs[1] == pytest.approx(math.log(1 / 4 * 1 / 4) / math.sqrt(2))


def graph() -> ContextGraph:
    """Bird pages are targets, stations link to them, cities link to stations."""
    targets = [page(f"Bird_{i}", prose(BIRD_WORDS, i)) for i in range(4)]
    near = [page(f"Rail_{i}", prose(TRAIN_WORDS, i) + f" [Bird_{i}|x]") for i in range(4)]
    far = [page(f"City_{i}", prose(OTHER_WORDS, i) + f" [Rail_{i}|x]") for i in range(4)]
    other = [page(f"Other_{i}", "lorem ipsum dolor amet consectetur elit") for i in range(4)]
    given = brief(examples=targets, background=[*near, *far, *other])
    return ContextGraph(given, layers=2)


def test_pages_are_assigned_to_the_layer_they_look_like() -> None:
    strategy = graph()
    for layer, vocabulary in enumerate((BIRD_WORDS, TRAIN_WORDS, OTHER_WORDS)):
        found, confidence = strategy.layer(page("New", prose(vocabulary, 9)))
        assert found == layer
        assert confidence > 0.5
    assert strategy.layer(page("New", "lorem ipsum dolor amet"))[0] == 3
    assert strategy.layer(page("Empty", "")) == (3, 0.0)


def test_nearer_layers_go_first_and_other_last() -> None:
    strategy = graph()
    scores = []
    for layer, text in enumerate((prose(BIRD_WORDS, 9), prose(TRAIN_WORDS, 9), "lorem ipsum")):
        read = page(f"New_{layer}", f"{text} [Somewhere_{layer}|y]")
        _, confidence = strategy.layer(read)
        [score] = strategy.score(arrival(read), read.links)
        assert score == pytest.approx((2 - layer + confidence) / 3 if layer < 2 else score)
        scores.append(score)
    assert scores[0] > 2 / 3 > scores[1] > 1 / 3
    assert scores[2] <= FLOOR


def test_the_graph_grows_with_the_crawl() -> None:
    strategy = ContextGraph(brief(background=[page("Other", "lorem ipsum dolor amet")]), layers=2)
    station = page("New", prose(TRAIN_WORDS, 9))
    assert strategy.layer(station)[0] != 1
    for i in range(5):
        strategy.learn(arrival(page(f"R{i}", prose(TRAIN_WORDS, i) + f" [B{i}|x]"), 0.0))
        strategy.learn(arrival(page(f"B{i}", prose(BIRD_WORDS, i)), 1.0))
    assert strategy.layer(station)[0] == 1


def test_pages_are_reduced_to_their_strongest_words() -> None:
    strategy = ContextGraph(brief())
    text = " ".join(f"word{i}x " * (1 + i % 3) for i in range(90))
    stems = strategy._strongest(page("Long", text).main_terms)
    assert len(stems) == FEATURES
    assert all(int(stem[4:-1]) % 3 == 2 for stem in stems[:30])
