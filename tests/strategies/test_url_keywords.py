from __future__ import annotations

import dataclasses

import pytest

from tests.strategies.small_web import arrival, brief, page
from treasure.strategies.url_keywords import UrlKeywords
from treasure.topics import Topic


def scores(topic: Topic, *names: str) -> list[float]:
    read = page("Page", *(f"[{name}|link]" for name in names))
    return UrlKeywords(brief(topic)).score(arrival(read), read.links)


def test_share_of_keywords_in_the_address() -> None:
    topic = Topic(name="birds", keywords=("owl", "Barn", "nest"))
    assert scores(topic, "Barn_Owl", "Owls", "Steam") == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
        0.0,
    ]


def test_without_keywords_the_stems_of_name_and_description_count() -> None:
    topic = Topic(name="birds", description="Nests and eggs.")
    assert scores(topic, "Blackbird", "Bird%20nest", "Train") == [
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
        0.0,
    ]


def test_a_topic_without_words() -> None:
    read = page("Page", "[Page_5|link]")
    wordless = dataclasses.replace(brief(), topic=Topic(name="5"))
    assert UrlKeywords(wordless).score(arrival(read), read.links) == [0.0]
