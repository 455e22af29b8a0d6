"""Whatever is read, no exception escapes that the caller does not expect."""

import gzip
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz import strategies as rubbish
from tests.fuzz.strategies import bounded, corpus, damaged, soup
from treasure import robots
from treasure.addresses import AddressPolicy
from treasure.ddc import container
from treasure.ddc.importing import read_edition
from treasure.ddc.lexicon import Lexicon
from treasure.errors import GraphError, LexiconError, QueryError, UnreadablePageError, UserError
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.extract import decode, read_page
from treasure.politeness import seconds_of
from treasure.repository.query import parse
from treasure.seeds import read_seeds
from treasure.sitemaps import listing, read_sitemap
from treasure.tgraph.graph import TGraph
from treasure.topic_reader import read_topics
from treasure.topics import Topic
from treasure.traps import TrapGuard
from treasure.urls import canonical, host_of, join, url_key


@contextmanager
def one_line(kind=UserError):
    """Let mistakes of the user pass that are told in one line."""
    try:
        yield
    except kind as error:
        said = str(error)
    else:
        return
    assert "\n" not in said


def check_page(html):
    try:
        page = read_page("http://a.test/dir/", html, max_links=200)
    except UnreadablePageError:
        return
    assert len(page.links) <= 200
    for link in page.links:
        assert canonical(link.url) == link.url
        assert 0 <= link.anchor.start <= link.anchor.stop <= len(page.words)
        page.text(page.context(link))
    assert len(page.terms) == len(page.words)
    assert isinstance(page.main_text, str)


@pytest.mark.parametrize("html", corpus("html"))
def test_kept_pages(html):
    check_page(html)


@bounded
@given(soup(rubbish.HTML))
def test_pages_of_broken_tags(html):
    check_page(html)


@bounded
@given(st.binary(max_size=500), st.sampled_from(["", "text/html; charset=utf-16", "text/html;=;"]))
def test_pages_of_any_bytes(body, content_type):
    check_page(decode(body, content_type))


def test_a_million_links_and_a_hundred_thousand_levels():
    many = "".join(f"<a href=/{number}>x</a>" for number in range(1_000_000))
    assert len(read_page("http://a.test/", many, max_links=5_000).links) == 5_000
    deep = "<div>" * 100_000 + "<a href=/x>stars</a>" + "</div>" * 100_000
    read_page("http://a.test/", deep)


@bounded
@given(soup(rubbish.URLS), soup(rubbish.URLS))
@example("http://a.test/", "http://[::1")
@example("http://a.test/", "//\\")
@example("http://a.test/" + "\u00fc" * 2_000, "\u00fc" * 2_000)
def test_addresses(base, href):
    joined = join("http://a.test/dir/page", href)
    for address in (joined, canonical(base), join(canonical(base) or "http://b.test/", href)):
        url = canonical(address)
        assert canonical(url) == url
        if url:
            assert url.startswith(("http://", "https://"))
            assert host_of(url)
            assert url.isascii()
            assert url.isprintable()
        assert isinstance(url_key(url), int)
        TrapGuard().trap(url or "http://a.test/")


@bounded
@given(st.text(max_size=60))
def test_network_addresses(text):
    assert AddressPolicy().allows(text) in {True, False}


@bounded
@given(soup(rubbish.ROBOTS).map(lambda text: text.encode("utf-8", "replace")) | st.binary())
def test_robots(body):
    rules = robots.Robots("treasure/1.0").answered("http://a.test", 200, body, 0.0)
    assert rules is not None
    assert rules.delay >= 0.0
    assert rules.allows("http://a.test/x?y=%zz") in {True, False}


@bounded
@given(st.text(max_size=40))
def test_header_values(value):
    robots.lifetime(value)
    robots.directives([value], "treasure/1.0")
    seconds = seconds_of(value, 1e9)
    assert seconds is None or seconds >= 0


@bounded
@given(soup(rubbish.SITEMAP).map(lambda text: text.encode("utf-8", "replace")), st.booleans())
def test_sitemaps(body, packed):
    found = read_sitemap(gzip.compress(body, 1)[:-3] if packed else body, max_links=50)
    assert len(found.pages) <= 50
    listing("http://a.test/s.xml", [listed.url for listed in found.pages])


@pytest.mark.parametrize("body", corpus("xml"))
def test_kept_sitemaps(body):
    """Entities that multiply, and such that read files: neither is ever expanded."""
    found = read_sitemap(body)
    assert not any("root:" in listed.url or len(listed.url) > 4_096 for listed in found.pages)


@bounded
@given(soup(rubbish.QUERY))
def test_queries(text):
    with one_line(QueryError):
        parse(text)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@bounded
@given(soup(rubbish.TOML))
def test_topic_files(folder, text):
    path = folder / "topic.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with one_line():
        read_topics(str(path))


@bounded
@given(st.text(max_size=40))
def test_topics_by_name(text):
    with one_line():
        read_topics(text)


@bounded
@given(soup(rubbish.URLS))
def test_seeds(folder, text):
    path = folder / "seeds.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    with one_line():
        for url in read_seeds(str(path)):
            assert canonical(url)


def small_lexicon():
    import numpy as np

    return container.dump({"a": np.arange(10, dtype=np.int32)}, {"edition": "x"})


@bounded
@given(damaged(small_lexicon()))
def test_packed_lexicons(data):
    with one_line(LexiconError):
        container.load(data, "file")


@bounded
@given(st.binary(max_size=200))
def test_lexicons_that_are_none(folder, data):
    path = folder / "lexicon.bin"
    path.write_bytes(data)
    with pytest.raises(LexiconError):
        Lexicon.load(str(path))


@bounded
@given(soup(["number,name\n", "520,Astronomy\n", ",", '"', "\n", "520", "stars;planets", "\0"]))
def test_editions(folder, text):
    path = folder / "edition.csv"
    path.write_text(text, encoding="utf-8", errors="replace")
    with one_line(LexiconError):
        read_edition(path)


def small_warc():
    payload = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>stars"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\n"
        f"Content-Length: {len(payload)}\r\n\r\n"
    )
    return head.encode() + payload + b"\r\n\r\n"


@bounded
@given(damaged(small_warc() * 2), st.booleans())
def test_archives(folder, data, packed):
    path = folder / "web.warc"
    path.write_bytes(gzip.compress(data)[:-2] if packed else data)
    try:
        web = VirtualWeb.open(path)
    except UserError:
        return
    for url in web.urls():
        web.get(url)
        web.follow(url)


@example(b"(\xb5/\xfd\xc0`g\x00\x15\x07\x00\xb2\x0e*")  # claims to be of many gigabytes
@bounded
@given(damaged(TGraph.empty(Topic("stars", numbers=("520",)), levels=3, threshold=0.1).to_bytes()))
def test_graphs(data):
    with one_line(GraphError):
        TGraph.from_bytes(data)
