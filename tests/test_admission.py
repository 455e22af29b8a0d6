"""Admission: each rule, by name, and the traps of real sites."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure import traps
from treasure.admission import Admission
from treasure.config import TreasureConfig
from treasure.errors import ConfigError
from treasure.frontier.base import Entry, Lease
from treasure.pages import EMPTY, Link, Page
from treasure.traps import TrapGuard
from treasure.urls import canonical, url_key

E = "http://example.org"


def page(url: str = f"{E}/", robots: frozenset[str] = frozenset()) -> Page:
    return Page(url, "", EMPTY, "", np.array([], np.int32), [], [], [], robots=robots)


def lease(url: str = f"{E}/", depth: int = 0) -> Lease:
    return Lease(1, Entry(url, 0.5, depth), 0.5, 0.0, False, 0)


def links(*urls: str, nofollow: bool = False) -> list[Link]:
    return [Link(url, EMPTY, "", 0, "", nofollow, url_key(url)) for url in urls]


def admitted(admission: Admission, *urls: str, depth: int = 0) -> list[str]:
    return [link.url for link in admission.admit(page(), links(*urls), lease(depth=depth))]


def test_everything_is_admitted_by_default() -> None:
    admission = Admission.from_config(TreasureConfig())
    urls = [f"{E}/", f"{E}/a/b?c=d", "https://other.net/x.html", f"{E}/paper.pdf"]
    assert admitted(admission, *urls) == urls
    assert admission.report() == {}


def test_depth() -> None:
    admission = Admission(max_depth=2)
    assert admitted(admission, f"{E}/a", depth=1) == [f"{E}/a"]
    assert admitted(admission, f"{E}/a", depth=2) == []
    assert admission.refused == {"depth": 1}


def test_domains() -> None:
    admission = Admission(allowed_domains=["example.org", ".b.net", "https://c.org/start"])
    yes = [f"{E}/", "http://www.example.org/", "http://x.b.net/", "http://c.org:8000/"]
    assert admitted(admission, *yes, "http://notexample.org/", "http://d.org/") == yes
    assert admission.report() == {
        "domain": {"links": 2, "examples": ["http://notexample.org/", "http://d.org/"]}
    }


@pytest.mark.parametrize(
    ("rule", "refused", "kept"),
    [
        ("example.org", f"{E}/a", "http://www.example.org/a"),
        ("example.org", f"{E}:8080/a", "http://example.com/a"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/", "http://127.0.0.1:8001/"),
        (".example.org", "http://www.example.org/a", "http://badexample.org/a"),
        (".example.org", f"{E}/a", "http://example.org.net/"),
        ("*/login*", f"{E}/login?next=x", f"{E}/log"),
        (f"{E}/private/", f"{E}/private/a", f"{E}/privateer"),
        ("example.org/private/", f"{E}/private/a", f"{E}/privateer"),
        ("example.org/private/*", "https://example.org/private/a", "http://a.net/?x=private/a"),
        ("/private/", f"{E}/private/a", f"{E}/privateer"),
        ("?print=1", f"{E}/a?print=1", f"{E}/a?print=0"),
    ],
)
def test_blocks(rule: str, refused: str, kept: str) -> None:
    admission = Admission(blocked=[rule])
    assert admitted(admission, refused, kept) == [kept]
    assert list(admission.refused) == [f"blocked: {rule}"]
    assert admission.blocks == [rule]
    assert admission.unblock(rule)
    assert not admission.unblock(rule)
    assert admitted(admission, refused, kept) == [refused, kept]


def test_blocks_may_be_written_as_people_write_names() -> None:
    admission = Admission(blocked=["Bücher.Example", ".EXAMPLE.org"])
    assert admission.blocks == ["xn--bcher-kva.example", ".example.org"]
    assert admission.unblock("bücher.example")
    assert admission.unblock(".Example.org")
    assert admission.blocks == []


def test_blocks_come_while_the_crawl_runs() -> None:
    admission = Admission()
    assert admission.refusal(f"{E}/a") == ""
    admission.block("example.org")
    assert admission.refusal(f"{E}/a") == "blocked: example.org"
    with pytest.raises(ConfigError, match="empty block"):
        admission.block(" ")


def test_nofollow() -> None:
    admission = Admission()
    assert admission.admit(page(), links(f"{E}/a", nofollow=True)) == []
    assert admission.admit(page(robots=frozenset({"nofollow"})), links(f"{E}/a")) == []
    assert admission.refused == {"nofollow": 2}
    free = Admission(obey_nofollow=False)
    assert free.admit(page(robots=frozenset({"none"})), links(f"{E}/a", nofollow=True))


def test_host_budget_counts_fetched_pages() -> None:
    admission = Admission(max_pages_per_host=3)
    for number in range(3):
        assert admission.refusal(f"{E}/new") == ""
        admission.admit(page(), [], lease(f"{E}/{number}"))
    assert admission.refusal(f"{E}/new") == "host budget"
    assert admission.refusal("http://other.org/new") == ""
    for _ in range(3):  # an earlier run of the job
        admission.count("http://other.org/")
    assert admission.refusal("http://other.org/new") == "host budget"


def test_pattern_budget() -> None:
    config = TreasureConfig.read({"TREASURE_MAX_PAGES_PER_PATTERN": '{"*/tag/*": 2}'})
    admission = Admission.from_config(config)
    for number in range(2):
        admission.admit(page(), [], lease(f"{E}/tag/{number}"))
    assert admission.refusal(f"{E}/tag/new") == "pattern budget: */tag/*"
    assert admission.refusal(f"{E}/page/new") == ""


@pytest.mark.parametrize("limit", ['"many"', "-1", "true", "1.5"])
def test_bad_pattern_budget(limit: str) -> None:
    config = TreasureConfig.read({"TREASURE_MAX_PAGES_PER_PATTERN": f'{{"*/tag/*": {limit}}}'})
    with pytest.raises(ConfigError, match=r"TREASURE_MAX_PAGES_PER_PATTERN must .* Got"):
        Admission.from_config(config)


def test_bad_domain() -> None:
    with pytest.raises(ConfigError, match="TREASURE_ALLOWED_DOMAINS must be domains"):
        Admission(allowed_domains=["no domain at all"])


@pytest.mark.parametrize("name", ["a.jpg", "a.b.ZIP", "dir/a.mp4?x=1", "style.css"])
def test_files_are_no_pages(name: str) -> None:
    assert Admission().refusal(f"{E}/{name}") == "file type"


@pytest.mark.parametrize(
    "url", ["http://foo.zip/", f"{E}/a.pdf", f"{E}/zip", f"{E}/a?f=b.jpg", f"{E}/a.html"]
)
def test_pages_are_no_files(url: str) -> None:
    assert Admission().refusal(url) == ""


TRAPS = [
    ("ever-growing path", "/a/a/a/a"),
    ("ever-growing path", "/en/help/en/help/en/help"),
    ("ever-growing path", "/x/1/2/3/1/2/3/1/2/3/"),
    ("ever-growing path", "/" + "/".join(f"d{n}" for n in range(25))),
    ("ever-growing path", "/a/b/c/a/d/b/a/e/c/a/b"),
    ("calendar", "/calendar/2093/04"),
    ("calendar", "/events?year=2093&month=4"),
    ("calendar", "/events?date=1201-01-01"),
    ("calendar", "/2093/04/12/"),
    ("faceted links", "/shop?" + "&".join(f"f{n}=1" for n in range(10))),
    ("long address", "/" + "a" * 2_500),
]
FREE = [
    "/a/b/c/d/e/f",
    "/2019/04/12/a-post",
    "/blog/2024-05-01-news",
    "/events?year=2024&month=4",
    "/docs/en/latest/en.html",
    "/isbn/9780262033848",
    "/p/1900",
    "/wiki/2001:_A_Space_Odyssey",
    "/room/9999",
    "/list?page=7",
    "/a/b/a/b",
]


@pytest.mark.parametrize(("trap", "path"), TRAPS)
def test_traps(trap: str, path: str) -> None:
    assert Admission().refusal(E + path) == f"trap: {trap}"


@pytest.mark.parametrize("path", FREE)
def test_no_traps(path: str) -> None:
    assert Admission().refusal(E + path) == ""


PIECES = st.sampled_from(
    "/ / / . - = & ? ? 1 12 199 1999 2024-05 1234-56 1234 05 a year= events calendar Kalender"
    " x.html %20 month".split()
)


@given(st.sampled_from([E, "https://1234-56.org", "http://events:8080"]), st.lists(PIECES))
def test_plain_addresses_are_none_that_a_rule_means(origin: str, pieces: list[str]) -> None:
    url = f"{origin}/{''.join(pieces)}"
    quick, thorough = TrapGuard(shape_limit=0), TrapGuard(shape_limit=0)
    found = quick.trap(url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traps, "is_plain", lambda *_: False)
        assert found == thorough.trap(url)


def test_a_calendar_closes_after_enough_pages() -> None:
    guard = TrapGuard(shape_limit=12)
    months = [f"{E}/cal?month={m}&year={y}" for y in (2020, 2021) for m in range(1, 13)]
    assert [guard.trap(url) for url in months] == [""] * 12 + ["calendar"] * 12
    assert guard.trap(months[0]) == ""  # what was let in stays in
    assert guard.trap(months[0].replace("example", "other")) == ""


def test_filters_close_after_enough_combinations() -> None:
    guard = TrapGuard(shape_limit=20)
    urls = [canonical(f"{E}/shop?color={c}&size={s}&sort={c}") for c in range(6) for s in range(6)]
    found = [guard.trap(url) for url in urls]
    assert found.count("") == 20
    assert set(found) == {"", "faceted links"}
    assert guard.trap(f"{E}/shop?page=2") == ""


def test_a_site_that_grows_for_ever_is_left() -> None:
    """Follow the links of a site where every page links below itself."""
    admission, url, steps = Admission(), f"{E}/start", 0
    while not admission.refusal(url):
        url, steps = f"{url}/next", steps + 1
    assert steps < 25


def test_the_report_is_json_and_bounded() -> None:
    admission = Admission(max_depth=1)
    admitted(admission, *(f"{E}/{n}" for n in range(100)), depth=5)
    report = json.loads(json.dumps(admission.report()))
    assert report["depth"]["links"] == 100
    assert len(report["depth"]["examples"]) == 10


@given(
    st.lists(
        st.tuples(
            st.sampled_from([E, "https://1234-56.org", "http://events:8080", "https://bad.org"]),
            st.lists(PIECES, max_size=4),
            st.sampled_from(["", ".zip", ".GIF", ".html", "/x.png/"]),
            st.booleans(),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_links_that_are_free_at_first_sight_are_free(drawn: list, obey: bool) -> None:
    found = [
        links(f"{origin}/{''.join(pieces)}{ending}", nofollow=nofollow)[0]
        for origin, pieces, ending, nofollow in drawn
    ]
    quick, thorough = (Admission(blocked=["bad.org"], obey_nofollow=obey) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thorough, "_all_free", lambda _: False)
        for _ in range(2):  # hosts are known the second time
            assert quick.admit(page(), found) == thorough.admit(page(), found)
            assert quick.refused == thorough.refused
