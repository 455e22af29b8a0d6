"""What the user says -> topics.

``read_topics`` takes whatever ``-a topic=`` may hold: a Dewey number (520, 595.789), a name
("astronomy"), a topic file (TOML), or several of them with commas. A topic file:

    name = "Butterflies"
    description = "Butterflies of the world, their life and habitats."
    numbers = ["595.789"]              # left out: found from the name; []: there is none
    keywords = ["lepidoptera"]
    examples = ["https://example.org/monarch", "pages/swallowtail.html"]
    negatives = ["pages/butterfly-stroke.html"]
    languages = ["en"]

or several of them as ``[[topic]]`` tables. Relative paths of examples count from the file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from treasure.ddc.language import language_codes
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import NumberError, looks_like_number, normal, written
from treasure.ddc.topic_names import GUESS, WITHIN, TopicNames
from treasure.errors import TopicError, did_you_mean
from treasure.text import STOP, VOCABULARY, words
from treasure.topics import Topic

_LISTS = ("numbers", "keywords", "examples", "negatives", "languages")
_FIELDS = ("name", "description", *_LISTS)
_MISSPELT = 0.88
"""Likeness of a name that nobody knows to one that we know, from which on it is a mistake."""
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def read_topics(spec: str, lexicon: Lexicon | None = None) -> list[Topic]:
    """Return the topics that *spec* names: numbers, names and files ending in .toml."""
    lexicon = lexicon or Lexicon.load()
    whole = spec.strip()
    if whole.lower().endswith(".toml") and Path(whole).is_file():
        parts = [whole]  # its name may hold a comma
    else:
        parts = [part.strip() for part in spec.split(",") if part.strip()]
    if not parts:
        raise TopicError(
            "The topic is empty. Expected a Dewey number (520), a name (astronomy),"
            " a topic file (topic.toml), or several with commas."
        )
    names = TopicNames(lexicon)
    topics = [topic for part in dict.fromkeys(parts) for topic in _from_part(part, names)]
    return _apart(topics, whole)


def write_topic_file(path: Path, topic: Topic) -> Path:
    """Write *topic* as a file that ``read_topics`` understands the same; return *path*."""
    # JSON's strings and lists are TOML's as well.
    lines = [f"{name} = {json.dumps(getattr(topic, name), ensure_ascii=False)}" for name in _FIELDS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _from_part(part: str, names: TopicNames) -> list[Topic]:
    if part.lower().endswith(".toml"):
        return _from_file(Path(part), names)
    if Path(part).suffix and Path(part).is_file():
        raise TopicError(f"{part} is a file, but the name of a topic file ends in .toml.")
    return [_from_word(part, names)]


def _apart(topics: list[Topic], spec: str) -> list[Topic]:
    """Return *topics* once each, by names that tell them apart; raise TopicError if none do."""
    apart: dict[str, Topic] = {}
    for topic in topics:
        other = apart.get(topic.name.lower())
        if other is not None and topic == replace(other, name=topic.name, notes=topic.notes):
            continue  # 520 and astronomy
        if other is not None and topic.numbers and topic.numbers != other.numbers:
            # 595.7891 and 595.7892 are both named after the class above them.
            topic = replace(topic, name=f"{topic.name} {written(topic.numbers[0])}")
        elif other is not None:
            raise TopicError(f"{spec} has two topics named {topic.name!r}. Give each its own name.")
        apart[topic.name.lower()] = topic
    return list(apart.values())


def has_words(topic: Topic) -> bool:
    """Whether a topic says anything that a page could be recognised by: a number, or words."""
    return bool(topic.numbers) or any(VOCABULARY[word] != STOP for word in words(topic.text))


def _from_file(path: Path, names: TopicNames) -> list[Topic]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise TopicError(f"The topic file {path} is no TOML: {error}.") from None
    except UnicodeDecodeError:
        raise TopicError(f"The topic file {path} is not UTF-8 text.") from None
    except OSError as error:
        raise TopicError(f"The topic file {path} cannot be read: {error.strerror}.") from None
    tables = data.pop("topic", [data])
    if tables is not data and data and tables != [data]:
        raise TopicError(
            f"The topic file {path} mixes [[topic]] tables with {', '.join(data)} at the top."
        )
    if isinstance(tables, dict):
        tables = [tables]
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables) or not tables:
        raise TopicError(f'The topic file {path} holds no topic. Expected name = "..." at least.')
    return [_from_table(table, path, names) for table in tables]


def _from_word(word: str, names: TopicNames) -> Topic:
    if looks_like_number(word):
        return _from_number(word, names)
    numbers, notes = _numbers_of(word, names)
    near = names.near(word) if not numbers else []
    if near and near[0][1] >= _MISSPELT and not names.candidates(word):
        raise TopicError(
            f"There is no topic {word!r} in the lexicon. Did you mean {near[0][0]!r}? To crawl for"
            " the word itself, write a topic file with its name and keywords."
        )
    return Topic(name=word, numbers=numbers, notes=notes)


def _from_number(word: str, names: TopicNames) -> Topic:
    number = normal(word)
    name = names.lexicon.name(number)
    if not name:
        raise TopicError(
            f"The lexicon knows nothing of {word}. Give a topic file with name and keywords,"
            " or see 'treasure topic NAME' for numbers."
        )
    notes: tuple[str, ...] = ()
    if number not in names.lexicon:
        notes = (f"{written(number)} has no name of its own; named after the class above it.",)
    return Topic(name=name, numbers=(number,), notes=notes)


def _numbers_of(name: str, names: TopicNames) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the numbers that *name* means, and what to say of it."""
    candidates = names.candidates(name)
    by = "judged by its words, keywords and examples"
    if not has_words(Topic(name)):
        return (), (
            f"{name!r} has no word that tells anything: judged by keywords and examples alone.",
        )
    if not candidates:
        near = "".join(f" Did you mean {other!r}?" for other, _ in names.near(name)[:1])
        return (), (f"Dewey has no number for {name!r} that we know: {by} alone.{near}",)
    best = candidates[0]
    place = f"{written(best.number)} ({best.name})"
    if best.why == GUESS:
        return (), (
            f"{name!r} is no class or term of the lexicon: {by}. Nearest by its words: {place}.",
        )
    if best.why == WITHIN:
        return (), (
            f"Dewey has no number of its own for {name!r} that we know: {by}."
            f" It is one of many things in {place}.",
        )
    return (best.number,), ()


def _from_table(table: Mapping[str, Any], path: Path, names: TopicNames) -> Topic:
    _check_fields(table, path)
    lists = {key: tuple(text.strip() for text in table.get(key, ())) for key in _LISTS}
    try:
        numbers = tuple(normal(number) for number in lists["numbers"])
    except NumberError as error:
        raise TopicError(f"numbers in the topic file {path}: {error}") from None
    name = str(table.get("name", "")).strip()
    if not name and not numbers:
        raise TopicError(f"The topic file {path} has a topic without name and numbers.")
    notes: tuple[str, ...] = ()
    if not name:
        name = names.lexicon.name(numbers[0]) or written(numbers[0])
    elif "numbers" not in table:
        numbers, notes = _numbers_of(name, names)
    return Topic(
        name=name,
        description=" ".join(str(table.get("description", "")).split()),
        numbers=numbers,
        keywords=lists["keywords"],
        examples=tuple(_located(example, path) for example in lists["examples"]),
        negatives=tuple(_located(example, path) for example in lists["negatives"]),
        languages=language_codes(lists["languages"], f"languages in the topic file {path}"),
        notes=notes,
    )


def _check_fields(table: Mapping[str, Any], path: Path) -> None:
    for key, value in table.items():
        if key not in _FIELDS:
            raise TopicError(
                f"The topic file {path} has an unknown field {key!r}."
                f"{did_you_mean(key, _FIELDS)} Expected {', '.join(_FIELDS)}."
            )
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                raise TopicError(
                    f"{key} in the topic file {path} must be a list of strings,"
                    f' such as ["one", "two"]. Got {value!r} instead.'
                )
            if not all(text.strip() for text in value):
                raise TopicError(f"{key} in the topic file {path} holds an empty string.")
        elif not isinstance(value, str):
            raise TopicError(
                f"{key} in the topic file {path} must be a string. Got {value!r} instead."
            )


def _located(example: str, path: Path) -> str:
    """Return a URL as it is and a file as seen from the topic file's folder."""
    return example if _URL.match(example) else str(path.parent / example)
