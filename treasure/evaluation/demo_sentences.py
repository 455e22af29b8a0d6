"""Prose for the demo web: sentences that really use the words of their subject.

A subject is a vocabulary with facts; a language has templates. Both are data (``data/``). What is
written depends on nothing but the random generator that is passed in.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

FACT_SHARE = 0.4
"""Share of sentences that are facts of the subject; the others are made from templates."""
LINK = "{link}"
"""Stands for an anchor in a sentence that ``Prose.related`` returns."""


@dataclass(frozen=True)
class Subject:
    """What pages can be about: a topic of the demo web, or something to be avoided."""

    key: str
    name: str
    ddc: str
    description: str
    language: str
    topic: str
    """Key of the topic whose pages these are; empty for what is no topic."""
    hosts: tuple[str, ...]
    sections: tuple[str, ...]
    subjects: tuple[str, ...]
    things: tuple[str, ...]
    who: tuple[str, ...]
    acts: tuple[str, ...]
    where: tuple[str, ...]
    adj: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Language:
    """How a language says things."""

    sentences: tuple[str, ...]
    aspects: tuple[str, ...]
    headings: tuple[str, ...]
    related: tuple[str, ...]
    lists: tuple[str, ...]
    home: str
    about: str
    contact: str
    next: str
    elsewhere: str
    index: str


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("data", name).read_text(encoding="utf-8"))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


@cache
def read_subjects() -> dict[str, Subject]:
    """Return all subjects by key, in the order of the file."""
    subjects = {}
    for key, row in _data("demo_subjects.toml").items():
        ddc = row.get("ddc", "")
        subjects[key] = Subject(
            key=key,
            name=row["name"],
            ddc=ddc,
            description=row.get("description", ""),
            language=row.get("language", "en"),
            topic=row.get("topic", key if ddc else ""),
            hosts=tuple(row["hosts"]),
            sections=tuple(row["sections"]),
            facts=tuple(row["facts"].strip().splitlines()),
            **{
                name: _parts(row[name])
                for name in ("subjects", "things", "who", "acts", "where", "adj")
            },
        )
    return subjects


@cache
def read_languages() -> dict[str, Language]:
    """Return the languages by their ISO 639-1 code."""
    languages = {}
    for code, row in _data("demo_templates.toml").items():
        texts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        languages[code] = Language(**texts)
    return languages


def titles(subject: Subject, random: Random) -> list[tuple[str, str]]:
    """Return every title about *subject* with what it is about, in a drawn order."""
    found = [
        (_capital(aspect.format(e=about, E=_capital(about))), about)
        for aspect in read_languages()[subject.language].aspects
        for about in subject.subjects
    ]
    random.shuffle(found)
    return found


class Prose:
    """Writes about one thing of a subject."""

    def __init__(self, subject: Subject, about: str, random: Random) -> None:
        self.subject = subject
        self.about = about
        self.language = read_languages()[subject.language]
        self._random = random
        self._facts = random.sample(subject.facts, len(subject.facts))
        self._sentences = random.sample(self.language.sentences, len(self.language.sentences))
        self._made = 0

    def sentence(self) -> str:
        """Return a sentence; no pattern comes twice before all have been used."""
        self._made += 1
        if self._facts and self._random.random() < FACT_SHARE:
            return self._filled(self._facts.pop())
        pattern = self._sentences[self._made % len(self._sentences)]
        return _capital(self._filled(pattern))

    def paragraph(self, words: int) -> list[str]:
        """Return sentences of about *words* words together."""
        sentences: list[str] = []
        while sum(len(sentence.split()) for sentence in sentences) < words:
            sentences.append(self.sentence())
        return sentences

    def heading(self) -> str:
        """Return a heading."""
        return _capital(self._filled(self._random.choice(self.language.headings)))

    def items(self, count: int) -> list[str]:
        """Return the entries of a list: things to do, things to have."""
        acts = self._random.sample(self.subject.acts, min(count, len(self.subject.acts)))
        return [_capital(act) for act in acts]

    def related(self) -> str:
        """Return a sentence with LINK where the name of another page belongs."""
        return self._random.choice(self.language.related)

    def _filled(self, pattern: str) -> str:
        draw, subject = self._random, self.subject
        things, acts = draw.sample(subject.things, 2), draw.sample(subject.acts, 2)
        words = {
            "e": self.about,
            "who": draw.choice(subject.who),
            "act": acts[0],
            "act2": acts[1],
            "where": draw.choice(subject.where),
            "adj": draw.choice(subject.adj),
            "things": things[0],
            "things2": things[1],
        }
        capitals = {name.capitalize(): _capital(word) for name, word in words.items()}
        return pattern.format(
            n=draw.randint(2, 90), year=draw.randint(1650, 2019), **words, **capitals
        )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
