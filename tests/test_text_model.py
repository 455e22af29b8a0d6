from __future__ import annotations

import pytest

from tests.strategies.small_web import page, terms
from treasure.text_model import Query, cosine, term_counts, topic_terms, url_words
from treasure.topics import Topic


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://www.example.org/wp/b/Barn_Owl.htm", ["example", "wp", "b", "barn", "owl"]),
        ("https://a.test/BlackBird/index.html?q=two", ["a", "test", "black", "bird", "q", "two"]),
        ("http://a.test/%C3%89tude", ["a", "test", "étude"]),
        ("http://a.test/%FF", ["a", "test"]),
        ("", []),
    ],
)
def test_url_words(url: str, words: list[str]) -> None:
    assert url_words(url) == words


def test_term_counts_leave_stop_words_out() -> None:
    counts = term_counts(terms("the owl and the owl at night").tolist())
    owl, night = (int(t) for t in terms("owl night"))
    assert counts == {owl: 2, night: 1}


def test_cosine_by_hand() -> None:
    assert cosine({1: 1.0, 2: 2.0}, {2: 3.0, 3: 4.0}) == pytest.approx(6 / (5**0.5 * 5))
    assert cosine({1: 2.0}, {1: 5.0}) == 1.0
    assert cosine({1: 2.0}, {2: 5.0}) == 0.0
    assert cosine({}, {1: 1.0}) == 0.0


def test_topic_terms_are_the_topic_in_words() -> None:
    topic = Topic(name="owls", keywords=("barn",), description="At night.")
    assert list(topic_terms(topic)) == list(terms("owls owls owls barn at night"))


def test_query_without_background_weighs_all_terms_alike() -> None:
    query = Query(Topic(name="owl"))
    assert query.similarity(terms("owl")) == pytest.approx(1.0)
    assert query.similarity(terms("owl hill tower moor")) == pytest.approx(0.5)
    assert query.similarity(terms("hill")) == 0.0
    assert query.similarity(terms("")) == 0.0


def test_query_weighs_rare_words_more() -> None:
    background = [page(f"B{i}", "hill tower") for i in range(9)] + [page("B9", "owl")]
    query = Query(Topic(name="owl hill"), background=background)
    assert query.similarity(terms("owl moor")) > query.similarity(terms("hill moor")) > 0


def test_query_keeps_its_strongest_terms_of_topic_and_examples() -> None:
    examples = [page("E1", "owl barn feather"), page("E2", "owl barn")]
    query = Query(Topic(name="owl"), examples, size=2)
    assert query.similarity(terms("barn")) > 0
    assert query.similarity(terms("feather")) == 0.0
