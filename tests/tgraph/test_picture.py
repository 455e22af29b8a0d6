from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.tgraph.test_build import LINKS as BUILT
from tests.tgraph.test_build import PLAN, TARGETS, web_of
from tests.tgraph.webs import BIRDS
from treasure.errors import GraphError
from treasure.tgraph.build import top_down
from treasure.tgraph.graph import TGraph
from treasure.tgraph.picture import draw, svg
from treasure.topics import Topic

SVG = "{http://www.w3.org/2000/svg}"


def test_every_level_and_every_way_is_drawn(tmp_path: Path) -> None:
    pages = web_of(BUILT)
    graph = top_down(PLAN, pages, pages.get, TARGETS).graph
    graph.set_dead(0, True)
    draw(graph, tmp_path / "sub" / "g.svg")
    root = ElementTree.parse(tmp_path / "sub" / "g.svg").getroot()
    texts = [element.text for element in root.iter(SVG + "text")]
    for head in ("Birds (598)", "Level 4", "Level 1", "Targets"):
        assert head in texts
    cards = [element for element in root.iter(SVG + "rect") if "rx" in element.attrib]
    assert len(cards) == len(graph) + len(TARGETS)
    assert sum("dead" in element.get("class", "") for element in cards) == 1
    assert len(list(root.iter(SVG + "path"))) >= 3
    assert any("DC:" in (element.text or "") for element in root.iter(SVG + "title"))


def test_an_empty_graph_says_so() -> None:
    assert "No nodes yet" in svg(TGraph.empty(BIRDS))


def test_names_cannot_break_out_of_the_picture(tmp_path: Path) -> None:
    graph = TGraph.empty(Topic("<script>alert(1)</script>"))
    draw(graph, tmp_path / "g.html")
    text = (tmp_path / "g.html").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"ends in \.svg or \.html"):
        draw(TGraph.empty(BIRDS), tmp_path / "g.png")
