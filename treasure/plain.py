"""Plain values: anything made of dicts, lists, strings, bytes and numbers as JSON, and back.

Requests of somebody else's spider wait in the frontier as JSON. Their headers and bodies are bytes,
their meta may hold subclasses of ``str`` (lxml's, for one) and, at worst, objects that only this
process can hold: then ``plain`` raises TypeError.
"""

from __future__ import annotations

from typing import Any

_BYTES, _PAIRS = "$bytes", "$pairs"


def plain(value: Any) -> Any:
    """Return *value* as JSON can hold it; tuples become lists."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return {_BYTES: value.decode("latin-1")}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {str(key): plain(item) for key, item in value.items()}
        return {_PAIRS: [[plain(key), plain(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value).__name__} is no plain value")


def restored(value: Any) -> Any:
    """Return what ``plain`` was given."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return str(value[_BYTES]).encode("latin-1")
        if value.keys() == {_PAIRS}:
            return {restored(key): restored(item) for key, item in value[_PAIRS]}
        return {key: restored(item) for key, item in value.items()}
    return value


def plain_part(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return the items of *mapping* that ``plain`` can hold, as it holds them."""
    kept = {}
    for key, value in mapping.items():
        try:
            kept[str(key)] = plain(value)
        except TypeError:
            continue
    return kept
