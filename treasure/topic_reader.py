"""What the user says -> topics.

``read_topics`` takes whatever ``-a topic=`` may hold: a Dewey number (520, 595.789), a name
("astronomy"), several of them with commas, or a topic file (TOML). A topic file:

    name = "Butterflies"
    description = "Butterflies of the world, their life and habitats."
    numbers = ["595.789"]              # may be left out: then found from the name
    keywords = ["lepidoptera"]
    examples = ["https://example.org/monarch", "pages/swallowtail.html"]
    negatives = ["pages/butterfly-stroke.html"]
    languages = ["en"]

or several of them as ``[[topic]]`` tables. Relative paths of examples count from the file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import looks_like_number, normal, written
from treasure.ddc.topic_names import GUESS, TopicNames
from treasure.errors import TopicError, did_you_mean
from treasure.topics import Topic

_LISTS = ("numbers", "keywords", "examples", "negatives", "languages")
_FIELDS = ("name", "description", *_LISTS)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def read_topics(spec: str, lexicon: Lexicon | None = None) -> list[Topic]:
    """Return the topics that *spec* names: number, name, comma list, or a file ending in .toml."""
    lexicon = lexicon or Lexicon.load()
    spec = spec.strip()
    if spec.lower().endswith(".toml"):
        return read_topic_file(Path(spec), lexicon)
    parts = [part.strip() for part in spec.split(",") if part.strip()]
    if not parts:
        raise TopicError(
            "The topic is empty. Expected a Dewey number (520), a name (astronomy),"
            " several with commas, or a topic file (topic.toml)."
        )
    names = TopicNames(lexicon)
    return [_from_word(part, names) for part in dict.fromkeys(parts)]


def read_topic_file(path: Path, lexicon: Lexicon | None = None) -> list[Topic]:
    """Return the topics of a TOML file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
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
    names = TopicNames(lexicon or Lexicon.load())
    return [_from_table(table, path, names) for table in tables]


def _from_word(word: str, names: TopicNames) -> Topic:
    if looks_like_number(word):
        return _from_number(word, names)
    numbers, notes = _numbers_of(word, names)
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
    candidates = names.candidates(name)
    if not candidates:
        return (), (
            f"Dewey has no number for {name!r} that we know: judged by its words,"
            " keywords and examples alone.",
        )
    best = candidates[0]
    if best.why == GUESS:
        return (), (
            f"{name!r} is no class or term of the lexicon: judged by its words, keywords and"
            f" examples. Nearest by its words: {written(best.number)} ({best.name}).",
        )
    return (best.number,), ()


def _from_table(table: Mapping[str, Any], path: Path, names: TopicNames) -> Topic:
    _check_fields(table, path)
    lists = {key: tuple(table.get(key, ())) for key in _LISTS}
    numbers = tuple(normal(number) for number in lists["numbers"])
    name = str(table.get("name", "")).strip()
    if not name and not numbers:
        raise TopicError(f"The topic file {path} has a topic without name and numbers.")
    notes: tuple[str, ...] = ()
    if not name:
        name = names.lexicon.name(numbers[0]) or written(numbers[0])
    elif not numbers:
        numbers, notes = _numbers_of(name, names)
    return Topic(
        name=name,
        description=" ".join(str(table.get("description", "")).split()),
        numbers=numbers,
        keywords=lists["keywords"],
        examples=tuple(_located(example, path) for example in lists["examples"]),
        negatives=tuple(_located(example, path) for example in lists["negatives"]),
        languages=tuple(language.lower() for language in lists["languages"]),
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
        elif not isinstance(value, str):
            raise TopicError(f"{key} in the topic file {path} must be a string. Got {value!r}.")


def _located(example: str, path: Path) -> str:
    """Return a URL as it is and a file as seen from the topic file's folder."""
    return example if _URL.match(example) else str(path.parent / example)
