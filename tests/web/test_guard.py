"""Who may read, who may write, and what browsers are told."""

import pytest

from tests.web.conftest import TOKEN

ORDER = ("/api/jobs/small/orders", {"command": "checkpoint"})


@pytest.mark.parametrize("host", ["evil.test", "evil.test:80", "testserver.evil.test", "[::2]", ""])
def test_a_foreign_host_header_is_refused(client, host):
    assert client.get("/api/jobs", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
def test_a_change_needs_the_token(client, token):
    headers = {} if token is None else {"X-Treasure-Token": token}
    answer = client.post(ORDER[0], json=ORDER[1], headers=headers)
    assert answer.status_code == 401
    assert "token" in answer.json()["detail"]


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "http://testserver.evil.test", "http://testserver:81"]
)
def test_a_change_from_another_origin_is_refused(client, origin):
    headers = {"X-Treasure-Token": TOKEN, "Origin": origin}
    assert client.post(ORDER[0], json=ORDER[1], headers=headers).status_code == 403


def test_our_own_origin_with_the_token_passes(client):
    headers = {"X-Treasure-Token": TOKEN, "Origin": "http://testserver"}
    assert client.post(ORDER[0], json=ORDER[1], headers=headers).status_code == 202


def test_our_pages_may_load_only_what_we_serve(client):
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_stored_pages_are_sandboxed(client):
    number = client.get("/api/search", params={"q": "meteors"}).json()["hits"][0]["page_id"]
    answer = client.get(f"/api/pages/{number}/original")
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox;")
    assert "allow-scripts" not in policy
    assert "default-src 'none'" in policy
