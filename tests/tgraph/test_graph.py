import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tgraph.webs import BIRDS, WORDS, page
from treasure.errors import GraphError
from treasure.text import VOCABULARY
from treasure.tgraph.components import Components, cosine
from treasure.tgraph.graph import OFF_TOPIC, TGraph
from treasure.tgraph.nodes import Node
from treasure.topics import Topic


def parts(ish: str = "", sh: str = "", mh: str = "", dc: str = "") -> Components:
    return Components.of_terms(*(VOCABULARY.ids(text.split()) for text in (ish, sh, mh, dc)))


def graph_of(*nodes: tuple[int, Components], levels: int = 4, threshold: float = 0.05) -> TGraph:
    graph = TGraph("Birds", levels=levels, threshold=threshold)
    for distance, components in nodes:
        graph.add(Node("http://web.example/", distance, components))
    graph.refresh()
    return graph


def test_osm_worked_by_hand() -> None:
    # ISH: eagle eagle hawk . eagle = 2 / (sqrt(5) x 1); SH empty on one side = 0;
    # MH equal = 1; DC: river castle . river engine = 1 / (sqrt(2) x sqrt(2)) = 0.5.
    node = parts("eagle eagle hawk", "tiger", "planet", "river castle")
    link = parts("eagle", "", "planet", "river engine")
    matches = graph_of((2, node)).match_components([link])
    assert matches.osm[0, 1] == pytest.approx((2 / 5**0.5 + 0 + 1 + 0.5) / 4, abs=1e-12)
    assert matches.osm[0, [0, 2, 3]].tolist() == [0, 0, 0]


def test_a_component_empty_on_both_sides_is_left_out_of_the_mean() -> None:
    matches = graph_of((1, parts(dc="river castle"))).match_components([parts(dc="river engine")])
    assert matches.osm[0, 0] == pytest.approx(0.5)


def test_weights_of_the_components() -> None:
    graph = graph_of((1, parts(mh="planet", dc="river castle")))
    graph.weights = np.array([1.0, 1.0, 3.0, 1.0])
    matches = graph.match_components([parts(mh="planet", dc="river engine")])
    assert matches.osm[0, 0] == pytest.approx((3 * 1 + 1 * 0.5) / 4)


def test_priorities_worked_by_hand() -> None:
    near, far = parts(dc="eagle"), parts(dc="river")
    graph = graph_of((1, near), (3, far))
    matches = graph.match_components(
        [parts(dc="eagle"), parts(dc="river"), parts(dc="river eagle"), parts(dc="violin")]
    )
    assert graph.priority(matches, ties=False).tolist() == [1.0, 1 / 3, 1.0, 1 / 5]
    off = np.array([True, False, False, True])
    assert graph.priority(matches, off, ties=False).tolist() == [OFF_TOPIC, 1 / 3, 1.0, OFF_TOPIC]


def test_equal_distances_are_ordered_by_similarity() -> None:
    graph = graph_of((2, parts(dc="eagle hawk")))
    weak, strong, none = graph.priority(
        graph.match_components(
            [parts(dc="eagle river castle"), parts(dc="eagle hawk"), parts(dc="violin")]
        )
    )
    assert 1 / 3 < weak < strong < 0.501
    assert none < weak


def test_a_node_below_the_threshold_does_not_match() -> None:
    graph = graph_of((1, parts(dc="eagle hawk river castle")), threshold=0.6)
    matches = graph.match_components([parts(dc="eagle")])  # 1 / 2
    assert graph.nearest(matches).tolist() == [5]
    assert graph.priority(matches, ties=False).tolist() == [1 / 5]


def test_a_dead_node_passes_the_link_to_the_next() -> None:
    graph = graph_of((1, parts(dc="eagle")), (3, parts(dc="eagle hawk")))
    graph.set_dead(0, True)
    matches = graph.match_components([parts(dc="eagle")])
    assert matches.node.tolist() == [1]
    assert graph.nearest(matches).tolist() == [3]
    graph.set_dead(1, True)
    matches = graph.match_components([parts(dc="eagle")])
    assert matches.node.tolist() == [-1]
    assert graph.priority(matches, ties=False).tolist() == [1 / 5]
    graph.set_dead(0, False)
    assert graph.match_components([parts(dc="eagle")]).node.tolist() == [0]


def test_success_is_drawn_to_the_mean_of_the_crawl() -> None:
    graph = graph_of((1, parts(dc="eagle")))
    graph.fetches, graph.relevance = 10, 2.0
    graph.credit(0, 1.0)
    graph.credit(0, 1.0)
    matches = graph.match_components([parts(dc="eagle"), parts(dc="violin")])
    assert matches.success.tolist() == pytest.approx([(2 + 2 * 0.2) / 4, 0.2])
    assert matches.fetches.tolist() == [2, 0]


def test_a_graph_refuses_another_topic() -> None:
    graph = TGraph.empty(BIRDS)
    graph.check_topic(Topic("Vögel", numbers=("598",)))
    graph.check_topic(Topic("birds"))
    with pytest.raises(GraphError, match=r"built for 'Birds' \(598\).*about 'Music' \(78\)"):
        graph.check_topic(Topic("Music", numbers=("78",)))
    with pytest.raises(GraphError):
        graph.check_topic(Topic("Music"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"levels": 0}, "between 1 and"),
        ({"weights": (0, 0, 0, 0)}, "four weights"),
        ({"weights": (1, 1, 1)}, "four weights"),
    ],
)
def test_impossible_graphs(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        TGraph("Birds", **arguments)  # type: ignore[arg-type]


def test_impossible_nodes() -> None:
    graph = graph_of((1, parts(dc="eagle")))
    with pytest.raises(GraphError, match="between 1 and 4"):
        graph.add(Node("http://web.example/", 5, parts(dc="eagle")))
    with pytest.raises(GraphError, match="needs words"):
        graph.add(Node("http://web.example/", 1, parts()))
    with pytest.raises(GraphError, match="no node 7"):
        graph.node(7)


def test_links_of_one_paragraph_match_alike() -> None:
    here = page("x", ("golden eagle", ["a", "b"]), ("old castle", ["c"]))
    graph = graph_of((1, parts(dc="golden eagle")))
    a, b, c = graph.match(here, here.links).best.tolist()
    assert a == b > c


def test_an_empty_graph_matches_nothing() -> None:
    here = page("x", ("golden eagle", ["a"]))
    matches = TGraph.empty(BIRDS).match(here, here.links)
    assert matches.node.tolist() == [-1]
    assert TGraph.empty(BIRDS).priority(matches, ties=False).tolist() == [1 / 5]


# -- against the definition, whatever was done to the graph before

text = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
components = st.builds(parts, text, text, text, text).filter(lambda c: len(c.keys) > 0)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 4), components),
        st.tuples(st.just("remove"), st.integers(0, 30), st.none()),
        st.tuples(st.just("dead"), st.integers(0, 30), st.booleans()),
        st.tuples(st.just("move"), st.integers(0, 30), st.integers(1, 4)),
        st.tuples(st.just("match"), st.none(), st.none()),
    ),
    max_size=30,
)


@given(changes, st.lists(components, min_size=1, max_size=5))
def test_matching_is_that_of_the_definition(done: list, queries: list[Components]) -> None:
    graph = TGraph("Birds")
    for action, what, value in done:
        numbers = [node.number for node in graph.nodes()]
        if action == "add":
            graph.add(Node("http://web.example/", what, value))
        elif action == "match":
            graph.match_components(queries)
        elif numbers:
            number = numbers[what % len(numbers)]
            if action == "remove":
                graph.remove(number)
            elif action == "dead":
                graph.set_dead(number, value)
            else:
                graph.set_distance(number, value)
    graph.refresh()
    matches = graph.match_components(queries)
    for row, query in enumerate(queries):
        expected = np.zeros(4)
        for node in graph.nodes():
            if not node.dead:
                at = node.distance - 1
                expected[at] = max(expected[at], plain_osm(query, node.components))
        assert matches.osm[row] == pytest.approx(expected, abs=1e-9)
        if expected.max() > 1e-9:
            node = graph.node(int(matches.node[row]))
            assert plain_osm(query, node.components) == pytest.approx(expected.max())
            assert node.distance == matches.distance[row]
        else:
            assert matches.node[row] == -1


def plain_osm(one: Components, other: Components) -> float:
    used = [c for c in range(4) if (one.mask | other.mask) >> c & 1]
    return sum(cosine(one, other, c) for c in used) / len(used)


def test_a_large_graph_agrees_with_the_definition_after_sweeps_and_merges() -> None:
    random = np.random.default_rng(0)

    def drawn() -> Components:
        return parts(
            *(" ".join(random.choice(WORDS, random.integers(0, 6))) for _ in range(3)), "eagle"
        )

    graph = TGraph("Birds")
    queries = [drawn() for _ in range(5)]
    for number in range(2_000):
        graph.add(Node("http://web.example/", int(random.integers(1, 5)), drawn()))
        if number % 3 == 0:
            graph.remove(
                int(random.choice([node for node in range(number) if node in graph] or [0]))
            )
        if number % 100 == 0:
            graph.match_components(queries)
    graph.refresh()
    nodes = list(graph.nodes())
    matches = graph.match_components(queries)
    for row, query in enumerate(queries):
        for level in range(1, 5):
            expected = max(plain_osm(query, n.components) for n in nodes if n.distance == level)
            assert matches.osm[row, level - 1] == pytest.approx(expected, abs=1e-9)
