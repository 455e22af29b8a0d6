from __future__ import annotations

from tests.strategies.small_web import arrival, brief, page, url
from treasure.pages import Page
from treasure.strategies.ache import PLACES, Ache, features_of
from treasure.urls import url_key


def read(strategy: Ache, what: Page, relevance: float) -> list[float]:
    came = arrival(what, relevance)
    strategy.learn(came)
    return strategy.score(came, what.links)


def test_features_are_words_by_kind_each_once() -> None:
    around = page("P", "hill hill [Owl|the owl] hill tower")
    places = features_of(around, around.links[0])
    # anchor owl; URL small, test, owl; around hill, tower.
    assert places.size == 6
    assert places.max() < PLACES
    elsewhere = page("Q", "tower [Owl|owl] hill")
    assert features_of(elsewhere, elsewhere.links[0]).tolist() == places.tolist()


def test_ten_words_each_side() -> None:
    near = page("P", " ".join(f"word{i}x" for i in range(30)) + " [A|here]")
    # URL small, test ("a" is a stop word), anchor none but "here" is a stop word; ten around.
    assert features_of(near, near.links[0]).size == 12


def test_links_inherit_until_the_first_training() -> None:
    strategy = Ache(brief())
    assert read(strategy, page("P", "[A|owl] [B|hill]"), 0.7) == [0.7, 0.7]


def crawled(limit: int) -> Ache:
    """Links called owl led to good pages, links called hill to bad ones."""
    strategy = Ache(brief(), learning_limit=limit)
    links = " ".join(f"[Good_{i}|owl] [Bad_{i}|hill]" for i in range(10))
    hub = page("Hub", f"{links} [New_1|owl] [New_2|hill]")
    read(strategy, hub, 0.5)
    for i in range(10):
        read(strategy, page(f"Good_{i}", "text"), 1.0)
        read(strategy, page(f"Bad_{i}", "text"), 0.0)
    return strategy


def test_it_learns_what_links_led_to() -> None:
    strategy = crawled(limit=20)
    scores = strategy.rescored()
    assert scores.keys() == {url_key(url("New_1")), url_key(url("New_2"))}
    good, bad = scores[url_key(url("New_1"))], scores[url_key(url("New_2"))]
    assert good > 0.5 > bad
    assert strategy.rescored() == {}
    owl, hill = read(strategy, page("P", "[X|owl] [Y|hill]"), 0.1)
    assert owl > 0.5 > hill


def test_it_waits_for_the_learning_limit_and_for_both_kinds() -> None:
    assert crawled(limit=21).rescored() == {}
    strategy = Ache(brief(), learning_limit=1)
    read(strategy, page("P", "[A|owl]"), 0.5)
    read(strategy, page("A", "text"), 1.0)
    assert strategy.rescored() == {}


def test_failed_links_are_forgotten() -> None:
    strategy = Ache(brief())
    read(strategy, page("P", "[A|owl]"), 0.5)
    strategy.failed(url("A"))
    assert not strategy._queued
