"""``treasure doctor`` says what would go wrong, in plain words."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from treasure.checkup import examine
from treasure.checkup.findings import Plan
from treasure.checkup.seeds import check_seeds
from treasure.cli import main
from treasure.config import TreasureConfig

ADDONS = {"ADDONS": {"treasure.addon.TreasureAddon": 500}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder, with our own settings as the project's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "treasure.settings")
    return tmp_path


def levels(findings, area):
    return {finding.level for finding in findings if finding.area == area}


def words(findings, area):
    found = [f"{finding.text} {finding.advice}" for finding in findings if finding.area == area]
    return " ".join(found)


def test_a_good_plan_is_ready(home, demo_folder, demo_topics, capsys):
    web = str(demo_folder / "web.warc.gz")
    seeds = ",".join(demo_topics["astronomy"].seeds)
    line = ["doctor", "--topic", "astronomy", "--seeds", seeds, "--web", web, "--json"]
    assert main(line) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["problems"] == 0
    areas = {finding["area"] for finding in answer["findings"]}
    assert areas >= {"python", "packages", "disk", "settings", "database", "lexicon", "seeds"}
    assert list(home.iterdir()) == []


def test_few_seeds_on_one_host(home, capsys):
    seeds = "http://127.0.0.1/a,http://127.0.0.1/b,http://127.0.0.1/c"
    assert main(["doctor", "--seeds", seeds]) == 1
    shown = capsys.readouterr().out
    assert "3 seeds on one host are few, because" in shown
    assert "private addresses" in shown
    allowed = ["-s", "TREASURE_ALLOWED_NETWORKS=127.0.0.0/8"]
    assert main(["doctor", "--seeds", seeds, *allowed]) == 0


@pytest.fixture
def no_names(monkeypatch):
    """No name can be resolved, and no proxy is set."""

    def unknown(*_, **__):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_hosts_that_nobody_knows(no_names):
    found = list(check_seeds("http://a.example/,http://b.example/", TreasureConfig()))
    assert "problem" in levels(found, "seeds")
    assert "no network or no name server" in words(found, "seeds")


def test_a_proxy_resolves_the_names_that_go_through_it(no_names, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    far = "http://one.example/,http://two.example/,http://three.example/"
    found = list(check_seeds(far, TreasureConfig()))
    assert levels(found, "seeds") == {"ok"}
    assert "3 of 3 hosts are left to the proxy" in words(found, "seeds")
    near = "http://near.example/,https://secure.example/"
    some = list(check_seeds(f"{far},{near}", TreasureConfig()))
    assert "2 of 5 hosts cannot be resolved: near.example, secure.example" in words(some, "seeds")


def test_seeds_that_the_web_does_not_have(demo_folder):
    config = TreasureConfig(web=str(demo_folder / "web.warc.gz"))
    some = list(check_seeds("http://directory.example/,http://none.example/", config))
    none = list(check_seeds("http://none.example/", config))
    assert "1 of them are not in" in words(some, "seeds")
    assert levels(some, "seeds") == {"warning"}
    assert "problem" in levels(none, "seeds")


def test_every_wrong_setting_is_named(home):
    settings = {**ADDONS, "TREASURE_TOPIC_TRESHOLD": 1, "TREASURE_MAX_PAGES": -5}
    found = examine(Plan(settings, "theirs.settings"))
    assert "Did you mean 'TREASURE_TOPIC_THRESHOLD'?" in words(found, "settings")
    assert "TREASURE_MAX_PAGES must be at least 0" in words(found, "settings")


def test_a_project_without_us(home):
    assert "TreasureAddon" in words(examine(Plan({}, "theirs.settings")), "project")
    assert "no scrapy.cfg" in words(examine(Plan({}, "")), "project")


def test_unknown_topic_strategy_lexicon_and_seeds_file(home):
    settings = {**ADDONS, "TREASURE_STRATEGY": "best-frist", "TREASURE_DDC_LEXICON": "none.bin"}
    found = examine(Plan(settings, "x", topic="none.toml", seeds="none.txt"))
    assert "Did you mean 'best-first'?" in words(found, "settings")
    for area in ("lexicon", "topic", "seeds"):
        assert levels(found, area) == {"problem"}


@pytest.mark.parametrize(
    ("repository", "level"),
    [
        ("sqlite:///new.db", "ok"),
        ("sqlite:///notes.txt/x.db", "problem"),
        ("mysql://a/b", "problem"),
        ("postgresql://nobody@127.0.0.1:1/none", "problem"),
    ],
)
def test_databases(home, repository, level):
    (home / "notes.txt").write_text("no folder")
    found = examine(Plan({**ADDONS, "TREASURE_REPOSITORY": repository}, "x"))
    assert level in levels(found, "database")
    assert not Path("new.db").exists()


def test_a_database_in_use_is_left_as_it_was(home):
    from treasure.repository.store import Store

    store = Store.open("sqlite:///pages.db")
    found = examine(Plan({**ADDONS, "TREASURE_REPOSITORY": "sqlite:///pages.db"}, "x"))
    assert levels(found, "database") == {"ok"}
    assert store.events("doctor") == []
    store.close()


def test_frontiers(home):
    for frontier, level in (("memory", "warning"), ("redis://127.0.0.1:1/0", "problem")):
        found = examine(Plan({**ADDONS, "TREASURE_FRONTIER": frontier}, "x"))
        assert levels(found, "frontier") == {level}


@pytest.mark.parametrize(("compiled", "level"), [(True, "ok"), (False, "note")])
def test_it_tells_whether_the_core_is_compiled(home, monkeypatch, compiled, level):
    monkeypatch.setattr("treasure.core.COMPILED", compiled)
    findings = examine(Plan({}, "", "", ""))
    assert levels(findings, "core") == {level}
    assert ("python3-dev" in words(findings, "core")) != compiled
