"""What a crawl is built from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from treasure.config import TreasureConfig
from treasure.errors import ConfigError, TopicError
from treasure.given import pages_of
from treasure.workbench import build, given_pages, make_folder, make_judge, topics_of

STARS = "Telescopes show stars, planets and galaxies; comets orbit the sun beyond Neptune. "
CHEFS = "Bake the dough with butter, flour and sugar; simmer the sauce and season the soup. "
TOPICS = """
[[topic]]
name = "astronomy"
examples = ["stars.html"]
[[topic]]
name = "cooking"
examples = ["chefs.html"]
"""


def config(folder: Path, **others: object) -> TreasureConfig:
    settings = {"TREASURE_RUNS_DIR": str(folder / "runs"), "TREASURE_FRONTIER": "memory"}
    return TreasureConfig.read(settings | {f"TREASURE_{k.upper()}": v for k, v in others.items()})


def written(folder: Path, **pages: str) -> None:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(f"<title>{name}</title><p>{text * 5}</p>")


def test_examples_stay_with_the_topic_that_names_them(tmp_path: Path) -> None:
    written(tmp_path, stars=STARS, chefs=CHEFS, more=STARS)
    (tmp_path / "topics.toml").write_text(TOPICS)
    chosen = config(
        tmp_path, topic=str(tmp_path / "topics.toml"), examples=[str(tmp_path / "more.html")]
    )
    topics = topics_of(chosen)
    judge = make_judge(chosen, topics, *map(pages_of, given_pages(chosen, topics, None)))
    assert [len(texts) for texts in judge._examples] == [2, 1]


def test_a_topic_without_words_needs_examples(tmp_path: Path) -> None:
    written(tmp_path, code=CHEFS)
    seeds = ["http://a.example/"]
    with pytest.raises(ConfigError, match=r"The topic 'C\+\+' has no word to recognise pages by"):
        build(config(tmp_path, topic="C++"), seeds)
    bench = build(config(tmp_path, topic="C++", examples=[str(tmp_path / "code.html")]), seeds)
    bench.store.close()
    bench.frontier.close()


def test_a_topic_that_dewey_does_not_know_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "treasure.workbench")
    for topic in ("Schmetterlinge", "astronomy"):
        build(config(tmp_path, topic=topic), ["http://a.example/"]).close()
    assert "Dewey has no number for 'Schmetterlinge' that we know" in caplog.text
    assert "astronomy" not in caplog.text


def test_languages_are_codes(tmp_path: Path) -> None:
    chosen = config(tmp_path, topic="astronomy", topic_languages="EN, de")
    topics = topics_of(chosen)
    judge = make_judge(chosen, topics)
    assert judge.languages == {"en", "de"}
    with pytest.raises(TopicError, match="TREASURE_TOPIC_LANGUAGES must be codes .* 'english'"):
        make_judge(config(tmp_path, topic="astronomy", topic_languages="english"), topics)


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    make_folder(tmp_path / "runs" / "job")
    make_folder(tmp_path / "runs" / "job")
    assert list((tmp_path / "runs" / "job").iterdir()) == []


def test_the_folder_of_a_fleet_is_made_by_all_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(make_folder, [tmp_path / "runs"] * 400):
            pass
    assert list((tmp_path / "runs").iterdir()) == []


def test_where_we_may_not_write_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "job", tmp_path / "file", Path("/proc/runs/job")):
        with pytest.raises(ConfigError, match="cannot be written: .* TREASURE_RUNS_DIR"):
            make_folder(folder)


def test_a_host_clock_that_cannot_be_made_is_told_before_a_link_is_taken(tmp_path: Path) -> None:
    (tmp_path / "runs" / "hosts.clock").mkdir(parents=True)
    with pytest.raises(ConfigError, match="The host clock"):
        build(config(tmp_path, topic="astronomy"), ["https://a.example/"])
    assert not (tmp_path / "runs" / "treasure.db").exists()
