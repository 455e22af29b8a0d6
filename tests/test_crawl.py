"""Crawl: judge, learn, score; seeds first."""

from __future__ import annotations

from tests.strategies.small_web import BIRDS, brief, page, url
from treasure.crawl import SEED_SCORE, Crawl
from treasure.ddc.judge import Judge
from treasure.pages import Link
from treasure.strategies.base import Arrival
from treasure.strategies.breadth_first import BreadthFirst
from treasure.strategies.treasure import Treasure
from treasure.urls import url_key


class Watcher:
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[Arrival, list[Link]]] = []

    def observe(self, arrival: Arrival, links: list[Link]) -> int:
        self.seen.append((arrival, list(links)))
        return 7


def test_a_page_is_judged_observed_and_its_links_scored() -> None:
    given = brief()
    watcher = Watcher()
    crawl = Crawl(given.judge, Treasure(given), [watcher])
    came = page("Owl", "The owl and its nest. [Heron|heron nest] [Tax|income tax]")
    decision = crawl.arrived(came.url, came, came.links, depth=2, score=0.4)
    assert decision.verdict == given.judge.verdict(came)
    assert len(decision.scores) == len(decision.links) == 2
    ((arrival, links),) = watcher.seen
    assert (arrival.depth, arrival.score, links) == (2, 0.4, list(came.links))
    assert decision.graph_node == 7


def test_a_seed_keeps_its_turn_whatever_links_to_it() -> None:
    given = brief(seeds=[url("First"), url("Second")])
    crawl = Crawl(given.judge, Treasure(given))
    first = page("First", "Nothing of interest. [Second|elsewhere] [Third|elsewhere]")
    scores = dict(
        zip(
            [link.url for link in first.links],
            crawl.arrived(first.url, first, first.links).scores,
            strict=True,
        )
    )
    assert scores[url("Second")] == SEED_SCORE
    assert scores[url("Third")] < SEED_SCORE
    crawl.failed(url("Second"))
    again = page("Again", "[Second|elsewhere]")
    assert crawl.arrived(again.url, again, again.links).scores[0] < SEED_SCORE


def test_an_example_is_read_as_soon_as_a_link_leads_to_it() -> None:
    example = page("Example", "The owl and its nest. [Owlet|young owl]")
    given = brief(examples=[example])
    crawl = Crawl(given.judge, BreadthFirst(given))
    first = page("First", "Nothing of interest. [Example|elsewhere] [Third|elsewhere]")
    scores = crawl.arrived(first.url, first, first.links).scores
    assert scores[0] == SEED_SCORE > scores[1]
    crawl.arrived(example.url, example, example.links)
    again = page("Again", "[Example|elsewhere]")
    assert crawl.arrived(again.url, again, again.links).scores[0] < SEED_SCORE


def test_a_link_that_leads_nowhere_is_news_for_those_that_wait() -> None:
    given = brief()
    crawl = Crawl(given.judge, Treasure(given))
    names = [f"pictures/owl{n}.jpg" for n in range(8)]
    album = page("Album", "The owl and its nest. " + " ".join(f"[{n}|owl]" for n in names))
    before = dict(
        zip(
            [link.key for link in album.links],
            crawl.arrived(album.url, album, album.links).scores,
            strict=True,
        )
    )
    told: dict[int, float] = {}
    for name in names[:4]:
        told |= crawl.failed(url(name))
    for name in names[4:]:
        assert told[url_key(url(name))] < before[url_key(url(name))]


def test_a_page_without_links_is_learned_from() -> None:
    given = brief()
    crawl = Crawl(given.judge, BreadthFirst(given))
    bare = page("Bare", "The owl and its nest in the tree.")
    assert crawl.arrived(bare.url, bare, []).scores == []


def test_a_list_of_links_is_scored_but_not_judged() -> None:
    judge = Judge([BIRDS])
    given = brief()
    crawl = Crawl(judge, Treasure(given))
    listing = page("Sitemap", "[A|owl] [B|tax]")
    decision = crawl.listed(listing, listing.links)
    assert decision.verdict.unsure
    assert len(decision.scores) == 2
