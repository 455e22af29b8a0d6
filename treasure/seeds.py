"""Seeds: the addresses a crawl starts from, from a file or a comma list."""

from __future__ import annotations

from pathlib import Path

from treasure.errors import ConfigError
from treasure.urls import canonical


def read_seeds(spec: str) -> list[str]:
    """Return the canonical seed URLs of *spec*: a comma list of URLs, or a file with one a line.

    Empty lines and lines that start with ``#`` are passed over.
    """
    spec = spec.strip()
    if "://" in spec.split(",")[0]:
        parts = [(f"seed {number}", part) for number, part in enumerate(spec.split(","), 1)]
    else:
        parts = [(f"line {number} of {spec}", line) for number, line in _lines(spec)]
    seeds = dict.fromkeys(_seed(place, part.strip()) for place, part in parts if part.strip())
    if not seeds:
        raise ConfigError(f"There is no seed in {spec!r}. Expected at least one URL.")
    return list(seeds)


def _lines(name: str) -> list[tuple[int, str]]:
    try:
        content = Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"The seeds file {name!r} cannot be read: {error.strerror}."
            " Give a file with one URL a line, or a comma list of URLs."
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"The seeds file {name!r} is not UTF-8 text.") from None
    lines = enumerate(content.splitlines(), 1)
    return [(number, line) for number, line in lines if not line.lstrip().startswith("#")]


def _seed(place: str, url: str) -> str:
    seed = canonical(url) if url.lower().startswith(("http://", "https://")) else ""
    if not seed:
        raise ConfigError(
            f"The seed {url!r} ({place}) is no URL. Expected http:// or https:// and a host."
        )
    return seed
