from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tgraph.webs import BIRDS, Web, arrival, page, random_links, url, web_of
from treasure.errors import GraphError
from treasure.pages import Page
from treasure.tgraph import watchdog as module
from treasure.tgraph.graph import TGraph
from treasure.tgraph.levels import paragraph_levels
from treasure.tgraph.watchdog import Watchdog


def watch(pages: Sequence[tuple[Page, float]], **options: float) -> Watchdog:
    """Return a watchdog that saw *pages*, each with its relevance."""
    dog = Watchdog(TGraph.empty(BIRDS), **options)  # type: ignore[arg-type]
    for seen, relevance in pages:
        dog.observe(arrival(seen, relevance), seen.links)
    return dog


def levels_by_source(graph: TGraph) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for node in graph.nodes():
        found.setdefault(node.source.removeprefix(url("")), []).append(node.distance)
    return found


SEED = page("seed", ("granite and other stones", ["shop"]), ("about living things", ["animals"]))
ANIMALS = page("animals", ("tigers and their prey", ["tiger"]), ("eagles and hawks", ["eagle"]))
EAGLE = page("eagle", ("golden eagles nest on cliffs", ["nest"]))
TIGER = page("tiger", ("tigers hunt at night", ["prey"]))


def test_a_graph_grows_from_nothing_back_along_the_way() -> None:
    dog = watch([(SEED, 0.1), (ANIMALS, 0.2), (EAGLE, 0.9)])
    near, far = sorted(dog.graph.nodes(), key=lambda node: node.distance)
    assert (near.source, near.distance, near.destinations) == (url("animals"), 1, (url("eagle"),))
    assert (far.source, far.distance, far.destinations) == (url("seed"), 2, (url("animals"),))
    assert "eagl" in near.components.stems()[3]
    assert "live" in far.components.stems()[3]
    assert [entry.action for entry in dog.graph.journal.entries] == ["add", "add"]
    assert url("eagle") in dog.graph.journal.entries[0].reason


def test_the_node_that_led_to_a_page_is_named() -> None:
    list_of = [
        page(f"list{n}", ("eagles and hawks of the mountains", [f"bird{n}"])) for n in (1, 2)
    ]
    birds = [page(f"bird{n}", ("an eagle", ["x"])) for n in (1, 2)]
    dog = watch([(list_of[0], 0.1), (birds[0], 0.9)])
    (node,) = [node.number for node in dog.graph.nodes()]
    assert dog.observe(arrival(list_of[1], 0.1), list_of[1].links) is None
    assert dog.observe(arrival(birds[1], 0.9), birds[1].links) == node


def test_pages_off_topic_make_no_nodes() -> None:
    assert len(watch([(SEED, 0.1), (ANIMALS, 0.2), (TIGER, 0.3)]).graph) == 0


def test_a_shorter_way_lowers_the_distance() -> None:
    start = page("start", ("a long list of animals", ["middle", "eagle"]))
    middle = page("middle", ("more about eagles", ["hawk"]))
    hawk = page("hawk", ("hawks and falcons", ["x"]))
    dog = watch([(start, 0.1), (middle, 0.1), (hawk, 0.9)])
    assert levels_by_source(dog.graph) == {"middle": [1], "start": [2]}
    dog.observe(arrival(EAGLE, 0.9), EAGLE.links)
    assert levels_by_source(dog.graph) == {"middle": [1], "start": [1]}
    entry = next(e for e in dog.graph.journal.entries if e.action == "distance")
    assert (entry.before, entry.after) == (2, 1)
    assert "shorter way" in entry.reason


def test_near_identical_paragraphs_share_a_node() -> None:
    text = "golden eagles of high mountains build large nests on steep cliffs every cold spring"
    one, two = page("one", (text, ["eagle"])), page("two", (text, ["hawk"]))
    hawk = page("hawk", ("hawks and falcons", ["x"]))
    dog = watch([(one, 0.1), (two, 0.1), (EAGLE, 0.9), (hawk, 0.9)], novelty=1.0)
    (node,) = dog.graph.nodes()
    assert node.destinations == (url("eagle"), url("hawk"))


def followed(dog: Watchdog, count: int, relevance: float, start: int = 0) -> None:
    """Observe *count* pages found through links that look like those to eagles."""
    for number in range(start, start + count):
        hub = page(f"hub{number}", ("eagles and hawks", [f"leaf{number}"]))
        leaf = page(f"leaf{number}", ("nothing", ["x"]))
        dog.observe(arrival(hub, relevance), hub.links)
        dog.observe(arrival(leaf, relevance), leaf.links)


def test_a_node_that_leads_nowhere_dies_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INSPECTED_EVERY", 1)
    dog = watch([(SEED, 0.9), (ANIMALS, 0.2), (EAGLE, 0.9)])
    followed(dog, 7, 0.0)
    assert not any(node.dead for node in dog.graph.nodes())
    followed(dog, 2, 0.0, start=7)
    assert any(node.dead for node in dog.graph.nodes())
    entry = next(e for e in dog.graph.journal.entries if e.action == "dead")
    assert "mean relevance 0.0" in entry.reason
    dog.graph.relevance = 0.0  # the crawl as a whole is no better
    dog.observe(arrival(TIGER, 0.0), TIGER.links)
    assert not any(node.dead for node in dog.graph.nodes())


def test_the_budget_keeps_what_is_useful() -> None:
    dog = Watchdog(TGraph.empty(BIRDS), max_nodes=10, novelty=1.0)
    for number in range(30):
        text = f"way{number} word{number} other{number}"
        hub = page(f"hub{number}", (text, [f"leaf{number}"]), title=text)
        leaf = page(f"leaf{number}", ("an eagle", ["x"]), title=f"leaf{number}")
        dog.observe(arrival(hub, 0.1), hub.links)
        dog.observe(arrival(leaf, 0.9), leaf.links)
        assert len(dog.graph) <= 10
    forgotten = [e for e in dog.graph.journal.entries if e.action == "forget"]
    assert len(forgotten) == 20
    assert "budget of 10" in forgotten[0].reason


def test_a_page_with_100_000_links_is_taken_in_bounded_steps() -> None:
    from treasure.extract import read_page

    body = "".join(f'<p>eagle {i} <a href="/x{i}">x</a></p>' for i in range(100_000))
    huge = read_page(url("huge"), body, max_links=100_000)
    dog = watch([(huge, 0.1)])
    assert len(dog._origins) == module.MAX_LINKS


def test_memory_of_ways_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED_PAGES", 5)
    dog = Watchdog(TGraph.empty(BIRDS), remembered=20)
    for number in range(40):
        step = page(number, ("a step on the way", [number + 1, f"side{number}"]))
        dog.observe(arrival(step, 0.1), step.links)
    assert len(dog._origins) <= 20
    assert len(dog._pages) == 5
    origins = dog._origins[module.url_key(url(40))].origins
    depth = 0
    while origins:
        origins = origins[0].page.origins
        depth += 1
    assert depth <= 5, "a way must not hold on to the whole crawl"


def crawled(pages: Web, order: Sequence[str], targets: set[str]) -> Watchdog:
    dog = Watchdog(TGraph.empty(BIRDS), max_nodes=6, novelty=1.0)
    for name in order:
        seen = pages[url(name)]
        dog.observe(arrival(seen, 0.9 if name in targets else 0.1), seen.links)
    return dog


@given(random_links(), st.randoms(use_true_random=False))
def test_invariants_on_random_webs(web: tuple, dice) -> None:
    links, targets = web
    order = [*links, *links]
    dice.shuffle(order)
    dog = crawled(web_of(links), list(dict.fromkeys(order)), targets)
    truth = paragraph_levels(links, targets, dog.graph.levels)
    best = {}
    for (name, _), level in truth.items():
        best[name] = min(level, best.get(name, 99))
    assert len(dog.graph) <= 6
    for node in dog.graph.nodes():
        assert best[node.source.removeprefix(url(""))] <= node.distance <= dog.graph.levels
        assert node.destinations


def snapshot(graph: TGraph) -> list[tuple]:
    return sorted(
        (n.number, n.source, n.distance, n.destinations, n.dead, n.components.stems())
        for n in graph.nodes()
    )


@given(random_links(), st.randoms(use_true_random=False))
def test_the_journal_replays_and_undoes_everything(web: tuple, dice) -> None:
    links, targets = web
    order = list(links)
    dice.shuffle(order)
    graph = crawled(web_of(links), order, targets).graph
    again = TGraph.empty(BIRDS)
    graph.journal.replay(again)
    assert snapshot(again) == snapshot(graph)
    half = len(graph.journal) // 2
    middle = TGraph.empty(BIRDS)
    kept = graph.journal.entries[:half]
    everything = list(graph.journal.entries)
    graph.journal.entries[:] = kept
    graph.journal.replay(middle)
    graph.journal.entries[:] = everything
    assert graph.journal.undo(len(everything) - half) == len(everything) - half
    assert snapshot(graph) == snapshot(middle)
    assert graph.journal.undo(10_000) == half
    assert len(graph) == 0


def dead_after(pages: int) -> Watchdog:
    dog = watch([(SEED, 0.9), (ANIMALS, 0.2), (EAGLE, 0.9)])
    followed(dog, pages, 0.0)
    return dog


def test_what_a_person_takes_back_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INSPECTED_EVERY", 1)
    dog = dead_after(9)
    journal = dog.graph.journal
    change = 1 + next(n for n, e in enumerate(journal.entries) if e.action == "dead")
    node = journal.entries[change - 1].node
    with pytest.raises(GraphError, match=f"of node {node} here"):
        dog.take_back(change, node + 1)
    dog.take_back(change, node)
    assert not dog.graph.node(node).dead
    assert journal.entries[-1].reason == f"by hand: change {change} taken back"
    followed(dog, 3, 0.0, start=9)
    assert not dog.graph.node(node).dead
    again = Watchdog(TGraph.from_bytes(dog.graph.to_bytes()))
    followed(again, 3, 0.0, start=12)
    assert not again.graph.node(node).dead
    with pytest.raises(GraphError, match="changed again since"):
        dog.take_back(change)
    with pytest.raises(GraphError, match="There is no change 9999"):
        dog.take_back(9999)


def test_an_added_node_goes_and_comes_back() -> None:
    dog = watch([(SEED, 0.1), (ANIMALS, 0.2), (EAGLE, 0.9)])
    journal = dog.graph.journal
    added, before = journal.entries[0], snapshot(dog.graph)
    dog.take_back(1)
    assert added.node not in dog.graph
    with pytest.raises(GraphError, match="no longer in the graph"):
        dog.take_back(1)
    dog.take_back(len(journal))
    assert snapshot(dog.graph) == before
    with pytest.raises(GraphError, match="already"):
        dog.take_back(len(journal) - 1)
    fresh = TGraph.empty(BIRDS)
    journal.replay(fresh)
    assert snapshot(fresh) == snapshot(dog.graph)
