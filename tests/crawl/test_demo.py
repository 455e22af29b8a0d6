"""The demo from end to end: two real crawls, a second time, and what they leave behind."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3

import pytest

from treasure.cli import main
from treasure.cli.demo import _show
from treasure.evaluation import demo_run

PAGES = 120


@pytest.fixture(scope="module")
def answer(demo_folder):
    """What the demo printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["demo", "--out", str(demo_folder), "--pages", str(PAGES), "--json"]) == 0
    return json.loads(printed.getvalue())


def outcome(folder):
    """What the demo left in its repository."""
    topic = demo_run.find_topic(folder, "astronomy")
    repository = folder / demo_run.REPOSITORY
    return demo_run._outcome(repository, topic, demo_run.JOB, "treasure", {"because": "it ended"})


def test_the_same_pages_in_the_same_order(answer, demo_folder):
    first = [fetch.url for fetch in outcome(demo_folder).fetched]
    topic = demo_run.find_topic(demo_folder, "astronomy")
    again = demo_run.crawl(demo_folder, topic, "treasure", PAGES)
    assert [fetch.url for fetch in again.fetched] == first
    assert len(first) > PAGES // 2


def test_focus_pays(answer):
    focused, baseline = answer["focused"], answer["breadth_first"]
    assert focused["found"] > 30
    assert focused["found"] > 3 * baseline["found"]
    assert 0 < focused["recall"] < 1
    assert focused["harvest_rate"] == round(focused["found"] / focused["pages"], 4)


def test_the_summary_says_what_one_wants_to_know(answer, demo_folder):
    assert answer["focused"]["stopped"] == "it fetched as many pages as max_pages allows"
    assert len(answer["best_pages"]) == 8
    assert all(page["title"] and page["url"] for page in answer["best_pages"])
    png, svg = (demo_folder / "harvest.png", demo_folder / "harvest.svg")
    assert answer["pictures"] == [str(png), str(svg)]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()


def test_pages_name_the_node_of_the_graph_that_led_to_them(answer, demo_folder):
    with sqlite3.connect(demo_folder / demo_run.REPOSITORY) as database:
        named = database.execute("select count(*) from pages where graph_node <> ''").fetchone()[0]
    assert named > PAGES // 4


def test_people_get_words(answer, demo_folder, capsys):
    topic, crawled = demo_run.find_topic(demo_folder, "520"), outcome(demo_folder)
    _show(topic, crawled, crawled, [demo_folder / "harvest.png"], 1.0)
    shown = capsys.readouterr().out
    for words in ("harvest rate", "recall of", "Why it stopped: it ended.", "treasure search"):
        assert words in shown


def test_a_crawl_that_fails_names_its_log(demo_folder, tmp_path):
    topic = demo_run.find_topic(demo_folder, "astronomy")
    with pytest.raises(demo_run.DemoFailed, match=r"crawl\.log"):
        demo_run.crawl(tmp_path, topic, "treasure", 5)
