from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure import robots
from treasure.robots import Robots, directives

ORIGIN = "https://example.org"


def rules(text: str, agent: str = "treasure/1.0 (+https://example.org/bot)") -> robots.Rules:
    found = Robots(agent).answered(ORIGIN, 200, text.encode(), 0.0)
    assert found is not None
    return found


def test_our_group_wins_over_the_group_of_all() -> None:
    found = rules("User-agent: *\nDisallow: /\n\nUser-agent: Treasure\nDisallow: /private\n")
    assert found.allows(f"{ORIGIN}/open")
    assert not found.allows(f"{ORIGIN}/private/x")


def test_groups_of_the_same_name_are_joined() -> None:
    found = rules(
        "User-agent: treasure\nDisallow: /a\nUser-agent: other\nDisallow: /\n"
        "User-agent: treasure\nDisallow: /b\n"
    )
    assert not found.allows(f"{ORIGIN}/a")
    assert not found.allows(f"{ORIGIN}/b")
    assert found.allows(f"{ORIGIN}/c")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/folder/page", True),  # Allow is longer
        ("/folder/other", False),
        ("/x.gif", False),
        ("/x.gif?y", True),
        ("/a/secret/b", False),
        ("/", True),
    ],
)
def test_the_longest_match_decides(path: str, allowed: bool) -> None:
    found = rules(
        "User-agent: *\nDisallow: /folder\nAllow: /folder/page\nDisallow: /*.gif$\n"
        "Disallow: /*/secret\n"
    )
    assert found.allows(ORIGIN + path) is allowed


def test_delay_and_sitemaps() -> None:
    found = rules(
        "Sitemap: https://example.org/map.xml\nUser-agent: *\nCrawl-delay: 2.5\n"
        "Sitemap: https://example.org/news.xml\n"
    )
    assert found.delay == 2.5
    assert found.sitemaps == ("https://example.org/map.xml", "https://example.org/news.xml")
    assert rules("User-agent: *\nRequest-rate: 1/10\n").delay == 10


@pytest.mark.parametrize("delay", ["-3", "nan", "abc", "1e999", ""])
def test_a_delay_that_is_no_number_is_no_delay(delay: str) -> None:
    assert rules(f"User-agent: *\nCrawl-delay: {delay}\nDisallow: /x\n").delay in (
        0.0,
        float("inf"),
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 301])
def test_no_file_allows_everything(status: int) -> None:
    found = Robots("treasure").answered(ORIGIN, status, b"User-agent: *\nDisallow: /", 0.0)
    assert found is not None
    assert found.allows(f"{ORIGIN}/x")


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_error_means_wait_then_leave_alone(status: int) -> None:
    book, now, waits = Robots("treasure"), 0.0, []
    while not book.closed(ORIGIN, now):
        assert book.answered(ORIGIN, status, b"", now) is None
        assert book.rules(ORIGIN, now) is None
        waits.append(book.wait(ORIGIN))
        now += waits[-1]
    assert waits == [10, 60, 300, 0]
    now += robots.CLOSED_SECONDS
    assert not book.closed(ORIGIN, now)
    assert book.answered(ORIGIN, 200, b"", now) is not None
    assert not book.closed(ORIGIN, now)


def test_rules_hold_for_a_day_or_as_the_server_says() -> None:
    book = Robots("treasure")
    book.answered(ORIGIN, 200, b"", 0.0)
    assert book.rules(ORIGIN, 86_399) is not None
    assert book.rules(ORIGIN, 86_400) is None
    book.answered(ORIGIN, 200, b"", 0.0, cache_control="public, max-age=3600")
    assert book.rules(ORIGIN, 3_599) is not None
    assert book.rules(ORIGIN, 3_600) is None
    assert robots.lifetime("max-age=1") == robots.MIN_SECONDS
    assert robots.lifetime("max-age=999999999") == robots.MAX_SECONDS


def test_only_the_first_half_megabyte_counts_and_no_half_line() -> None:
    line = b"Disallow: /filler-%06d\n"
    body = b"User-agent: *\n" + b"".join(line % i for i in range(60_000)) + b"Disallow: /late\n"
    assert len(body) > robots.MAX_BYTES
    found = Robots("treasure").answered(ORIGIN, 200, body, 0.0)
    assert found is not None
    assert not found.allows(f"{ORIGIN}/filler-000001")
    assert found.allows(f"{ORIGIN}/late")
    cut = b"User-agent: *\n#" + b"x" * (robots.MAX_BYTES - 30) + b"\nDisallow: /abc\n"
    found = Robots("treasure").answered(ORIGIN, 200, cut + b"\n" * 100, 0.0)
    assert found is not None
    assert found.allows(f"{ORIGIN}/ax")


@given(st.binary(max_size=2_000))
def test_rubbish_is_tolerated(body: bytes) -> None:
    found = Robots("treasure").answered(ORIGIN, 200, body, 0.0)
    assert found is not None
    found.allows(f"{ORIGIN}/x")


def test_binary_rubbish_allows_everything() -> None:
    found = Robots("treasure").answered(ORIGIN, 200, b"\0" + os.urandom(100_000), 0.0)
    assert found is not None
    assert found.allows(f"{ORIGIN}/x")


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert not rules("\ufeffUser-agent: *\nDisallow: /x").allows(f"{ORIGIN}/x")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["noindex"], {"noindex"}),
        (["NoIndex, NoFollow"], {"noindex", "nofollow"}),
        (["none"], {"none", "noindex", "nofollow"}),
        (["otherbot: noindex, nofollow"], set()),
        (["otherbot: noindex", "treasure: nofollow"], {"nofollow"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST"], {"unavailable_after"}),
        (["", ",,"], set()),
    ],
)
def test_x_robots_tag(headers: list[str], expected: set[str]) -> None:
    assert directives(headers, "treasure/1.0") == expected


def test_origins() -> None:
    assert robots.origin_of("http://example.org:8080/a/b?c") == "http://example.org:8080"
    assert robots.robots_url("http://example.org") == "http://example.org/robots.txt"
    assert robots.product_token("treasure/1.0 (+x)") == "treasure"
