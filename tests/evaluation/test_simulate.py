"""The plain loop, the oracle and the measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.island_web import HOST, write
from treasure.evaluation.metrics import figures, hit_curve, mean, target_lengths
from treasure.evaluation.oracle import link_graph, oracle_hits
from treasure.evaluation.page_codec import decode, encode
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import Fetch, simulate
from treasure.evaluation.trial import Inputs, Trial, build, draw, run, seeds_of
from treasure.evaluation.virtual_web import WebTopic, read_web_topics


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> ParsedWeb:
    folder = tmp_path_factory.mktemp("island")
    return ParsedWeb.open(write(folder)[0], folder / "cache")


@pytest.fixture(scope="module")
def topic(web: ParsedWeb) -> WebTopic:
    return read_web_topics(web.web.path.parent / "topics.json")[0]


def fetch(url: str, referrer: str = "", on_topic: bool = True) -> Fetch:
    return Fetch(url, True, 1.0, on_topic, 1.0, referrer, 0.002)


def crawled(web: ParsedWeb, topic: WebTopic, strategy: str, budget: int) -> list[Fetch]:
    seeds = seeds_of(web.web, topic, "generic")
    crawl = build(topic, seeds, Inputs(), Trial(topic.name, strategy))
    return list(simulate(web, crawl, seeds, budget))


def test_pages_survive_the_cache(web: ParsedWeb) -> None:
    url = f"{HOST}/bird/1.html"
    read = web.web.page(url)
    assert read is not None
    kept = decode(encode(read))
    for name in ("url", "title", "words", "headings", "blocks", "links", "block_texts", "html"):
        assert list(getattr(kept, name)) == list(getattr(read, name)), name
    assert kept.terms.tolist() == read.terms.tolist()
    first, second = web.answer(url), web.answer(url)
    assert first.page is not None
    assert second.page is not None
    assert first.page.links == second.page.links


def test_a_failure_costs_a_page_and_a_redirect_none(web: ParsedWeb, topic: WebTopic) -> None:
    fetches = crawled(web, topic, "breadth-first", 60)
    assert len(fetches) == 60
    # The first seed redirects to city 0, which is queued behind the second seed.
    assert [fetch.url for fetch in fetches[:2]] == [f"{HOST}/city/1.html", f"{HOST}/city/0.html"]
    assert len({fetch.url for fetch in fetches}) == 60
    everything = crawled(web, topic, "breadth-first", 1000)
    assert sum(not fetch.found for fetch in everything) == 30  # one dead link a bird


def test_the_loop_is_the_same_every_time(web: ParsedWeb, topic: WebTopic) -> None:
    first, second = (crawled(web, topic, "treasure", 80) for _ in range(2))
    assert [(f.url, f.score, f.relevance) for f in first] == [
        (f.url, f.score, f.relevance) for f in second
    ]


def test_training_pages_are_neither_found_nor_missed(web: ParsedWeb, topic: WebTopic) -> None:
    trial = Trial("birds", "best-first", marks=(50,), examples=5)
    training = draw(web, topic, trial).training
    assert len(training) == 5
    assert draw(web, topic, trial).training == training
    result = run(web, link_graph(web), topic, trial)
    assert result.targets == len(topic.targets) - 5
    assert result.oracle[-1] <= result.targets


def test_missing_inputs_are_told(web: ParsedWeb, topic: WebTopic) -> None:
    result = run(web, link_graph(web), topic, Trial("birds", "treasure", marks=(10,)))
    assert result.missing == ["examples"]


def test_the_oracle_takes_targets_it_knows_and_else_the_shortest_way() -> None:
    graph = {
        "seed": ["a", "t1"],
        "t1": ["b"],
        "a": ["c"],
        "b": ["t2"],
        "c": ["t3"],
        "t2": [],
        "t3": [],
    }
    targets = frozenset({"t1", "t2", "t3"})
    # seed, t1, then b-t2 and a-c-t3 or the other way round: the shorter first.
    assert oracle_hits(graph, ["seed"], targets, 9) == [0, 1, 1, 2, 2, 2, 3, 3, 3]
    assert oracle_hits(graph, ["seed"], frozenset({"nowhere"}), 3) == [0, 0, 0]


def test_the_oracle_reads_pages_that_were_given_for_nothing() -> None:
    graph = {"seed": ["e1"], "e1": ["e2", "a"], "e2": ["t1"], "a": ["t2"], "t1": [], "t2": []}
    targets, given = frozenset({"t1", "t2"}), frozenset({"e1", "e2"})
    assert oracle_hits(graph, ["seed"], targets, 4, given) == [0, 1, 1, 2]


def test_the_loop_follows_pages_that_were_given_at_once_and_for_nothing(
    web: ParsedWeb, topic: WebTopic
) -> None:
    trial = Trial("birds", "breadth-first", examples=5)
    inputs, seeds = draw(web, topic, trial), seeds_of(web.web, topic, "generic")
    fetches = list(simulate(web, build(topic, seeds, inputs, trial), seeds, 60))
    assert len(fetches) == 60
    assert not inputs.training & {fetch.url for fetch in fetches}
    assert inputs.training & {fetch.referrer for fetch in fetches}


def test_measures_by_hand() -> None:
    targets = frozenset({"t1", "t2", "t3", "t4"})
    fetches = [
        fetch("s", on_topic=False),
        fetch("t1", "s"),
        fetch("x", "t1"),  # judged on topic, wrongly
        fetch("t2", "x", on_topic=False),  # judged off topic, wrongly
    ]
    assert hit_curve(fetches, targets) == [0, 1, 1, 2]
    assert target_lengths(fetches, targets) == {"s": 0, "t1": 1, "x": 1, "t2": 2}
    (two, four) = figures(fetches, targets, frozenset(), [0, 1, 2, 4], (2, 4))
    assert (two.hits, two.harvest_rate, two.recall, two.oracle_share) == (1, 0.5, 0.25, 1.0)
    assert (four.hits, four.harvest_rate, four.oracle_share) == (2, 0.5, 0.5)
    assert (four.verdict_precision, four.verdict_recall) == (0.5, 0.5)
    assert four.target_length == 1.5
    assert four.cpu_ms == pytest.approx(2.0)


def test_confidence_intervals_are_students() -> None:
    value = mean([0.2, 0.4, 0.6])
    assert value.value == pytest.approx(0.4)
    assert value.half_width == pytest.approx(4.303 * 0.2 / 3**0.5, rel=1e-3)
    assert mean([0.3]).half_width == 0.0


def test_an_island_behind_pages_off_topic_is_found(web: ParsedWeb, topic: WebTopic) -> None:
    budget = 130
    ours = hit_curve(crawled(web, topic, "treasure", budget), topic.targets)
    assert ours[-1] >= 0.9 * len(topic.targets)


def test_dead_kinds_of_links_are_left_alone_soon(web: ParsedWeb, topic: WebTopic) -> None:
    fetches = crawled(web, topic, "treasure", 80)
    curve = hit_curve(fetches, topic.targets)
    until = curve.index(28)  # of 30 that can be found without the island
    assert sum(not fetch.found for fetch in fetches[:until]) <= 4


def test_a_web_can_be_read_without_a_cache(tmp_path: Path) -> None:
    path, _ = write(tmp_path)
    uncached = ParsedWeb.open(path, None)
    assert uncached.page(f"{HOST}/old-home.html") is not None
    assert uncached.answer(f"{HOST}/nowhere.html").status == 404
