from pathlib import Path

import pytest

from tests.tgraph.webs import BIRDS, html, page, url, web_of
from treasure.errors import GraphError, UnreadablePageError
from treasure.extract import read_page
from treasure.pages import Page
from treasure.tgraph.build import Built, Plan, around, bottom_up, top_down
from treasure.tgraph.sources import FolderWeb, backlinks

# home -> birds -> eagle (target); home -> stones; eagle -> hawk (target)
LINKS = {
    "home/": [["birds/list"], ["stones"]],
    "birds/list": [["birds/eagle", "stones"], ["home/"]],
    "birds/eagle": [["birds/hawk"], ["home/"]],
    "birds/hawk": [["home/"]],
    "stones": [["stones"]],
}
TARGETS = [url("birds/eagle"), url("birds/hawk")]
PLAN = Plan(BIRDS)


def levels(built: Built) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for node in built.graph.nodes():
        found.setdefault(node.source.removeprefix(url("")), []).append(node.distance)
    return {name: sorted(distances) for name, distances in sorted(found.items())}


WHOLE = {
    "birds/eagle": [1, 3],
    "birds/hawk": [3],
    "birds/list": [1, 3],
    "home/": [2],
}


def test_top_down() -> None:
    pages = web_of(LINKS)
    built = top_down(PLAN, pages, pages.get, TARGETS)
    assert levels(built) == WHOLE
    assert (built.pages, built.targets, built.linked, built.notes) == (5, 2, 2, ())
    assert (built.graph.topic, built.graph.numbers) == ("Birds", ("598",))


def test_bottom_up_finds_the_same_with_back_links() -> None:
    pages = web_of(LINKS)

    class Source:
        urls = staticmethod(lambda: iter(pages))
        page = staticmethod(pages.get)

    referrers = backlinks(Source, lambda _what, _count: None)
    assert sorted(referrers(url("home/"))) == [url("birds/" + n) for n in ("eagle", "hawk", "list")]
    built = bottom_up(PLAN, TARGETS, referrers, pages.get)
    assert levels(built) == WHOLE
    assert built.pages == 4, "stones lead nowhere and are not read"


def test_bottom_up_reads_no_more_pages_than_allowed() -> None:
    links = {f"p{i}": [["target"]] for i in range(50)} | {"target": [["p0"]]}
    pages = web_of(links)
    read = []

    def fetch(address: str) -> Page | None:
        read.append(address)
        return pages.get(address)

    built = bottom_up(
        Plan(BIRDS, levels=1), [url("target")], lambda _: list(pages), fetch, max_pages=10
    )
    assert built.graph.level_sizes() == [10]
    assert len(set(read)) <= 11


def test_around_climbs_above_the_examples() -> None:
    pages = web_of(
        {name.replace("home/", ""): groups for name, groups in LINKS.items()}
        | {
            "birds/": [["birds/eagle"], ["birds/hawk"]],
        }
    )
    fetched = []

    def fetch(address: str) -> Page | None:
        fetched.append(address)
        return pages.get(address)

    built = around(PLAN, [url("birds/eagle")], fetch, max_pages=4)
    assert fetched[:3] == [url("birds/eagle"), url("birds/"), url("")]
    assert len(fetched) == len(set(fetched)) == 4
    assert levels(built)["birds/"] == [1]


def test_redirects_are_followed_to_where_the_page_is() -> None:
    pages = web_of({"hub": [["old"]], "new": [["hub"]]})
    pages[url("old")] = pages[url("new")]
    built = top_down(PLAN, pages, pages.get, [url("old")])
    assert levels(built) == {"hub": [1], "new": [2]}


def test_ways_stay_whole_when_the_graph_is_limited() -> None:
    links: dict[object, list[list[object]]] = {f"a{i}": [["target"]] for i in range(20)}
    links |= {f"b{i}": [[f"a{i % 20}"]] for i in range(60)}
    pages = web_of(links | {"target": [["x"]]})
    built = top_down(Plan(BIRDS, levels=2, max_nodes=10), pages, pages.get, [url("target")])
    near = {node.source for node in built.graph.nodes() if node.distance == 1}
    far = [node for node in built.graph.nodes() if node.distance == 2]
    assert (len(near), len(far)) == (5, 5)
    assert all(set(node.destinations) <= near for node in far)
    assert built.left_out == 70
    assert "70 paragraphs beyond 10" in built.notes[0]


def test_cycles_and_links_to_itself() -> None:
    pages = web_of({"a": [["a"], ["b"]], "b": [["a", "t"]], "t": [["t"], ["a"]]})
    built = top_down(PLAN, pages, pages.get, [url("t")])
    assert levels(built) == {"a": [2], "b": [1], "t": [3]}


MENU = '<title>Menu</title><nav><a href="/eagle">Eagle</a></nav><p>Words. <a href="/y">y</a></p>'


def test_menus_count_only_when_asked() -> None:
    pages = {
        url("menu"): read_page(url("menu"), MENU + "<p>" + "more words " * 50 + "</p>"),
        url("eagle"): page("eagle", ("eagles", ["x"])),
    }
    with pytest.raises(GraphError, match="but menus; --navigation"):
        top_down(PLAN, pages, pages.get, [url("eagle")])
    built = top_down(Plan(BIRDS, navigation=True), pages, pages.get, [url("eagle")])
    assert levels(built) == {"menu": [1]}


def test_no_targets() -> None:
    with pytest.raises(GraphError, match="needs targets"):
        top_down(PLAN, [], dict[str, Page]().get, [])
    with pytest.raises(GraphError, match="None of the 1 given is an HTTP address"):
        top_down(PLAN, [], dict[str, Page]().get, ["mailto:me"])


def test_targets_that_cannot_be_fetched() -> None:
    with pytest.raises(GraphError, match=r"None of the 2 example pages could be fetched"):
        around(PLAN, TARGETS, lambda _: None)


def test_targets_that_nothing_links_to() -> None:
    pages = web_of({"a": [["b"]], "b": [["a"]]})
    with pytest.raises(GraphError, match="Nothing in the 2 pages read links to the 1 targets"):
        top_down(PLAN, pages, pages.get, [url("lonely")])


def test_one_page_only() -> None:
    pages = web_of({"a": [["b"]]})
    with pytest.raises(GraphError, match="more than one page"):
        top_down(PLAN, pages, pages.get, [url("a")])


def test_nothing_can_be_read() -> None:
    def unreadable(address: str) -> Page | None:
        raise UnreadablePageError(address)

    with pytest.raises(GraphError, match="None of the 2 pages could be read"):
        top_down(PLAN, [url("a"), url("b")], unreadable, [url("a")])


def test_empty_pages() -> None:
    pages = {url("a"): read_page(url("a"), '<a href="/t"></a>'), url("t"): read_page(url("t"), "")}
    with pytest.raises(GraphError, match="no paragraph with them has any words"):
        top_down(PLAN, pages, pages.get, [url("t")])


def test_100_000_links_on_a_page() -> None:
    body = "".join(f'<a href="/x{i}">eagle {i}</a> ' for i in range(100_000))
    pages = {
        url("huge"): read_page(url("huge"), f"<p><a href='/t'>t</a>{body}</p>", max_links=100_001),
        url("t"): page("t", ("target", ["huge"])),
    }
    built = top_down(PLAN, pages, pages.get, [url("t")])
    assert levels(built) == {"huge": [1], "t": [2]}


def test_a_folder_is_a_web(tmp_path: Path) -> None:
    (tmp_path / "birds").mkdir()
    (tmp_path / "index.html").write_text(html([("eagles", ["birds/eagle"])]))
    (tmp_path / "birds" / "eagle.html").write_text(html([("golden", [""])]))
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    web = FolderWeb(tmp_path, url(""))
    assert list(web.urls()) == [url("birds/eagle.html"), url("index.html")]
    assert web.page(url("birds/eagle")) is not None
    assert web.page(url("")) is not None
    assert web.page(url("../../etc/passwd")) is None
    assert web.page("http://elsewhere.example/") is None
    built = top_down(PLAN, web.urls(), web.page, [url("birds/eagle")])
    assert levels(built) == {"index.html": [1]}
    with pytest.raises(GraphError, match="is no folder"):
        FolderWeb(tmp_path / "none")
