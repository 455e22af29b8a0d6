"""The plain loop and the real Scrapy engine fetch the same pages in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.island_web import write
from treasure.evaluation import scrapy_engine
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import simulate
from treasure.evaluation.trial import Trial, build, draw, seeds_of
from treasure.evaluation.virtual_web import read_web_topics


@pytest.mark.parametrize(
    ("strategy", "examples"),
    [("treasure", 0), ("treasure", 4), ("best-first", 0), ("treasure-paper", 0)],
)
def test_same_pages_same_order(tmp_path: Path, strategy: str, examples: int) -> None:
    path, topics = write(tmp_path)
    topic = read_web_topics(topics)[0]
    web = ParsedWeb.open(path, None)
    trial = Trial(topic.name, strategy, marks=(90,), examples=examples)
    seeds = seeds_of(web, topic, "generic")
    inputs = draw(web, topic, trial)
    told = scrapy_engine.crawl(path, topic, seeds, [p.url for p in inputs.examples], trial)
    loop = list(simulate(web, build(topic, seeds, inputs, trial), seeds, 90))
    assert [fetch.url for fetch in told] == [fetch.url for fetch in loop]
    assert [fetch.relevance for fetch in told] == pytest.approx([f.relevance for f in loop])
