"""Topic: what a crawl is about, whoever said it and however."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as understood: from a number, a name, or a topic file."""

    name: str
    description: str = ""
    numbers: tuple[str, ...] = ()
    """D-numbers (as ``ddc.numbers.normal`` writes them) that count as on topic, with all below."""
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """URLs or files of pages on topic."""
    negatives: tuple[str, ...] = ()
    """URLs or files of pages that look alike and are off topic."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes; empty means any."""
    notes: tuple[str, ...] = ()
    """What the user should know of how this was understood."""

    @property
    def text(self) -> str:
        """The topic in words: name three times, keywords, description (ALGORITHMS 6.1)."""
        return " ".join([self.name] * 3 + list(self.keywords) + [self.description])


def merge(topics: Sequence[Topic]) -> Topic:
    """Return one topic that stands for several, for whoever can only follow one."""
    if len(topics) == 1:
        return topics[0]

    def union(field: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for topic in topics for value in getattr(topic, field)))

    return Topic(
        name=", ".join(topic.name for topic in topics),
        description=" ".join(topic.description for topic in topics),
        numbers=union("numbers"),
        keywords=union("keywords"),
        examples=union("examples"),
        negatives=union("negatives"),
        languages=union("languages"),
        notes=union("notes"),
    )
