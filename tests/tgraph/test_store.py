import json
from pathlib import Path

import pytest

from tests.tgraph.test_watchdog import ANIMALS, EAGLE, SEED, snapshot, watch
from tests.tgraph.webs import BIRDS
from treasure.errors import GraphError
from treasure.tgraph import journal as journal_module
from treasure.tgraph import store
from treasure.tgraph.graph import TGraph
from treasure.topics import Topic


@pytest.fixture
def graph() -> TGraph:
    graph = watch([(SEED, 0.1), (ANIMALS, 0.2), (EAGLE, 0.9)]).graph
    graph.credit(0, 0.5)
    graph.journal.change("dead", 1, True, "a test")
    return graph


@pytest.mark.parametrize("name", ["graph.json", "graph.parquet"])
def test_files_keep_everything(graph: TGraph, tmp_path: Path, name: str) -> None:
    graph.save(tmp_path / "sub" / name)
    again = TGraph.load(tmp_path / "sub" / name, topic=BIRDS)
    assert_same(again, graph)
    assert not list(tmp_path.rglob("*.partial"))


def test_bytes_keep_everything(graph: TGraph) -> None:
    assert_same(TGraph.from_bytes(graph.to_bytes()), graph)


def assert_same(again: TGraph, graph: TGraph) -> None:
    assert snapshot(again) == snapshot(graph)
    assert store.to_dict(again) == store.to_dict(graph)
    assert again.node(0).fetches == 1
    assert again.node(0).hits == pytest.approx(0.5)
    assert (again.topic, again.numbers, again.version) == ("Birds", ("598",), graph.version)
    here = again.match(ANIMALS, ANIMALS.links)
    there = graph.match(ANIMALS, ANIMALS.links)
    assert here.osm == pytest.approx(there.osm)
    assert again.journal.undo(10) == 3
    assert len(again) == 0


def test_numbers_go_on_where_they_were(graph: TGraph) -> None:
    again = TGraph.from_bytes(graph.to_bytes())
    assert again.add(graph.node(0).__class__("u", 1, graph.node(0).components)) == 2


def test_a_graph_for_another_topic_is_refused(graph: TGraph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g.json")
    with pytest.raises(GraphError, match="about 'Music'"):
        TGraph.load(tmp_path / "g.json", topic=Topic("Music", numbers=("78",)))


def test_a_journal_that_lost_its_start_cannot_be_replayed(
    graph: TGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "MAX_ENTRIES", 3)
    graph.journal.change("dead", 1, False, "a test")
    assert graph.journal.dropped == 2
    with pytest.raises(GraphError, match="no longer in the journal"):
        graph.journal.replay(TGraph.empty(BIRDS))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[]", "is no T-Graph"),
        (b'{"format": "treasure-tgraph", "version": 99}', "version 99"),
        (b'{"format": "treasure-tgraph", "version": 1}', "head .* damaged"),
    ],
)
def test_files_that_are_no_graph(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "g.json").write_bytes(content)
    with pytest.raises(GraphError, match=message):
        TGraph.load(tmp_path / "g.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keys", [4_000_000]),
        ("keys", [-1]),
        ("counts", [0]),
        ("distance", [9, 9]),
        ("number", [1, 1]),
        ("source", []),
        ("words", [0, 0]),
        ("distance", None),
    ],
)
def test_damaged_nodes(graph: TGraph, tmp_path: Path, field: str, value: object) -> None:
    data = json.loads(json.dumps(store.to_dict(graph)))
    data["nodes"][field] = value
    (tmp_path / "g.json").write_text(json.dumps(data))
    with pytest.raises(GraphError, match=r"g\.json is damaged"):
        TGraph.load(tmp_path / "g.json")


def test_a_parquet_file_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "g.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(GraphError, match="no Parquet file of a T-Graph"):
        TGraph.load(tmp_path / "g.parquet")


def test_unknown_suffix_and_unwritable_place(graph: TGraph, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"ends in \.json or \.parquet"):
        graph.save(tmp_path / "g.pickle")
    (tmp_path / "file").write_text("")
    with pytest.raises(GraphError, match="cannot be written"):
        graph.save(tmp_path / "file" / "g.json")
    with pytest.raises(GraphError, match="cannot be read: No such file"):
        TGraph.load(tmp_path / "none.json")
