"""Finding: what a check says, and the crawl that is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

OK, NOTE, WARNING, PROBLEM = "ok", "note", "warning", "problem"
"""A problem keeps a crawl from working, a warning from working well."""
DISTRIBUTION = "treasure-crawler"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found."""

    area: str
    level: str
    text: str
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the finding for programs."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """The crawl that is examined: settings as the project has them, topic and seeds if given."""

    settings: Mapping[str, Any]
    project: str
    """Name of the settings module; empty when there is no Scrapy project here."""
    topic: str = ""
    seeds: str = ""
