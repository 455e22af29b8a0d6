"""The default strategy: evidence from all pages, learning, dead links, widening."""

from __future__ import annotations

import numpy as np
import pytest

from tests.strategies.small_web import arrival, brief, page, url
from treasure.errors import ConfigError
from treasure.strategies.base import Arrival
from treasure.strategies.link_features import PRIOR, Look
from treasure.strategies.queue_order import HEAD, SLICE
from treasure.strategies.treasure import Treasure
from treasure.tgraph.graph import TGraph
from treasure.urls import url_key

BIRD = "The owl has soft plumage and builds its nest in trees."
CITY = "The council of the city met at the harbour market."


def fetch(strategy: Treasure, came: Arrival) -> dict[str, float]:
    strategy.learn(came)
    links = came.page.links
    return dict(zip([link.url for link in links], strategy.score(came, links), strict=True))


def test_the_first_page_is_ranked_by_words() -> None:
    strategy = Treasure(brief())
    scores = fetch(
        strategy, arrival(page("Seed", f"{CITY} [Owl|owl plumage] and [Tax|income tax]"), 0.1)
    )
    assert scores[url("Owl")] > scores[url("Tax")]


def test_links_of_relevant_pages_are_worth_more() -> None:
    strategy = Treasure(brief())
    good = fetch(strategy, arrival(page("Good", f"{BIRD} See [A|this]."), 0.95))
    bad = fetch(strategy, arrival(page("Bad", f"{CITY} See [B|this]."), 0.02))
    assert good[url("A")] > bad[url("B")]


def test_every_page_that_links_is_heard() -> None:
    def scored(relevance: float) -> float:
        strategy = Treasure(brief())
        fetch(strategy, arrival(page("One", f"{BIRD} See [X|this]."), 0.9))
        for n in range(4):
            came = arrival(page(f"More{n}", f"{BIRD} See [X|this]."), relevance)
            score = fetch(strategy, came)[url("X")]
        assert strategy.explain(url("X"))["pages_that_link"] == 5
        return score

    assert scored(0.9) > scored(0.1)


def test_a_list_whose_other_links_were_good_is_good() -> None:
    def scored(outcome: float) -> float:
        strategy = Treasure(brief())
        fetch(strategy, arrival(page("Start", "[A|one] [B|two] [C|three]"), 0.3))
        for name in "ABC":
            fetch(strategy, arrival(page(name, CITY), outcome))
        listing = "[A|one] [B|two] [C|three] [D|four]"
        return fetch(strategy, arrival(page("List", listing), 0.3))[url("D")]

    assert scored(1.0) > scored(0.0)


def test_kinds_of_links_that_are_dead_are_left_alone() -> None:
    strategy = Treasure(brief())
    links = " ".join(f"[pictures/{n}.jpg|owl]" for n in range(10))
    before = fetch(strategy, arrival(page("Seed", f"{BIRD} {links} [Owl|owl]"), 0.9))
    for n in range(6):
        strategy.failed(url(f"pictures/{n}.jpg"))
    after = fetch(strategy, arrival(page("Next", f"{BIRD} [pictures/9.jpg|owl] [Owl|owl]"), 0.9))
    assert after[url("pictures/9.jpg")] < before[url("pictures/9.jpg")] / 4
    assert after[url("Owl")] > 4 * after[url("pictures/9.jpg")]


def test_outcomes_change_the_weights_and_the_queue() -> None:
    strategy = Treasure(brief())
    names = [f"Bird{n}" for n in range(30)]
    body = " ".join(f"[{name}|owl nest]" for name in names)
    first = fetch(strategy, arrival(page("Seed", f"{BIRD} {body}"), 0.9))
    changed: dict[int, float] = {}
    for name in names[:15]:
        fetch(strategy, arrival(page(name, CITY), 0.0))
        changed.update(strategy.rescored())
    assert not np.array_equal(strategy.model.weights, strategy.model.prior)
    assert changed[url_key(url("Bird20"))] < first[url("Bird20")]


def test_without_learning_the_weights_stay() -> None:
    strategy = Treasure(brief(), learning=False)
    fetch(strategy, arrival(page("Seed", f"{BIRD} " + " ".join(f"[B{n}|owl]" for n in range(20)))))
    for n in range(20):
        fetch(strategy, arrival(page(f"B{n}", CITY), 0.0))
    assert np.array_equal(strategy.model.weights, strategy.model.prior)


def test_examples_speak_for_what_they_link_to() -> None:
    examples = [page(f"E{n}", f"{BIRD} [Known|this]") for n in range(3)]
    strategy = Treasure(brief(examples=examples))
    scores = fetch(strategy, arrival(page("Seed", f"{CITY} [Known|this] [Other|this]"), 0.1))
    assert scores[url("Known")] > scores[url("Other")]


def test_the_graph_is_heard() -> None:
    grown = brief(graph=TGraph.empty(brief().topic))
    strategy = Treasure(grown)
    assert fetch(strategy, arrival(page("Seed", f"{BIRD} [Owl|owl]"), 0.9))
    told = strategy.explain(url("Owl"))["features"]
    assert set(told) == set(PRIOR)


def test_only_links_that_nobody_pointed_to_before_are_fresh() -> None:
    strategy = Treasure(brief())
    fetch(strategy, arrival(page("Seed", f"{BIRD} [Owl|owl] [Wren|wren]"), 0.9))
    fetch(strategy, arrival(page("Owl", f"{BIRD} [Wren|wren]"), 0.9))
    links = page("Hub", "[Seed|seed] [Owl|owl] [Wren|wren] [Crow|crow]").links
    assert [link.url for link in strategy.fresh(links)] == [url("Crow")]


def test_what_is_learned_from_is_what_was_scored() -> None:
    strategy = Treasure(brief())
    fetch(strategy, arrival(page("Seed", f"{BIRD} [Owl|owl]"), 0.9))
    measured = strategy.measured()
    assert measured is not None
    strategy.learn(arrival(page("Owl", BIRD), 1.0))
    assert strategy._learned[1] == pytest.approx(measured.values[0], abs=1e-6)


def test_an_explanation_adds_up() -> None:
    strategy = Treasure(brief())
    scores = fetch(strategy, arrival(page("Seed", f"{BIRD} [Barn_owl|barn owl]"), 0.9))
    told = strategy.explain(url("Barn_owl"))
    parts = sum(feature["part"] for feature in told["features"].values())
    assert told["chance_on_topic"] == pytest.approx(1 / (1 + np.exp(-parts)), abs=1e-4)
    chance, gain = told["chance_on_topic"], told["gain_of_searching"]
    whole = (chance + gain * (1 - chance)) * told["chance_alive"]
    assert told["score"] == pytest.approx(whole, abs=1e-4)
    assert told["score"] == pytest.approx(scores[url("Barn_owl")], abs=1e-4)
    assert told["anchor_words"] == ["barn", "owl"]
    assert strategy.explain(url("Unknown")) == {}


def test_work_per_page_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = Treasure(brief(), max_evidence=10_000)
    most = 0
    look = strategy._look

    def counted(rows: np.ndarray) -> Look:
        nonlocal most
        most = max(most, rows.size)
        return look(rows)

    monkeypatch.setattr(strategy, "_look", counted)
    for n in range(40):
        links = " ".join(f"[P{n}_{k}|owl]" for k in range(300))
        fetch(strategy, arrival(page(f"Hub{n}", links), 0.5))
    assert 9_000 < len(strategy.evidence) <= 10_000
    assert most <= max(SLICE + HEAD, 300)


def test_evidence_has_room_for_a_sitemap() -> None:
    with pytest.raises(ConfigError, match=r"max_evidence must be at least 10000\. Got 5 instead"):
        Treasure(brief(), max_evidence=5)


@pytest.mark.parametrize("options", [{"without": ["ancor"]}, {"prior": {"ancor": 1.0}}])
def test_unknown_features_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"no feature 'ancor'\. Did you mean 'anchor'"):
        Treasure(brief(), **options)


@pytest.mark.parametrize("group", ["tgraph", "statistics", "outcomes", "words", "url"])
def test_features_can_be_left_out(group: str) -> None:
    strategy = Treasure(brief(), without=[group])
    scores = fetch(strategy, arrival(page("Seed", f"{BIRD} [Owl|owl plumage]"), 0.9))
    assert 0.0 < scores[url("Owl")] <= 1.0
