"""Webs in WARC files: whole, plain, damaged, and no web at all."""

import gzip
import json

import pytest

from treasure.errors import WebError
from treasure.evaluation.virtual_web import VirtualWeb, read_web_topics, truth


def record(url, body=b"<p>text</p>", status="200 OK", headers=()):
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/html", *headers]
    payload = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    return head.encode() + payload + b"\r\n\r\n"


RECORDS = [
    record("http://a.test/", b"<title>home</title>"),
    record("http://a.test/old", b"", "301 Moved", ["Location: /new"]),
    record("http://a.test/new", b"<title>new</title>"),
    record("http://a.test/loop", b"", "302 Found", ["Location: /loop"]),
    record("http://a.test/chunked", b"4\r\n<p>x\r\n3\r\nyz!\r\n0\r\n\r\n",
           headers=["Transfer-Encoding: chunked"]),
]  # fmt: skip


@pytest.fixture(params=["gzip", "plain"])
def web(request, tmp_path):
    path = tmp_path / "web.warc.gz"
    if request.param == "gzip":
        path.write_bytes(b"".join(map(gzip.compress, RECORDS)))
    else:
        path.write_bytes(b"".join(RECORDS))
    return VirtualWeb.open(path)


def test_pages_are_found_by_url_without_fragment(web):
    assert len(web) == 5
    assert web.get("http://a.test/#part").body == b"<title>home</title>"
    assert web.get("HTTP://A.test:80/").status == 200
    assert web.get("http://a.test/none") is None
    assert web.get("http://a.test/chunked").body == b"<p>xyz!"


def test_redirects_are_followed_and_loops_end(web):
    assert web.page("http://a.test/old").title == "new"
    assert web.follow("http://a.test/loop") is None


def test_a_damaged_file_gives_what_can_be_read(tmp_path):
    parts = [gzip.compress(part) for part in RECORDS]
    parts[1] = parts[1][:40] + b"\0" * 20 + parts[1][60:]
    path = tmp_path / "damaged.warc.gz"
    path.write_bytes(b"".join(parts)[:-10])
    web = VirtualWeb.open(path)
    assert set(web.urls()) == {"http://a.test/", "http://a.test/new", "http://a.test/loop"}
    assert web.damaged_bytes > 0


@pytest.mark.parametrize("content", [b"", b"<html>no warc</html>", b"\x1f\x8b\x08rubbish"])
def test_what_is_no_web_is_refused(tmp_path, content):
    path = tmp_path / "nothing.warc.gz"
    path.write_bytes(content)
    with pytest.raises(WebError, match="WARC"):
        VirtualWeb.open(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WebError, match="No such file"):
        VirtualWeb.open(tmp_path / "none.warc.gz")


def test_topics_are_read_and_checked(tmp_path):
    path = tmp_path / "topics.json"
    path.write_text(json.dumps([{"name": "x", "seeds": ["http://a.test/"], "targets": []}]))
    assert read_web_topics(path)[0].seeds == ("http://a.test/",)
    path.write_text(json.dumps([{"name": "x"}]))
    with pytest.raises(WebError, match="Topic 1 of .* is incomplete"):
        read_web_topics(path)
    path.write_text("{")
    with pytest.raises(WebError, match="no JSON"):
        read_web_topics(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([5], "Topic 1 of .* has no name"),
        ([{"name": "x", "seeds": "http://a.test/", "targets": []}], "seeds of Topic 1 of .* list"),
        (
            [{"name": "x", "seeds": [], "targets": "http://a.test/"}],
            "targets of Topic 1 of .* list",
        ),
        ([{"name": "x", "seeds": [], "targets": [], "ddc": "52x"}], "'52x' is no Dewey number"),
        ([{"name": "x", "seeds": [], "targets": []}] * 2, "two topics named 'x'"),
    ],
)
def test_wrong_topics_are_named(tmp_path, rows, message):
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(WebError, match=message):
        read_web_topics(path)


def test_targets_are_known_by_their_canonical_addresses(tmp_path):
    path = tmp_path / "topics.json"
    targets = ["http://A.test/?b=1&a=2", "http://a.test/?a=2&b=1#top"]
    path.write_text(json.dumps([{"name": "x", "ddc": None, "seeds": [], "targets": targets}]))
    assert truth(read_web_topics(path)[0]) == {"http://a.test/?a=2&b=1"}
