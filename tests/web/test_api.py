"""The JSON API: what it answers, and what it says to rubbish."""

import pytest

from tests.web.conftest import TOKEN

WRITE = {"X-Treasure-Token": TOKEN}


def page_id(client, query):
    return client.get("/api/search", params={"q": query}).json()["hits"][0]["page_id"]


def test_search_finds_and_marks(client):
    found = client.get("/api/search", params={"q": "comets"}).json()
    assert found["total"] >= 1
    assert any(hit["url"] == "http://a.test/comets" for hit in found["hits"])
    assert any(marked for hit in found["hits"] for _, marked in hit["snippet"])


def test_a_page_tells_how_it_was_reached_and_why(client):
    number = page_id(client, "title:comets")
    way = client.get(f"/api/pages/{number}/way").json()
    assert [step["url"] for step in way] == [
        "http://a.test/", "http://a.test/stars", "http://a.test/comets",
    ]  # fmt: skip
    plot = client.get(f"/api/pages/{number}/galaxy").json()
    assert plot["numbers"][0]["number"].startswith("52")
    assert any(dot["anchor"] for dot in plot["dots"])
    assert client.get(f"/api/pages/{number}").json()["depth"] == 2


def test_links_carry_their_scores(client):
    links = client.get(f"/api/pages/{page_id(client, 'title:stars')}/links").json()
    assert [link["score"] for link in links] == sorted(
        (link["score"] for link in links), reverse=True
    )
    assert "http://a.test/comets" in {link["url"] for link in links}


def test_a_job_and_its_harvest(client):
    (job,) = client.get("/api/jobs").json()
    assert (job["job"], job["running"]) == ("small", False)
    curve = client.get("/api/jobs/small/harvest").json()["curve"]
    assert curve[0] == [0, 0]
    assert curve[-1] == [5, 3]
    detail = client.get("/api/jobs/small").json()
    assert [200, 5, 3] in detail["statuses"]
    assert client.get("/api/jobs/small/tgraph").json()["levels"]
    assert client.get("/api/jobs/small/events").status_code == 200


def test_recall_is_told_where_the_web_knows_its_targets(client):
    told = client.get("/api/jobs/small/harvest").json()["recall"]
    assert (told["found"], told["targets"], told["recall"]) == (2, 4, 0.5)
    assert told["curve"][0] == [0, 0.0]
    assert told["curve"][-1] == [5, 0.5]


def test_the_status_has_scores_and_pace(client):
    detail = client.get("/api/jobs/small").json()
    assert len(detail["workers"][0]["scores"]["counts"]) == 20
    assert isinstance(detail["pace"], list)


def test_the_tgraph_forms_ways(client):
    graph = client.get("/api/jobs/small/tgraph").json()
    near = graph["levels"][0]["shown"]
    assert {url for node in near for url in node["destinations"]} >= set(graph["targets"]) > set()
    assert [change["change"] for change in graph["journal"]] == [*range(graph["changes"], 0, -1)]
    assert all(change["holds"] for change in graph["journal"] if change["action"] == "add")
    drawn = client.get("/api/jobs/small/tgraph.svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.headers["Content-Security-Policy"].startswith("sandbox;")
    assert drawn.text.startswith("<svg")


def test_a_link_is_explained(client):
    asked = {"url": "http://a.test/comets"}
    told = client.get("/api/jobs/small/explain", params=asked).json()
    assert {event["kind"] for event in told["events"]} >= {"scored", "taken"}
    assert told["page"]["on_topic"]
    assert client.get("/api/jobs/small/explain", params={"url": "ftp://x"}).status_code == 422


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/pages/999999", 404),
        ("/api/pages/0", 422),
        ("/api/pages/99999999999999999999999", 422),
        ("/api/pages/x", 422),
        ("/api/jobs/none", 404),
        ("/api/jobs/none/harvest", 404),
        ("/api/jobs/%00", 404),
        ("/api/jobs/none/tgraph.svg", 404),
        ("/api/starts/none", 404),
        ("/api/nothing", 404),
        ("/static/none.js", 404),
        ("/api/search?page=0", 422),
        ("/api/search?q=x&page=100&size=50", 400),
    ],
)
def test_rubbish_gets_one_sentence(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"status", "detail"}


@pytest.mark.parametrize(
    "query",
    ['"', "AND OR NOT", "'; drop table pages; --", "a" * 2000, "title:", "((((", "*", "\x00", "%_"],
)
def test_any_query_is_answered(client, query):
    answer = client.get("/api/search", params={"q": query})
    assert answer.status_code in {200, 400}
    assert "Traceback" not in answer.text


def test_a_query_of_10000_characters_is_refused_in_words(client):
    answer = client.get("/api/search", params={"q": "x" * 10_000})
    assert answer.status_code == 422
    assert "2000" in answer.json()["detail"]


def test_orders_are_recorded(client, store):
    answer = client.post("/api/jobs/small/orders", headers=WRITE, json={"command": "pause"})
    assert answer.status_code == 202
    assert store.orders("small")[0].author == "web page"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"command": "explode"}, "There is no order 'explode'"),
        ({"command": "threshold", "arguments": ["high"]}, "threshold"),
        ({"command": "seeds", "arguments": ["/etc/passwd"]}, "A seed is an address"),
        ({"command": "undo", "arguments": ["x"]}, "number of a change"),
        ({}, "command"),
    ],
)
def test_wrong_orders_are_refused(client, body, said):
    answer = client.post("/api/jobs/small/orders", headers=WRITE, json=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_crawl_that_cannot_start_says_why(client):
    body = {"topic": "astronomy", "seeds": "not a url"}
    answer = client.post("/api/jobs", headers=WRITE, json=body)
    assert answer.status_code == 422
    assert "seed" in answer.json()["detail"].lower()
    body = {"topic": "astronomy", "seeds": "http://a.test/", "job": "../up"}
    assert client.post("/api/jobs", headers=WRITE, json=body).status_code == 422


def test_the_description_is_complete(client):
    described = client.get("/api/openapi.json").json()["paths"]
    assert {"/api/search", "/api/pages/{page_id}", "/api/jobs/{job}/orders"} <= set(described)
    assert all(
        operation.get("summary") for path in described.values() for operation in path.values()
    )


@pytest.mark.parametrize(
    "path", ["/static/..%2fapp.py", "/static/%2e%2e/app.py", "/..%2f..%2fetc/passwd"]
)
def test_files_besides_ours_are_out_of_reach(client, path):
    answer = client.get(path)
    assert "import" not in answer.text
    assert "root:" not in answer.text
