"""``scrapy crawl treasure`` for a process of its own, exactly as a user would type it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def crawl_command(arguments: Mapping[str, object], *options: str) -> list[str]:
    """Return the command with spider *arguments* (``-a``) and further *options*."""
    given = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", "crawl", "treasure", *options, *given]


def crawl_environment() -> dict[str, str]:
    """Return our environment, with the settings that any folder finds our spider by."""
    return os.environ | {"SCRAPY_SETTINGS_MODULE": "treasure.settings"}
