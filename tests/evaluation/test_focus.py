"""The default strategy on a real web: it must not get worse than it was measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from treasure.evaluation.metrics import hit_curve
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import simulate
from treasure.evaluation.trial import Trial, build, draw, seeds_of
from treasure.evaluation.virtual_web import read_web_topics

SCHOOLS = Path(os.environ.get("TREASURE_SHARED", "../shared")) / "webs" / "schools"

pytestmark = pytest.mark.skipif(not SCHOOLS.is_dir(), reason=f"there is no web in {SCHOOLS}")


@pytest.fixture(scope="module")
def web() -> ParsedWeb:
    return ParsedWeb.open(SCHOOLS / "web.warc.gz", None)


def hits(web: ParsedWeb, name: str, strategy: str, examples: int, pages: int) -> int:
    topic = next(t for t in read_web_topics(SCHOOLS / "topics.json") if t.name == name)
    trial = Trial(name, strategy, examples=examples)
    inputs = draw(web, topic, trial)
    seeds = seeds_of(web.web, topic, "generic")
    crawl = build(topic, seeds, inputs, trial)
    return hit_curve(simulate(web, crawl, seeds, pages), topic.targets - inputs.training)[-1]


@pytest.mark.parametrize(
    ("topic", "examples", "at_least"), [("music", 0, 60), ("chemistry", 0, 50), ("music", 10, 55)]
)
def test_hits_after_100_pages(web: ParsedWeb, topic: str, examples: int, at_least: int) -> None:
    assert hits(web, topic, "treasure", examples, 100) >= at_least


def test_far_ahead_of_following_relevant_pages(web: ParsedWeb) -> None:
    assert hits(web, "music", "treasure", 0, 100) > 1.25 * hits(web, "music", "best-first", 0, 100)
