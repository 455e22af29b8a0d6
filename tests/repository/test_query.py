"""What somebody types into the search box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.errors import QueryError
from treasure.repository.query import MAX_CHARACTERS, Term, parse
from treasure.repository.tags import tag


def words(text: str) -> list[list[tuple[str, ...]]]:
    return [[term.tokens for term in choice] for choice in parse(text).wanted]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("red giants", [[("red",)], [("giants",)]]),
        ('"red giants" star', [[("red", "giants")], [("star",)]]),
        ("star OR planet OR moon", [[("star",), ("planet",), ("moon",)]]),
        ("star or planet", [[("star",)], [("planet",)]]),
        ("the star", [[("star",)]]),
        ("the", [[("the",)]]),
        ("e-mail", [[("e", "mail")]]),
        ("OR star", [[("star",)]]),
        ("star OR", [[("star",)]]),
        ("C++: an introduction", [[("c",)], [("introduction",)]]),
        ("http://example.org/a", [[("http", "example", "org", "a")]]),
        ("Größe Ωmega 星", [[("größe",)], [("ωmega",)], [("星",)]]),
        ("'; DROP TABLE pages; --", [[("drop",)], [("table",)], [("pages",)]]),
        ("a* NEAR(b c)", [[("near", "b")], [("c",)]]),
    ],
)
def test_words(text: str, wanted: list[list[tuple[str, ...]]]) -> None:
    assert words(text) == wanted


def test_title_and_exclusion() -> None:
    query = parse('title:"red giants" -kepler -"main sequence"')
    assert query.wanted == ((Term(("red", "giants"), "title"),),)
    assert query.excluded == (Term(("kepler",)), Term(("main", "sequence")))


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("site:example.org", "site", "example.org"),
        ("site:https://Example.org/page", "site", "example.org"),
        ("number:52", "number", "52"),
        ("number:523.4", "number", "523.4"),
        ('topic:"ancient history"', "topic", "ancient history"),
        ("lang:EN", "lang", "en"),
        ("job:a-1", "job", "a-1"),
    ],
)
def test_filters(text: str, field: str, value: str) -> None:
    assert parse(text).wanted == ((Term((tag(field, value),), "tags"),),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no words"),
        ("   ", "no words"),
        ("!!! ???", "no words"),
        ('"', "quotation mark"),
        ('star "red', "quotation mark"),
        ("-star", "only says what to leave out"),
        ("number:abc", "Dewey"),
        ("number:5234", "Dewey"),
        ("lang:english", "ISO 639-1"),
        ("titel:star", "Did you mean 'title'"),
        ("x" * (MAX_CHARACTERS + 1), "at most 1,000"),
        (" ".join(f"w{i}" for i in range(60)), "more than 40"),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse(text)


@given(
    st.text(alphabet=st.sampled_from("ab\"-: ORtitlesn12.*()^{}\x00'é"), max_size=60) | st.text()
)
def test_any_text_is_a_query_or_a_mistake(text: str) -> None:
    try:
        query = parse(text)
    except QueryError:
        return
    assert query.wanted
    assert all(term.tokens for choice in query.wanted for term in choice)
