from __future__ import annotations

import pytest

from treasure.errors import UserError
from treasure.orders import COMMANDS, STANDING, payload_of


@pytest.mark.parametrize(
    ("words", "payload"),
    [
        ("pause", {}),
        ("speed 2/s", {"pages_per_second": 2.0}),
        ("speed full", {"pages_per_second": "full"}),
        ("speed 30/min 500kB/s", {"pages_per_second": 0.5, "bytes_per_second": 500_000.0}),
        ("block example.org */login*", {"rules": ["example.org", "*/login*"]}),
        ("seeds HTTP://Example.org", {"urls": ["http://example.org/"]}),
        (
            "seeds http://a.org/,http://b.org/ http://c.org/",
            {"urls": ["http://a.org/", "http://b.org/", "http://c.org/"]},
        ),
        ("relabel http://a.org/x off", {"url": "http://a.org/x", "on_topic": False}),
        ("threshold 0.7", {"threshold": 0.7}),
        ("undo 12", {"change": 12}),
        ("undo 12 345", {"change": 12, "node": 345}),
    ],
)
def test_orders_as_they_are_written(words: str, payload: dict[str, object]) -> None:
    command, *arguments = words.split()
    assert payload_of(command, arguments) == payload


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paus"], "Did you mean 'pause'"),
        (["pause", "now"], "takes no argument"),
        (["speed"], "needs an argument"),
        (["speed", "fast"], "no speed"),
        (["speed", "stop"], "pause"),
        (["speed", "nankB/s"], "no speed"),
        (["speed", "infkB/s"], "no speed"),
        (["speed", "-5kB/s"], "no speed"),
        (["speed", "0MB/s"], "no speed"),
        (["block", "two words"], "no host, domain or pattern"),
        (["block", ""], "empty"),
        (["block", "["], "no host, domain or pattern"),
        (["block", "."], "no host, domain or pattern"),
        (["unblock", "..org"], "no host, domain or pattern"),
        (["seeds", "no-such-file"], "cannot be read"),
        (["seeds", "http://"], "no URL"),
        (["relabel", "http://a.org/"], "on or off"),
        (["relabel", "http://a.org/", "maybe"], "on or off"),
        (["relabel", "", "on"], "on or off"),
        (["relabel", "seeds.txt", "on"], "on or off"),
        (["threshold", "7"], "between 0 and 1"),
        (["threshold", "nan"], "between 0 and 1"),
        (["threshold", "x"], "between 0 and 1"),
        (["undo", "-1"], "number of a change"),
        (["undo", "1", "2", "3"], "number of a change"),
    ],
)
def test_what_makes_no_sense_is_named(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        payload_of(words[0], words[1:])


def test_every_standing_order_exists() -> None:
    assert set(COMMANDS) >= STANDING
