from __future__ import annotations

import pytest

from tests.strategies.small_web import arrival, brief, page
from treasure.errors import ConfigError
from treasure.strategies.treasure_paper import TreasurePaper
from treasure.tgraph.components import places
from treasure.tgraph.graph import TGraph
from treasure.tgraph.nodes import Node
from treasure.topics import Topic

ASTRONOMY = Topic("Astronomy", "Stars and planets.", numbers=("52",))
HUB = page(
    "Hub",
    "Planets, comets and stars of the galaxy: [Mars|the planet Mars] and [Comet|comets].",
    "Violins, operas and symphonies of the orchestra: [Violin|violin concertos].",
    "Xyzzy plugh [Unknown|qwertz].",
)


def graph_with_hub(distance: int = 1) -> TGraph:
    """Return a graph whose only node is the first paragraph of the hub."""
    graph = TGraph.empty(ASTRONOMY)
    place = places(HUB, HUB.links[:1])[0]
    graph.add(Node(HUB.url, distance, place.components))
    return graph


def scored(strategy: TreasurePaper) -> dict[str, float]:
    scores = strategy.score(arrival(HUB), HUB.links)
    names = [link.url.rpartition("/")[2].removesuffix(".htm") for link in HUB.links]
    return dict(zip(names, scores, strict=True))


@pytest.mark.parametrize("boundary", ["galaxy", "paragraph"])
@pytest.mark.parametrize("distance", [1, 2, 4])
def test_priorities_are_those_of_the_papers(boundary: str, distance: int) -> None:
    strategy = TreasurePaper(brief(ASTRONOMY, graph=graph_with_hub(distance)), boundary=boundary)
    scores = scored(strategy)
    assert scores["Mars"] == pytest.approx(1 / distance, abs=2e-3)
    assert scores["Comet"] == pytest.approx(1 / distance, abs=2e-3)
    assert scores["Violin"] == 0.01, "predicted topic is another one"
    assert scores["Unknown"] == pytest.approx(1 / 5, abs=2e-3), "no word in common: no match"


def test_without_a_number_nothing_is_off_topic() -> None:
    topic = Topic("Astronomy")
    graph = graph_with_hub()
    scores = scored(TreasurePaper(brief(topic, graph=graph)))
    assert scores["Violin"] == pytest.approx(1 / 5, abs=2e-3)


def test_a_dead_node_gives_the_priority_of_no_match() -> None:
    graph = graph_with_hub()
    graph.set_dead(0, True)
    assert scored(TreasurePaper(brief(ASTRONOMY, graph=graph)))["Mars"] == pytest.approx(
        1 / 5, abs=1e-3
    )


def test_a_graph_is_built_from_pages_that_link_to_examples() -> None:
    mars = page("Mars", "Mars is a planet with two moons: [Hub|more planets].")
    far = page("Far", "About the sky and its planets: [Hub|astronomy].")
    strategy = TreasurePaper(brief(ASTRONOMY, examples=[mars], background=[HUB, far]))
    found = sorted((n.source.rpartition("/")[2], n.distance) for n in strategy.graph.nodes())
    assert found == [("Far.htm", 2), ("Hub.htm", 1), ("Mars.htm", 2)]
    assert scored(strategy)["Mars"] > 0.99


def test_examples_that_nothing_links_to_leave_the_graph_empty() -> None:
    mars = page("Mars", "Mars is a planet.")
    assert len(TreasurePaper(brief(ASTRONOMY, examples=[mars])).graph) == 0


def test_explains_which_node_a_link_is_like() -> None:
    strategy = TreasurePaper(brief(ASTRONOMY, graph=graph_with_hub()))
    scored(strategy)
    told = strategy.explain(HUB.links[0].url)
    assert told["node"] == 0
    assert told["source"] == HUB.url
    assert told["osm"] > 0.05
    assert strategy.explain("http://never.seen/") == {}


def test_without_the_watchdog_the_graph_stays_as_it_is() -> None:
    graph = graph_with_hub()
    strategy = TreasurePaper(brief(ASTRONOMY, graph=graph), watchdog=False)
    graph.remove(0)
    assert len(strategy.graph) == 1
    assert scored(strategy)["Mars"] > 0.99


def follow_hub(strategy: TreasurePaper, relevance: float) -> dict[int, float]:
    """Score many pages like the hub, and follow the link to Mars of each."""
    rescored: dict[int, float] = {}
    for number in range(20):
        text = f"Planets, comets and stars of the galaxy: [Mars{number}|the planet Mars]."
        hub = page(f"Hub{number}", text, f"Planets and stars: [Moon{number}|the moon].")
        strategy.score(arrival(hub), hub.links)
        mars = page(f"Mars{number}", "Mars.")
        if relevance:
            strategy.learn(arrival(mars, relevance))
        else:
            strategy.failed(mars.url)
        rescored |= strategy.rescored()
    return rescored


@pytest.mark.parametrize("relevance", [0.1, 0.0])
def test_with_the_watchdog_outcomes_correct_the_priorities(relevance: float) -> None:
    strategy = TreasurePaper(brief(ASTRONOMY, graph=graph_with_hub()))
    rescored = follow_hub(strategy, relevance)
    assert max(rescored.values()) < 0.9, "what waits is scored again"
    scores = scored(strategy)
    assert scores["Mars"] < 0.3
    other = TreasurePaper(brief(ASTRONOMY, graph=graph_with_hub()))
    other.restore(strategy.state())
    assert scored(other) == scores


def test_without_the_watchdog_they_stay_those_of_the_papers() -> None:
    strategy = TreasurePaper(brief(ASTRONOMY, graph=graph_with_hub()), watchdog=False)
    before = scored(strategy)
    assert follow_hub(strategy, 0.1) == {}
    assert scored(strategy) == before
    strategy.restore(strategy.state())


def test_unknown_boundary() -> None:
    with pytest.raises(ConfigError, match="'galaxy' or 'paragraph'"):
        TreasurePaper(brief(ASTRONOMY), boundary="window")
