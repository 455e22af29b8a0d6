"""``NAME=VALUE`` on the command line: settings, as Scrapy's own commands take them, and options."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from treasure.errors import ConfigError


def add_settings(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Declare ``-s``, which may be given several times."""
    parser.add_argument(
        "-s",
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=help_text,
    )


def read(pairs: Iterable[str], option: str = "-s") -> dict[str, str]:
    """Return what *pairs* assign; raise ConfigError for one that assigns nothing."""
    assigned = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"{option} must be NAME=VALUE. Got {pair!r} instead.")
        assigned[name.strip()] = value
    return assigned
