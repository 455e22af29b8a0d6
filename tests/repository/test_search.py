"""Search in SQLite and PostgreSQL: the same questions, the same answers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.repository.conftest import record
from treasure.errors import QueryError
from treasure.repository import search as module
from treasure.repository.finishing import finish_all
from treasure.repository.search import search
from treasure.repository.store import Store

PAGES = {
    "https://giants.example.org/red": (
        "Red giants",
        "Red giants are stars that have left the main sequence.",
    ),
    "https://giants.example.org/kepler": (
        "Kepler",
        "The Kepler telescope looked at stars and found planets.",
    ),
    "https://shop.example.com/": ("A shop", "We sell telescopes. Naïve café owners like them."),
    "https://planets.example.net/": (
        "Planets",
        "The main result: a sequence of planets, none of them red, in many systems.",
    ),
}


@pytest.fixture
def filled(store: Store) -> Store:
    records = [
        record(
            url,
            title=title,
            text=text,
            relevance=0.5,
            numbers=(("523.8" if "giants" in url else "381.1", 0.9), ("520", 0.05)),
        )
        for url, (title, text) in PAGES.items()
    ]
    store.write(records)
    finish_all(store, method="blocks")
    return store


def found(store: Store, query: str, **options: object) -> list[str]:
    hits = search(store, query, **options).hits  # type: ignore[arg-type]
    return sorted(hit.url.removeprefix("https://") for hit in hits)


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("star", ["giants.example.org/kepler", "giants.example.org/red"]),
        ("telescope", ["giants.example.org/kepler", "shop.example.com/"]),
        ('"main sequence"', ["giants.example.org/red"]),
        ("main sequence", ["giants.example.org/red", "planets.example.net/"]),
        ("stars -telescope", ["giants.example.org/red"]),
        ("kepler OR shop", ["giants.example.org/kepler", "shop.example.com/"]),
        ("title:planet", ["planets.example.net/"]),
        ("title:telescope", []),
        ("telescope site:example.com", ["shop.example.com/"]),
        ("site:giants.example.org", ["giants.example.org/kepler", "giants.example.org/red"]),
        ("telescope -site:example.com", ["giants.example.org/kepler"]),
        ("number:523 telescope", ["giants.example.org/kepler"]),
        ("number:5 red", ["giants.example.org/red"]),
        ("number:520", []),
        ("topic:Astronomy red", ["giants.example.org/red", "planets.example.net/"]),
        ("lang:en shop", ["shop.example.com/"]),
        ("lang:de shop", []),
        ("job:stars shop", ["shop.example.com/"]),
        ("job:other shop", []),
        ("the red the", ["giants.example.org/red", "planets.example.net/"]),
        ("nothing like this", []),
        ("zq", []),
    ],
)
def test_queries(filled: Store, query: str, urls: list[str]) -> None:
    assert found(filled, query) == urls


def test_snippets_mark_the_hits(filled: Store) -> None:
    (hit,) = search(filled, "telescopes sell").hits
    assert [piece.text for piece in hit.snippet if piece.marked] == ["sell", "telescopes"]
    assert "".join(piece.text for piece in hit.snippet).startswith("We sell telescopes.")
    (hit,) = search(filled, "title:planets").hits
    assert [piece.text for piece in hit.title if piece.marked] == ["Planets"]


def test_relevance_and_words_both_count(store: Store) -> None:
    text = "A telescope is here, among many other words that say little of it."
    store.write(
        [
            record("https://a.example/", text=text, title="One", relevance=0.5, language="en"),
            record("https://b.example/", text=text + " More.", title="Two", relevance=0.95),
            record("https://c.example/", text="Other words. " * 9, title="Three", relevance=1.0),
            record("https://d.example/", text=text, title="Telescope", relevance=0.6, job="other"),
            *(record(f"https://e.example/{i}", text=f"no word {i} of it") for i in range(9)),
        ]
    )
    finish_all(store, method="blocks")
    urls = [hit.url for hit in search(store, "telescope").hits]
    assert urls == ["https://d.example/", "https://b.example/", "https://a.example/"]


def test_pages_of_results_do_not_overlap(store: Store) -> None:
    store.write(
        [
            record(f"https://a.example/{i}", text=f"telescope number{i}", relevance=i / 40)
            for i in range(35)
        ]
    )
    finish_all(store, method="blocks")
    pages = [search(store, "telescope", offset=o, limit=10) for o in (0, 10, 20, 30, 40)]
    assert [len(page.hits) for page in pages] == [10, 10, 10, 5, 0]
    assert {page.total for page in pages} == {35}
    assert len({hit.url for page in pages for hit in page.hits}) == 35


def test_one_address_of_two_jobs_is_one_result(store: Store) -> None:
    store.write([record(job="one"), record(job="two", relevance=0.9)])
    finish_all(store, method="blocks")
    assert [hit.job for hit in search(store, "giants").hits] == ["two"]
    assert [hit.job for hit in search(store, "giants", job="one").hits] == ["one"]


def test_a_broad_query_looks_at_the_most_relevant(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BROAD", 10)
    store.write(
        [
            record(f"https://a.example/{i}", text=f"telescope number{i}", relevance=i / 40)
            for i in range(40)
        ]
    )
    finish_all(store, method="blocks")
    answer = search(store, "telescope", limit=5)
    assert answer.total == 40
    assert min(hit.relevance for hit in answer.hits) >= 0.7


def test_what_waits_to_be_indexed_is_told(filled: Store) -> None:
    filled.write([record("https://new.example/")])
    answer = search(filled, "giants")
    assert answer.unfinished == 1
    assert "https://new.example/" not in [hit.url for hit in answer.hits]


@pytest.mark.parametrize(("offset", "limit"), [(-1, 10), (0, 0), (0, 101), (995, 10)])
def test_pages_out_of_bounds_are_refused(filled: Store, offset: int, limit: int) -> None:
    with pytest.raises(QueryError, match="Results 1 to 1,000"):
        search(filled, "star", offset=offset, limit=limit)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            [
                "star",
                '"',
                "-",
                "OR",
                "AND",
                "NOT",
                "NEAR(",
                ")",
                "*",
                "^",
                "title:",
                "site:x",
                "number:5",
                "{a}",
                "'",
                ";",
                "\\",
                "%",
                "\x00",
                "a:b",
                "<->",
                "&",
                "|",
                "!",
                ":*",
                "é",
                "²",
                "👍",
                "--",
            ]
        )
        | st.text(max_size=8),
        max_size=8,
    ).map(" ".join)
)
def test_no_query_breaks_the_database(filled: Store, query: str) -> None:
    try:
        answer = search(filled, query)
    except QueryError:
        return
    assert answer.total >= len(answer.hits)
