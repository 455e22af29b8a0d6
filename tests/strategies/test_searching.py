"""Searching: until the topic is found, and when the harvest collapses."""

from __future__ import annotations

import logging

import pytest

from tests.strategies.small_web import arrival, brief, page, url
from tests.strategies.test_treasure import BIRD, CITY, fetch
from treasure.strategies.treasure import Treasure
from treasure.urls import url_key


def test_it_widens_when_the_harvest_collapses_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    strategy = Treasure(brief())
    for n in range(30):
        fetch(strategy, arrival(page(f"Good{n}", BIRD), 1.0))
    assert not strategy.searching.widened
    with caplog.at_level(logging.INFO, "treasure.strategies.searching"):
        for n in range(60):
            fetch(strategy, arrival(page(f"Bad{n}", CITY), 0.0))
    assert strategy.searching.widened
    assert "widening" in caplog.text
    for n in range(40):
        fetch(strategy, arrival(page(f"Again{n}", BIRD), 1.0))
    assert not strategy.searching.widened


def test_a_wide_search_prefers_what_was_never_tried() -> None:
    strategy = Treasure(brief())
    for n in range(5):
        fetch(strategy, arrival(page(f"tried/{n}", f"{CITY} [tried/{n + 1}|more]"), 0.0))
    came = arrival(page("tried/5", f"{CITY} [tried/9|more] [fresh/1|more]"), 0.0)
    strategy.searching.widened = True
    scores = fetch(strategy, came)
    assert scores[url("fresh/1")] > 2 * scores[url("tried/9")]


def test_until_the_topic_is_found_an_anchor_in_its_words_counts_on_any_page() -> None:
    seed = arrival(page("Seed", f"{CITY} [a/1|owls and other birds] [b/1|council tax]"), 0.0)
    searching, settled = Treasure(brief()), Treasure(brief())
    for n in range(30):
        fetch(settled, arrival(page(f"Good{n}", BIRD), 1.0))
    found = fetch(searching, seed)
    assert found[url("a/1")] > 2 * found[url("b/1")]
    assert found[url("a/1")] > fetch(settled, seed)[url("a/1")]


def test_a_host_that_kept_no_promise_is_believed_less() -> None:
    strategy = Treasure(brief())
    promising = "[a/{}|owls and other birds]"
    first = fetch(strategy, arrival(page("Farm0", f"{CITY} {promising.format(0)}"), 0.0))
    for n in range(1, 6):
        fetch(strategy, arrival(page(f"Farm{n}", CITY), 0.0))
        strategy.learn(arrival(page(f"a/{n - 1}", f"{CITY} {promising.format(n)}"), 0.0))
        later = fetch(strategy, arrival(page(f"More{n}", f"{CITY} {promising.format(n)}"), 0.0))
    assert later[url("a/5")] < 0.7 * first[url("a/0")]


def test_scouts_go_to_front_pages_of_new_hosts_until_something_is_found() -> None:
    strategy, far = Treasure(brief()), "[http://other.test/deep/page.html|x]"
    front = "[http://third.test/|y] [http://fourth.test/a/b.html|z]"
    fetch(strategy, arrival(page("Seed", f"{CITY} {far} {front}"), 0.0))
    told: dict[int, float] = {}
    for n in range(20):
        fetch(strategy, arrival(page(f"Bad{n}", CITY), 0.0))
        told |= {key: score for key, score in strategy.rescored().items() if score == 1.0}
    scouts = list(told)
    assert scouts[0] == url_key("http://third.test/")
    assert set(scouts[1:]) == {
        url_key("http://other.test/deep/page.html"),
        url_key("http://fourth.test/a/b.html"),
    }
    assert strategy.explain("http://third.test/")["scout"]


def scouts(strategy: Treasure, pages: int) -> list[int]:
    """Return where scouts go while so many pages turn out badly."""
    told: dict[int, float] = {}
    for n in range(pages):
        fetch(strategy, arrival(page(f"Bad{n}", CITY), 0.0))
        told |= {key: score for key, score in strategy.rescored().items() if score == 1.0}
    return list(told)


def test_scouts_follow_those_who_have_shown_other_hosts() -> None:
    strategy = Treasure(brief())
    shown = [f"http://h{n}.test/" for n in range(3)]
    portal = "[http://portal.test/1.html|more] [http://portal.test/2.html|more]"
    links = " ".join(f"[{address}|x]" for address in shown)
    fetch(strategy, arrival(page("http://portal.test/0.html", f"{CITY} {portal} {links}"), 0.0))
    fetch(strategy, arrival(page("Seed", f"{CITY} [http://elsewhere.test/|y]"), 0.0))
    for address in shown:
        strategy.learn(arrival(page(address, CITY), 0.0))
    strategy.rescored()
    further = [url_key(f"http://portal.test/{n}.html") for n in (1, 2)]
    found = scouts(strategy, 20)
    assert sorted(found[:2]) == sorted(further)
    assert found[2] == url_key("http://elsewhere.test/")


def test_hosts_whose_links_are_dead_are_no_guides() -> None:
    strategy = Treasure(brief())
    fetch(strategy, arrival(page("Seed", f"{CITY} [http://portal.test/0.html|y]"), 0.0))
    dead = [f"http://h{n}.test/" for n in range(3)]
    links = " ".join(f"[{address}|x]" for address in dead)
    more = "[http://portal.test/1.html|more]"
    fetch(strategy, arrival(page("http://portal.test/0.html", f"{CITY} {more} {links}"), 0.0))
    for address in dead:
        strategy.failed(address)
    strategy.rescored()
    assert url_key("http://portal.test/1.html") not in scouts(strategy, 20)


def test_no_scouts_where_the_harvest_is_good() -> None:
    strategy = Treasure(brief())
    for n in range(30):
        fetch(strategy, arrival(page(f"Good{n}", f"{BIRD} [http://h{n}.test/|x]"), 1.0))
    strategy.rescored()
    for n in range(30, 90):
        fetch(strategy, arrival(page(f"Good{n}", BIRD), 1.0))
    sent = strategy.evidence.column["scout"][strategy.evidence.live()]
    assert sent.sum() <= 2


def test_a_promise_is_not_diluted_by_other_names_of_the_page() -> None:
    strategy = Treasure(brief())
    alone = fetch(strategy, arrival(page("One", f"{CITY} [a/1|owls and other birds]"), 0.0))
    fetch(strategy, arrival(page("Two", f"{CITY} [b/1|owls and other birds]"), 0.0))
    later = fetch(strategy, arrival(page("Three", f"{CITY} [b/1|council tax in town]"), 0.0))
    assert later[url("b/1")] > 0.6 * alone[url("a/1")]


def test_what_was_seen_of_the_harvest_is_kept() -> None:
    strategy = Treasure(brief())
    for n in range(30):
        fetch(strategy, arrival(page(f"Good{n}", BIRD), 1.0))
    for n in range(60):
        fetch(strategy, arrival(page(f"Bad{n}", CITY), 0.0))
    again = Treasure(brief())
    again.restore(strategy.state())
    assert again.searching.state() == strategy.searching.state()
    assert again.searching.widened


def test_dead_links_out_of_a_host_say_nothing_of_links_within_it_nor_these_of_them() -> None:
    strategy = Treasure(brief())
    links = " ".join(f"[http://gone{n}.test/|bird]" for n in range(6))
    inside = " ".join(f"[here/{n}|bird]" for n in range(6))
    first = fetch(strategy, arrival(page("Seed", f"{BIRD} {links} {inside}"), 1.0))
    for n in range(5):
        strategy.failed(f"http://gone{n}.test/")
        fetch(strategy, arrival(page(f"here/{n}", BIRD), 1.0))
    out, within = (strategy.explain(u) for u in ("http://gone5.test/", url("here/5")))
    assert first["http://gone5.test/"] > 0.3
    assert out["chance_alive"] < 0.3
    assert within["chance_alive"] > 0.9
