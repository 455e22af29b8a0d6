"""Verdicts anew when the topic changed."""

from __future__ import annotations

from pathlib import Path

from tests.ddc.conftest import NO_BACKGROUND
from tests.repository.conftest import record
from treasure.config import TreasureConfig
from treasure.ddc.classes import parse
from treasure.ddc.pack import pack
from treasure.pages import Page, Verdict
from treasure.repository.finishing import finish_all
from treasure.repository.judges import JobJudges
from treasure.repository.rejudge import STATE_GROUNDS, grounds, rejudge
from treasure.repository.search import search
from treasure.repository.store import Store
from treasure.topic_reader import read_topics
from treasure.workbench import topics_of

HTML = "<html lang=en><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p></body></html>"
STARS = "Stars, galaxies and planets are what astronomers look at through a telescope. " * 8
BREAD = "Bread is baked in an oven from flour, water, salt and yeast by a baker. " * 8


def page(url: str, title: str, text: str, *, on_topic: bool):  # type: ignore[no-untyped-def]
    html = HTML.format(title, text).encode()
    return record(url, title=title, text=text, html=html, on_topic=on_topic, relevance=0.9)


def test_pages_come_and_go(store: Store) -> None:
    store.write(
        [
            page("https://a.example/", "Stars", STARS, on_topic=True),
            page("https://b.example/", "Bread", BREAD, on_topic=False),
            record("https://c.example/", text="no html stored", on_topic=True),
        ]
    )
    finish_all(store)

    def about_bread(found: Page) -> Verdict:
        bread = "bread" in found.title.lower()
        return Verdict(0.95 if bread else 0.05, bread, "bread", (("641.8", 1.0),))

    done = rejudge(store, "stars", about_bread)
    assert (done.judged, done.now_on_topic, done.now_off_topic) == (2, 1, 1)
    finish_all(store)
    assert search(store, "astronomers").total == 0
    assert [hit.topic for hit in search(store, "baker number:641").hits] == ["bread"]
    again = rejudge(store, "stars", about_bread)
    assert (again.judged, again.now_on_topic, again.now_off_topic) == (2, 0, 0)


def test_a_job_notices_that_its_topic_changed(lite: Store) -> None:
    lite.start_job("stars", "520", {"TREASURE_TOPIC": "520", "TREASURE_TOPIC_THRESHOLD": 0.5})
    judges = JobJudges(lite)
    assert not judges.changed("stars"), "nothing is known of how it was judged"
    judges.remember("stars")
    assert not JobJudges(lite).changed("stars")
    assert JobJudges(lite, {"TREASURE_TOPIC": "641"}).changed("stars")
    assert JobJudges(lite, {"TREASURE_TOPIC_THRESHOLD": "0.7"}).changed("stars")


def test_the_judge_of_a_job_is_built_from_its_settings(lite: Store) -> None:
    from treasure.extract import read_page

    lite.start_job("stars", "520", {"TREASURE_TOPIC": "520"})
    judge = JobJudges(lite)("stars")
    assert judge is not None
    stars = judge(read_page("https://a.example/", HTML.format("Stars", STARS)))
    bread = judge(read_page("https://b.example/", HTML.format("Bread", BREAD)))
    assert stars.relevance > bread.relevance


def test_a_job_without_a_topic_keeps_its_verdicts(lite: Store) -> None:
    lite.start_job("odd", "", {})
    judges = JobJudges(lite)
    assert judges("odd") is None
    assert judges("unknown") is None
    assert not judges.changed("odd")


def test_a_job_with_a_lexicon_of_its_own_keeps_its_grounds(lite: Store, tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.bin"
    classes = parse(["641.8 | quuxery | quux; quuxes"], "test")
    lexicon.write_bytes(pack(classes, NO_BACKGROUND, {}))
    settings = {"TREASURE_TOPIC": "quuxery", "TREASURE_DDC_LEXICON": str(lexicon)}
    topics = topics_of(TreasureConfig.read(settings))
    assert topics[0].numbers == ("641.8",)
    lite.start_job("quux", "quuxery", settings)
    lite.save_state("quux", STATE_GROUNDS, grounds(TreasureConfig.read(settings), topics))
    assert not JobJudges(lite).changed("quux")


def test_a_job_older_than_a_setting_is_still_read() -> None:
    stored = {"TREASURE_TOPIC": "520", "TREASURE_NO_LONGER_KNOWN": 1, "x": 2}
    config = TreasureConfig.read_stored(stored, {"TREASURE_TOPIC_THRESHOLD": "0.7"})
    assert (config.topic, config.topic_threshold) == ("520", 0.7)


def test_grounds_depend_on_the_lexicon(tmp_path: Path) -> None:
    topics = read_topics("520")
    other = tmp_path / "lexicon.bin"
    other.write_bytes(b"another lexicon")
    assert grounds(TreasureConfig(), topics) == grounds(TreasureConfig(), topics)
    assert grounds(TreasureConfig(), topics) != grounds(
        TreasureConfig(ddc_lexicon=str(other)), topics
    )
