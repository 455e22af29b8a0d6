from __future__ import annotations

import pytest

from treasure.config import TreasureConfig
from treasure.contact import check_contact, with_contact
from treasure.errors import ConfigError

LIVE = ["https://example.org/"]
LOCAL = ["http://127.0.0.1:8000/", "http://localhost/"]


def config(**values: object) -> TreasureConfig:
    return TreasureConfig.read({f"TREASURE_{k.upper()}": v for k, v in values.items()})


@pytest.mark.parametrize(
    ("agent", "settings", "seeds"),
    [
        ("treasure/1", {"contact": "https://example.org/bot"}, LIVE),
        ("treasure/1", {"contact": "bot@example.org"}, LIVE),
        ("treasure/1", {"contact": "mailto:bot@example.org"}, LIVE),
        ("ours/2 (+https://ours.example.org)", {}, LIVE),
        ("ours/2 (webmaster@ours.example.org)", {}, LIVE),
        ("treasure/1", {"web": "web.warc.gz"}, LIVE),
        ("treasure/1", {"allowed_networks": "127.0.0.0/8,::1"}, LOCAL),
    ],
)
def test_these_may_start(agent: str, settings: dict[str, object], seeds: list[str]) -> None:
    check_contact(agent, config(**settings), seeds)


@pytest.mark.parametrize(
    ("settings", "seeds", "message"),
    [
        ({}, LIVE, "-a contact="),
        ({}, LOCAL, "-a contact="),
        ({}, [], "-a contact="),
        ({"allowed_networks": "10.0.0.0/8"}, LOCAL, "-a contact="),
        ({"allowed_networks": "127.0.0.0/8,::1"}, [*LOCAL, "http://192.0.2.1/"], "-a contact="),
        ({"contact": "ask me"}, LIVE, "must be a URL or a mail address"),
        ({"contact": "http://nodot"}, LIVE, "must be a URL or a mail address"),
    ],
)
def test_these_may_not(settings: dict[str, object], seeds: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_contact("treasure/1", config(**settings), seeds)


def test_the_user_agent() -> None:
    assert with_contact("treasure/1", "bot@example.org") == "treasure/1 (+bot@example.org)"
    assert with_contact("x (+bot@example.org)", "bot@example.org") == "x (+bot@example.org)"
    assert with_contact("treasure/1", "") == "treasure/1"
