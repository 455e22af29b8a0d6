"""Webs from folders, WARC files and the repository, with their labels."""

from __future__ import annotations

import pytest

from treasure.errors import WebError
from treasure.evaluation import web_builder
from treasure.evaluation.archived import Response
from treasure.evaluation.virtual_web import VirtualWeb, WebTopic, read_web_topics
from treasure.evaluation.web_writer import TOPICS, WEB, write_web
from treasure.repository.records import PageRecord
from treasure.repository.store import Store
from treasure.urls import url_key

HTML = (("Content-Type", "text/html"),)


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    for name, text in {
        "www.a.example/index.html": "<title>home</title>",
        "www.a.example/stars/sun flower.html": "<title>sun</title>",
        "b.example/picture.png": "png",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_mirror_becomes_a_web(site, tmp_path):
    responses = list(web_builder.from_folder(site))
    assert [response.url for response in responses] == [
        "http://b.example/picture.png",
        "http://www.a.example/index.html",
        "http://www.a.example/",
        "http://www.a.example/stars/sun%20flower.html",
    ]
    assert responses[0].header("content-type") == "image/png"
    write_web(tmp_path / "web", responses, [])
    web = VirtualWeb.open(tmp_path / "web" / WEB)
    assert web.page("http://www.a.example/stars/sun%20flower.html").title == "sun"


def test_a_folder_is_one_site_with_a_base(site):
    found = web_builder.from_folder(site / "www.a.example", "https://c.example/docs/")
    assert [response.url for response in found] == [
        "https://c.example/docs/index.html",
        "https://c.example/docs/",
        "https://c.example/docs/stars/sun%20flower.html",
    ]


def test_an_index_is_its_folder_for_links_and_labels(site):
    responses = list(web_builder.from_folder(site))
    index, home = responses[1:3]
    assert (index.status, index.header("location")) == (301, "http://www.a.example/")
    assert home.status == 200
    topic = WebTopic("a", "", "a", (), (), frozenset({index.url, "http://gone.example/"}))
    (found,) = web_builder.landed([topic], responses)
    assert found.targets == {home.url, "http://gone.example/"}
    with pytest.raises(WebError, match="belongs to no host"):
        list(web_builder.from_folder(site / "www.a.example"))
    with pytest.raises(WebError, match="--base must be a URL"):
        list(web_builder.from_folder(site, "c.example"))


def test_warcs_are_merged_with_their_topics(tmp_path):
    def web(name, urls, targets):
        topic = WebTopic("stars", "520", "Stars.", ("http://a.example/",), (), frozenset(targets))
        bodies = [Response(url, 200, HTML, name.encode()) for url in urls]
        write_web(tmp_path / name, bodies, [topic])
        return tmp_path / name / WEB

    first = web("one", ["http://a.example/", "http://a.example/1"], ["http://a.example/1"])
    second = web("two", ["http://a.example/", "http://a.example/2"], ["http://a.example/2"])
    write_web(
        tmp_path / "both",
        web_builder.from_warcs([first, second]),
        web_builder.merged_topics([first, second]),
    )
    merged = VirtualWeb.open(tmp_path / "both" / WEB)
    assert len(merged) == 3
    assert merged.get("http://a.example/").body == b"one"
    assert read_web_topics(tmp_path / "both" / TOPICS)[0].targets == {
        "http://a.example/1",
        "http://a.example/2",
    }


def test_a_crawl_becomes_a_web(tmp_path):
    def record(url, status=200, job="one", **more):
        return PageRecord(job, url_key(url), url, 1.0, final_url=url, status=status, **more)

    html = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    kept = {"on_topic": True, "topic": "stars", "headers": html}
    store = Store.open(f"sqlite:///{tmp_path / 'repository.db'}")
    store.write(
        [
            record("http://a.example/", html=b"<title>a</title>", **kept),
            record("http://a.example/old", 301, headers={"Location": "/"}),
            record("http://a.example/gone", 404),
            record("http://a.example/off"),
            record("http://a.example/down", 0, failure="timeout"),
            record("http://b.example/", html=b"<title>b</title>", job="two", **kept),
        ]
    )
    responses = list(web_builder.from_repository(store, "one"))
    everything = list(web_builder.from_repository(store))
    topics = web_builder.judged_topics(store, "one", [response.url for response in responses])
    store.close()
    write_web(tmp_path / "web", responses, topics)
    web = VirtualWeb.open(tmp_path / "web" / WEB)
    assert list(web.urls()) == [
        "http://a.example/",
        "http://a.example/old",
        "http://a.example/gone",
    ]
    assert web.page("http://a.example/old").title == "a"
    assert web.get("http://a.example/").header("content-encoding") == ""
    assert "http://b.example/" in [response.url for response in everything]
    assert topics[0].targets == {"http://a.example/"}
    assert "not by people" in topics[0].description


def test_labels_from_csv(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("url,topic\nHTTP://A.example/x,stars\nhttp://a.example/y,ferns\n")
    known = ["http://a.example/x", "http://a.example/y", "http://a.example/"]
    topics = web_builder.read_labels(labels, known)
    assert {topic.name: topic.targets for topic in topics} == {
        "stars": {"http://a.example/x"},
        "ferns": {"http://a.example/y"},
    }
    assert topics[0].seeds == ("http://a.example/", "http://a.example/y")
    labels.write_text("url,topic\nhttp://a.example/x,\n")
    with pytest.raises(WebError, match=r"Line 2 of .* no topic"):
        web_builder.read_labels(labels, known)
    with pytest.raises(WebError, match="cannot be read"):
        web_builder.read_labels(tmp_path / "none.csv", known)


def test_half_a_web_is_never_left_behind(tmp_path):
    def failing():
        yield Response("http://a.example/", 200, HTML, b"")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_web(tmp_path, failing(), [])
    assert list(tmp_path.iterdir()) == []
