"""Settings: read once, checked at once, with helpful complaints."""

import subprocess
import sys
from pathlib import Path

import pytest

from treasure.config import TreasureConfig
from treasure.errors import ConfigError

ROOT = Path(__file__).parents[1]


def test_defaults_are_within_their_own_bounds():
    defaults = TreasureConfig()
    settings = {
        name: getattr(defaults, field.name) for name, field in TreasureConfig.names().items()
    }
    assert TreasureConfig.read(settings) == defaults


def test_values_of_the_command_line_are_strings():
    config = TreasureConfig.read(
        {
            "TREASURE_MAX_PAGES": "12",
            "TREASURE_TOPIC_THRESHOLD": "0.7",
            "TREASURE_PROGRESS": "no",
            "TREASURE_BLOCKED": "a.test, .b.test",
            "TREASURE_STRATEGY_OPTIONS": '{"decay": 0.5}',
            "DOWNLOAD_DELAY": 3,
        }
    )
    assert config.max_pages == 12
    assert config.topic_threshold == 0.7
    assert config.progress is False
    assert config.blocked == ["a.test", ".b.test"]
    assert config.strategy_options == {"decay": 0.5}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("TREASURE_TOPIC_THRESHOLD", 3, "must be between 0 and 1. Got 3 instead."),
        ("TREASURE_TOPIC_THRESHOLD", "nan", "must be a number. Got 'nan' instead."),
        ("TREASURE_MAX_PAGES", "many", "must be a whole number. Got 'many' instead."),
        ("TREASURE_MAX_PAGES", -1, "must be at least 0. Got -1 instead."),
        ("TREASURE_PROGRESS", "maybe", "must be true or false. Got 'maybe' instead."),
        ("TREASURE_TOPIC_UNSURE", "dorp", "must be one of drop, keep. Got 'dorp' instead."),
        ("TREASURE_STRATEGY_OPTIONS", "{", "must be a JSON object. Got '{' instead."),
    ],
)
def test_wrong_values_are_named(name, value, message):
    with pytest.raises(ConfigError) as caught:
        TreasureConfig.read({name: value})
    assert f"{name} {message}" in str(caught.value)


def test_a_misspelt_name_gets_the_nearest_one():
    with pytest.raises(ConfigError, match="Did you mean 'TREASURE_TOPIC_THRESHOLD'"):
        TreasureConfig.read({"TREASURE_TOPIC_TRESHOLD": 0.4})


def test_settings_page_is_current():
    page = subprocess.run(
        [sys.executable, "tools/settings_page.py"],
        cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8",
    ).stdout  # fmt: skip
    written = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert written == page, "docs/settings.md is out of date: run `make docs`"
