"""Records become rows."""

from __future__ import annotations

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from treasure.repository.packing import pack_links, rounded, targets, unpack_links
from treasure.repository.records import LinkRecord
from treasure.urls import url_key


@given(st.lists(st.floats(0, 1) | st.integers(0, 20_000).map(lambda n: n / 20_000)))
@example([0.00005, 0.00015, 0.12345, 0.5, 1.0])
@example([float("inf"), -1e-9, 1e300, 123456789.00005])
def test_scores_are_rounded_as_python_rounds(scores: list[float]) -> None:
    assert list(map(repr, rounded(scores))) == [repr(round(score, 4)) for score in scores]


def test_links_come_back() -> None:
    links = tuple(LinkRecord(f"https://a.example/{n}", n / 7, f"anchor {n}") for n in range(5))
    expected = [msgspec.structs.replace(link, score=round(link.score, 4)) for link in links]
    assert unpack_links(pack_links(links)) == expected
    assert targets(links) == {url_key(link.url) for link in links}
    assert pack_links(()) == b""


def test_links_that_no_database_takes_are_cleaned() -> None:
    packed = pack_links((LinkRecord("https://a.example/", 0.5, "a\x00\ud800"),))
    assert unpack_links(packed) == [
        LinkRecord("https://a.example/", 0.5, "a\N{REPLACEMENT CHARACTER}?")
    ]
