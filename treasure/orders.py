"""Orders: what a running crawl can be told, as people write it.

An order is a command with a payload, kept in the repository with its time and author. Here it is
read and checked, before anything is stored; ``steering`` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from treasure.admission import Admission
from treasure.errors import ConfigError, UserError, did_you_mean
from treasure.seeds import read_seeds
from treasure.speed import parse_rate
from treasure.urls import canonical

COMMANDS = {
    "pause": "take no more links until resumed",
    "resume": "go on after a pause",
    "stop": "finish what is being fetched, then end",
    "checkpoint": "write everything to disk now",
    "speed": "change the ceiling: 2/s, 30/min, full; bytes as 500kB/s",
    "block": "never fetch a host, .domain or URL pattern; queued links leave at once",
    "unblock": "take a block back",
    "seeds": "add seeds: URLs or a file of them",
    "relabel": "say that a page is on or off topic, and let the crawl learn it",
    "threshold": "change the least relevance of pages we keep",
    "undo": "take a change of the T-Graph back, by its number in the journal",
}
STANDING = frozenset({"pause", "resume", "speed", "block", "unblock", "relabel", "threshold"})
"""Orders that hold after a restart."""
_BYTES = {"b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6}


class OrderError(UserError):
    """An order that makes no sense."""


def payload_of(command: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the payload of an order as it is written; raise OrderError for what makes no sense."""
    if command not in COMMANDS:
        raise OrderError(
            f"There is no order {command!r}.{did_you_mean(command, COMMANDS)}"
            f" Known: {', '.join(COMMANDS)}."
        )
    reader = _PAYLOADS.get(command)
    if reader is None:
        if words:
            raise OrderError(f"{command!r} takes no argument. Got {words[0]!r}.")
        return {}
    if not words:
        raise OrderError(f"{command!r} needs an argument: {COMMANDS[command]}.")
    return reader(words)


def _rate_payload(words: Sequence[str]) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for word in words:
        text = word.lower()
        unit = next((unit for unit in sorted(_BYTES, key=len)[::-1] if text.endswith(unit)), None)
        try:
            if unit is not None:
                number = float(text.removesuffix(unit))
                if not 0 < number < inf:
                    raise ValueError
                payload["bytes_per_second"] = number * _BYTES[unit]
                continue
            rate = parse_rate(text)
        except ValueError:
            raise OrderError(
                f"{word!r} is no speed; expected such as 2/s, 30/min, 500kB/s or full."
            ) from None
        if rate == 0:
            raise OrderError("To stop for a while, use `pause`.")
        payload["pages_per_second"] = "full" if rate == inf else rate
    return payload


def _rules_payload(words: Sequence[str]) -> dict[str, Any]:
    for word in words:
        try:
            Admission(blocked=[word])
        except ConfigError as error:
            raise OrderError(str(error)) from None
        if any(character.isspace() for character in word):
            raise OrderError(
                f"{word!r} is no host, domain or pattern; expected such as example.org,"
                " .example.org or */login*."
            )
    return {"rules": list(words)}


def _seeds_payload(words: Sequence[str]) -> dict[str, Any]:
    return {"urls": [url for word in words for url in read_seeds(word)]}


def _label_payload(words: Sequence[str]) -> dict[str, Any]:
    url = canonical(words[0])
    if len(words) != 2 or not url or words[1] not in ("on", "off"):
        raise OrderError("'relabel' needs a URL and then on or off.")
    return {"url": url, "on_topic": words[1] == "on"}


def _threshold_payload(words: Sequence[str]) -> dict[str, Any]:
    try:
        threshold = float(words[0])
    except ValueError:
        threshold = -1.0
    if len(words) != 1 or not 0 <= threshold <= 1:
        raise OrderError(f"A threshold is a number between 0 and 1. Got {words[0]!r} instead.")
    return {"threshold": threshold}


def _change_payload(words: Sequence[str]) -> dict[str, Any]:
    if len(words) > 2 or not all(word.isdecimal() and len(word) < 19 for word in words):
        raise OrderError("'undo' needs the number of a change, and may name its node.")
    return dict(zip(("change", "node"), map(int, words), strict=False))


_PAYLOADS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "speed": _rate_payload,
    "block": _rules_payload,
    "unblock": _rules_payload,
    "seeds": _seeds_payload,
    "relabel": _label_payload,
    "threshold": _threshold_payload,
    "undo": _change_payload,
}
