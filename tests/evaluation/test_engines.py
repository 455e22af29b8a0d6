"""The plain loop and the real Scrapy engine fetch the same pages in the same order."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.evaluation import island_web, odd_web
from treasure.evaluation import scrapy_engine
from treasure.evaluation.metrics import hit_curve
from treasure.evaluation.oracle import landings, link_graph, oracle_hits
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import simulate
from treasure.evaluation.trial import Trial, build, draw, seeds_of
from treasure.evaluation.virtual_web import read_web_topics, truth


@pytest.mark.parametrize(
    ("site", "strategy", "examples"),
    [
        (island_web, "treasure", 0),
        (island_web, "treasure", 4),
        (island_web, "best-first", 0),
        (island_web, "treasure-paper", 0),
        (odd_web, "treasure", 3),
        (odd_web, "best-first", 0),
    ],
)
def test_same_pages_same_order(
    tmp_path: Path, site: ModuleType, strategy: str, examples: int
) -> None:
    path, topics = site.write(tmp_path)
    topic = read_web_topics(topics)[0]
    web = ParsedWeb.open(path, None)
    trial = Trial(topic.name, strategy, marks=(90,), examples=examples)
    seeds = seeds_of(web.web, topic, "generic")
    inputs = draw(web, topic, trial)
    told = scrapy_engine.crawl(path, topic, seeds, [p.url for p in inputs.examples], trial)
    loop = list(simulate(web, build(topic, seeds, inputs, trial), seeds, 90))
    assert [fetch.url for fetch in told] == [fetch.url for fetch in loop]
    assert [fetch.relevance for fetch in told] == pytest.approx([f.relevance for f in loop])
    assert hit_curve(told, truth(topic))[-1] > 20


def test_the_oracle_starts_where_the_seeds_lead(tmp_path: Path) -> None:
    path, topics = odd_web.write(tmp_path)
    topic = read_web_topics(topics)[0]
    web = ParsedWeb.open(path, None)
    seeds = seeds_of(web.web, topic, "generic")
    assert landings(web, seeds) == ["http://start.test/portal?a=2&z=1"]
    hits = oracle_hits(link_graph(web), landings(web, seeds), truth(topic), 60)
    assert hits[0] == 0
    assert hits[-1] > 35
