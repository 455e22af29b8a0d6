"""`treasure tgraph` as a user calls it, on a WARC file made here and on a small live server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.tgraph.webs import html, url
from treasure.cli import main

PAGES = {
    "home": [("all living things", ["birds"]), ("stones and rocks", ["stones"])],
    "birds": [("eagles and hawks of the mountains", ["eagle"]), ("owls of the night", ["owl"])],
    "eagle": [("golden eagles nest on cliffs", ["owl", "home"])],
    "owl": [("barn owls hunt mice", ["home"])],
    "stones": [("granite is a rock", ["home"])],
}


def record(name: str) -> bytes:
    """Return a response record of a WARC file."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html(PAGES[name], title=name)}"
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url(name)}\r\n"
    return f"{head}Content-Length: {len(http)}\r\n\r\n{http}\r\n\r\n".encode()


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A virtual web: WARC and topics.json."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "web.warc").write_bytes(b"".join(map(record, PAGES)))
    topic = {
        "name": "birds",
        "ddc": "598",
        "description": "Birds.",
        "seeds": [url("home")],
        "targets": [url("eagle"), url("owl")],
    }
    (folder / "topics.json").write_text(json.dumps([topic]))
    return folder


@pytest.fixture
def graph(web: Path, tmp_path: Path) -> Path:
    path = tmp_path / "graph.json"
    assert main(["tgraph", "build", str(path), "--topic", "birds", "--web", str(web)]) == 0
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["tgraph", *map(str, arguments)]) == code
    output = capsys.readouterr()
    return output.err if code else output.out


def test_build_and_info(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = json.loads(told(capsys, "info", graph, "--json"))
    assert info["topic"] == "birds"
    assert info["numbers"] == ["598"]
    assert info["levels"] == [3, 1, 2, 1]
    assert "nodes" in told(capsys, "info", graph, "--journal", 3)


def test_bottom_up_builds_the_same(
    web: Path, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    told(capsys, "build", other, "--topic", "birds", "--web", web, "--bottom-up")
    one, two = (json.loads(told(capsys, "info", g, "--json")) for g in (graph, other))
    assert one["levels"] == two["levels"]


def test_score_names_the_node_and_puts_eagles_first(
    web: Path, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new.html"
    file.write_text(
        html([("granite", ["x"]), ("hawks and eagles in mountains", ["y"])], title="new")
    )
    rows = json.loads(told(capsys, "score", graph, file, "--json"))
    assert [row["url"] for row in rows] == [url("y"), url("x")]
    assert rows[0]["source"] == url("birds")
    assert rows[0]["priority"] > 0.99
    assert "like node" in told(capsys, "score", graph, url("birds"), "--web", web)


def test_show_export_and_undo(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "show", graph, tmp_path / "g.html")
    assert "Level 1" in (tmp_path / "g.html").read_text()
    assert "7 nodes" in told(capsys, "export", graph, tmp_path / "g.parquet")
    assert "0 changes" in told(
        capsys, "export", tmp_path / "g.parquet", tmp_path / "h.json", "--undo", 2
    )


def test_check_says_whether_more_is_needed(
    web: Path, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = told(capsys, "check", graph, "--web", web, code=2)
    assert "too little to check" in answer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "g.txt", "--topic", "birds", "--web", "{web}"], "ends in .json or .parquet"),
        (["build", "g.json", "--topic", "music", "--web", "{web}"], "No targets"),
        (["build", "g.json", "--topic", "birds", "--web", "/none"], "cannot be read"),
        (
            ["build", "g.json", "--topic", "birds", "--web", "{web}", "--targets", "t.txt"],
            "'t.txt' cannot be read",
        ),
        (
            [
                "build",
                "g.json",
                "--topic",
                "birds",
                "--folder",
                "/none",
                "--targets",
                "http://a.b/",
            ],
            "no folder",
        ),
        (
            ["build", "g.json", "--topic", "birds", "--web", "{web}", "--targets", url("none")],
            "Nothing in the 5 pages read links to the 1 targets",
        ),
        (["info", "none.json"], "cannot be read"),
        (["score", "{graph}", "none.html"], "cannot be read"),
        (["score", "{graph}", "http://web.example/none", "--web", "{web}"], "has no page"),
        (["show", "{graph}", "g.png"], "ends in .svg or .html"),
    ],
)
def test_mistakes_get_one_clear_line(
    web: Path,
    graph: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    answer = told(capsys, *(a.format(web=web, graph=graph) for a in arguments), code=2)
    assert message in answer
    assert answer.startswith("treasure tgraph: ")
    assert answer.count("\n") == 1


# -- live


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server on loopback over a folder of pages; private/ is closed to robots."""
    folder = tmp_path / "site"
    (folder / "birds").mkdir(parents=True)
    (folder / "private").mkdir()
    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=served.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{served.server_port}/"

    def put(name: str, text: str, *links: str) -> None:
        body = " ".join(f'<a href="{base}{link}">{link}</a>' for link in links)
        (folder / name).write_text(f"<title>{name}</title><p>{text} {body}</p>")

    put("index.html", "a page about all living things", "birds/", "private/secret.html")
    put("birds/index.html", "eagles and hawks", "birds/eagle.html")
    put("birds/eagle.html", "golden eagles nest on cliffs", "birds/")
    put("private/secret.html", "not for robots", "birds/eagle.html")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    yield base, folder
    served.shutdown()
    served.server_close()


def live(base: str, out: Path, *targets: str) -> list[object]:
    return [
        "build", out, "--topic", "598", "--delay", "0", "--allow-network", "127.0.0.0/8",
        "--around", *(base + target for target in targets),
    ]  # fmt: skip


def test_a_graph_from_one_example_on_the_live_web(
    server: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, _ = server
    answer = told(capsys, *live(base, tmp_path / "g.json", "birds/eagle.html"))
    assert "1 of 1 targets" in answer
    nodes = (tmp_path / "g.json").read_text()
    assert "birds/" in nodes
    assert "secret" not in json.loads(nodes)["nodes"]["source"]
    info = json.loads(told(capsys, "info", tmp_path / "g.json", "--json"))
    assert info["levels"] == [1, 2, 0, 0]


def test_examples_that_cannot_be_fetched(
    server: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, _ = server
    answer = told(capsys, *live(base, tmp_path / "g.json", "none.html"), code=2)
    assert "None of the 1 example pages could be fetched" in answer
    assert "HTTP status 404" in answer
    answer = told(capsys, *live(base, tmp_path / "g.json", "private/secret.html"), code=2)
    assert "robots.txt forbids it" in answer


# -- from what we stored


def test_a_graph_from_the_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from treasure.repository.records import LinkRecord, PageRecord
    from treasure.repository.store import Store
    from treasure.urls import url_key

    address = f"sqlite:///{tmp_path / 'r.db'}"
    store = Store.open(address)
    records = [
        PageRecord(
            job="job",
            key=url_key(url(name)),
            url=url(name),
            fetched_at=1.0,
            status=200,
            on_topic=name in ("eagle", "owl"),
            html=html(paragraphs, title=name).encode(),
            text="text",
            links=tuple(LinkRecord(url(to), 0.5) for _, links in paragraphs for to in links),
        )
        for name, paragraphs in PAGES.items()
    ]
    store.write(records)
    store.close()
    told(capsys, "build", tmp_path / "g.json", "--topic", "598", "--repository", address)
    info = json.loads(told(capsys, "info", tmp_path / "g.json", "--json"))
    assert info["levels"] == [3, 1, 2, 1]
    answer = told(capsys, "check", tmp_path / "g.json", "--repository", address, code=2)
    assert "5 pages with links" in answer


def test_graphs_by_name_in_the_repository(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--repository", f"sqlite:///{tmp_path / 'r.db'}"]
    assert "version 1" in told(capsys, "export", graph, "birds", *where)
    assert "version 2" in told(capsys, "export", graph, "birds", *where)
    assert json.loads(told(capsys, "info", "birds", "--json", *where))["nodes"] == 7
    assert "7 nodes" in told(capsys, "export", "birds", tmp_path / "again.json", *where)
    answer = told(capsys, "info", "bird", *where, code=2)
    assert "Did you mean 'birds'?" in answer


def test_the_graph_that_a_job_has_grown(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from treasure.repository.store import Store
    from treasure.tgraph.graph import TGraph
    from treasure.tgraph.store import STATE_GRAPH

    address = f"sqlite:///{tmp_path / 'r.db'}"
    store = Store.open(address)
    store.save_state("my-crawl", STATE_GRAPH, TGraph.load(graph).to_bytes())
    store.close()
    assert "7" in told(capsys, "info", "my-crawl", "--repository", address)
