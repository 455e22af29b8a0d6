import pytest
from hypothesis import given

from tests.tgraph.webs import random_links, url, web_of
from treasure.errors import GraphError
from treasure.tgraph.build import Plan, top_down
from treasure.tgraph.levels import edges, page_distances, paragraph_levels
from treasure.topics import Topic

LEVELS = 4


def test_levels_worked_by_hand() -> None:
    links = {
        "hub": [["list", "shop"], ["target"]],
        "list": [["target"], ["shop"]],
        "far": [["hub"], ["list"], ["far"]],
        "shop": [["shop"]],
        "target": [["other", "list"]],
    }
    levels = paragraph_levels(links, {"target"}, LEVELS)
    assert levels == {
        ("hub", 0): 2,
        ("hub", 1): 1,
        ("list", 0): 1,
        ("far", 0): 2,
        ("far", 1): 2,
        ("target", 0): 2,
    }


@given(random_links())
def test_a_paragraph_is_on_a_level_iff_it_links_to_the_level_below(web: tuple) -> None:
    links, targets = web
    levels = paragraph_levels(links, targets, LEVELS)
    carried = {page: set() for page in links}
    for (page, _), level in levels.items():
        carried[page].add(level)
    for page, paragraphs in links.items():
        for index, destinations in enumerate(paragraphs):
            others = [to for to in destinations if to != page]
            below = {0 if to in targets else min(carried.get(to) or {LEVELS + 9}) for to in others}
            nearest = min(below, default=LEVELS + 9) + 1
            assert levels.get((page, index)) == (nearest if nearest <= LEVELS else None)


@given(random_links())
def test_distances_are_those_of_the_shortest_way(web: tuple) -> None:
    links, targets = web
    found = page_distances(links, targets, LEVELS)
    for page in links:
        seen, ring, distance = {page}, {page}, 0
        while ring and not ring & targets:
            ring = {to for at in ring for place in links.get(at, []) for to in place} - seen
            seen |= ring
            distance += 1
        expected = distance if ring and distance <= LEVELS else None
        assert found.get(page) == expected


@given(random_links())
def test_invariants_of_a_built_graph(web: tuple) -> None:
    links, targets = web
    pages = web_of(links)
    plan = Plan(Topic("Birds"), levels=LEVELS)
    wanted = [url(name) for name in targets]
    if not paragraph_levels(links, targets, LEVELS):
        with pytest.raises(GraphError, match=r"links to the \d+ targets"):
            top_down(plan, pages, pages.get, wanted)
        return
    graph = top_down(plan, pages, pages.get, wanted).graph
    nodes = {node.number: node for node in graph.nodes()}
    carried = {(node.source, node.distance) for node in nodes.values()}
    for node in nodes.values():
        assert node.destinations
        for destination in node.destinations:
            if node.distance == 1:
                assert destination in wanted
            else:
                assert (destination, node.distance - 1) in carried
        assert node.source not in node.destinations
    found = edges(graph)
    assert len(found) == len(set(found)), "one edge between two nodes"
    for parent, child in found:
        assert nodes[child].distance < nodes[parent].distance, (
            "no edge within a level, none upwards"
        )
        assert nodes[child].source in nodes[parent].destinations
