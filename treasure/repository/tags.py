"""Tags: what a page can be filtered by, as words of the text index.

``site:example.org star`` then is one look into the index like any other two words, however many
pages have a star. A tag is a hash: no page can write one into its text by chance, and the stemmer
finds nothing to cut, since it ends in a digit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

TIERS = 20
"""Steps of relevance, so that a query that fits too many pages can look at the best only."""
LEAST_SHARE = 0.1
"""A D-number counts as one of the page's when it has this share of its galaxy; the first always."""


def tag(field: str, value: str) -> str:
    """Return the word that stands for *field* being *value*."""
    plain = f"{field}:{value.strip().casefold()}".encode("utf-8", "replace")
    return "zq" + hashlib.blake2b(plain, digest_size=7).hexdigest() + "0"


def tags_of(
    *,
    job: str,
    host: str,
    topic: str,
    language: str,
    relevance: float,
    numbers: Sequence[tuple[str, float]],
) -> str:
    """Return all tags of a page."""
    found = [tag("job", job), tag("tier", str(tier(relevance)))]
    found += [tag("site", site) for site in _sites(host)]
    found += [tag("number", start) for start in _prefixes(numbers)]
    if topic:
        found.append(tag("topic", topic))
    if language:
        found.append(tag("lang", language))
    return " ".join(found)


def tier(relevance: float) -> int:
    """Return the step of *relevance*, 0 to TIERS - 1."""
    return min(TIERS - 1, max(0, int(relevance * TIERS)))


def _sites(host: str) -> Iterable[str]:
    """Return the host, with and without its port, and every domain it lies in."""
    name = host.partition(":")[0]
    labels = name.split(".")
    return {host, *(".".join(labels[i:]) for i in range(len(labels)))} - {""}


def _prefixes(numbers: Sequence[tuple[str, float]]) -> set[str]:
    main = [number for i, (number, share) in enumerate(numbers) if i == 0 or share >= LEAST_SHARE]
    return {number[:length].rstrip(".") for number in main for length in range(1, len(number) + 1)}
