from __future__ import annotations

from typing import Any

import pytest

from tests.strategies.small_web import brief
from treasure.errors import ConfigError
from treasure.strategies import make_strategy
from treasure.strategies.options import number, whole


def test_what_fits_is_returned() -> None:
    assert number("gamma", 1, 0, 1) == 1.0
    assert whole("layers", 3, 1, 10) == 3


@pytest.mark.parametrize("value", [-0.1, 1.1, "0.5", None, True, float("nan")])
def test_numbers_that_do_not_fit(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"'gamma' must be a number from 0 to 1. Got "):
        number("gamma", value, 0, 1)


@pytest.mark.parametrize("value", [0, 11, 2.0, "3", None, True])
def test_whole_numbers_that_do_not_fit(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"'layers' must be a whole number from 1 to 10. Got "):
        whole("layers", value, 1, 10)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("shark-search", {"gamma": 7}),
        ("shark-search", {"delta": -1}),
        ("shark-search", {"beta": "much"}),
        ("context-graph", {"layers": 0}),
        ("context-graph", {"confidence": 2}),
        ("pal", {"max_level": -1}),
        ("pal", {"table_size": 0}),
        ("ache", {"learning_limit": 0}),
        ("q-learning", {"gamma": 2}),
        ("q-learning", {"rate": -1}),
        ("q-learning", {"epsilon": 20}),
        ("q-learning", {"temperature": 0}),
        ("q-learning", {"replays": 0.5}),
        ("best-first", {"several": "worst"}),
    ],
)
def test_strategies_check_their_options(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"'{next(iter(options))}' must be"):
        make_strategy(name, brief(options=options))
