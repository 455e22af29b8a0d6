"""Options of strategies, checked: they come as JSON from settings and command lines."""

from __future__ import annotations

from typing import Any

from treasure.errors import ConfigError


def number(option: str, value: Any, low: float, high: float) -> float:
    """Return *value* if it is a number from *low* to *high*."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not known or not low <= value <= high:
        raise ConfigError(
            f"The strategy's option {option!r} must be a number from {low} to {high}."
            f" Got {value!r} instead."
        )
    return float(value)


def whole(option: str, value: Any, low: int, high: int) -> int:
    """Return *value* if it is a whole number from *low* to *high*."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ConfigError(
            f"The strategy's option {option!r} must be a whole number from {low} to {high}."
            f" Got {value!r} instead."
        )
    return value
