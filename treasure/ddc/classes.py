"""The lexicon as people write it: text files, one class a line.

    number | our short name | term; term; term

A number may stand in several lines and a term under several numbers ("clothing": 155.95, 391 and
746.92). Lines that start with ``#`` are remarks. Whatever is wrong is named with file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treasure.ddc.numbers import NumberError, digits, normal, written
from treasure.errors import LexiconError
from treasure.text import STOP, STOP_WORDS, VOCABULARY, words

MAX_TERM_WORDS = 8


@dataclass(frozen=True, slots=True)
class DeweyClass:
    """One class: its D-number (normal form), our name for it, and the terms that point to it."""

    number: str
    name: str
    terms: tuple[str, ...]
    origin: str = ""
    """File and line."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a reviewer should look at."""

    origin: str
    message: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"


def read_folder(folder: Path) -> list[DeweyClass]:
    """Return the classes of all files in *folder*/classes."""
    files = sorted((folder / "classes").glob("*.txt"))
    if not files:
        raise LexiconError(
            f"There is no lexicon text in {folder}/classes. Expected files such as 5xx.txt;"
            " give the folder of a checkout with --source."
        )
    return [entry for path in files for entry in read_file(path)]


def read_file(path: Path) -> list[DeweyClass]:
    """Return the classes of one file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise LexiconError(f"{path} is not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise LexiconError(f"{path} cannot be read: {error.strerror}.") from None
    return list(parse(lines, str(path)))


def parse(lines: Iterable[str], source: str) -> Iterator[DeweyClass]:
    """Return the classes of *lines*; *source* is what an error message calls them."""
    for count, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        origin = f"{source}:{count}"
        parts = line.split("|")
        if len(parts) != 3:
            raise LexiconError(
                f"{origin}: expected 'number | name | term; term'."
                f" Got {len(parts)} part{'s' * (len(parts) != 1)} in {line[:60]!r}."
            )
        try:
            number = normal(parts[0])
        except NumberError as error:
            raise LexiconError(f"{origin}: {error}") from None
        name = " ".join(parts[1].split())
        if not name:
            raise LexiconError(f"{origin}: class {parts[0].strip()} has no name.")
        terms = tuple(dict.fromkeys(" ".join(term.split()) for term in parts[2].split(";")))
        yield DeweyClass(number, name, tuple(term for term in terms if term), origin)


def stems_of(term: str) -> tuple[str, ...]:
    """Return the stems by which *term* is found in a text; empty when it never is.

    Stop words inside a phrase are skipped, here and in the text. A term that is left with one
    word after losing a digit or a single letter ("x-ray", "catch 22") would match that bare word
    everywhere, so it counts as not findable.
    """
    parts = words(term)
    ids = [VOCABULARY[word] for word in parts]
    kept = tuple(VOCABULARY.stem(number) for number in ids if number != STOP)
    lost = any(
        number == STOP and (word.isdigit() or (len(word) == 1 and word not in STOP_WORDS))
        for word, number in zip(parts, ids, strict=True)
    )
    if len(kept) > MAX_TERM_WORDS or (lost and len(kept) < 2):
        return ()
    return kept


def problems(classes: Sequence[DeweyClass]) -> Iterator[Problem]:
    """Return what a reviewer should look at: terms that cannot be found, or stand twice."""
    for entry in classes:
        found: dict[tuple[str, ...], str] = {}
        for term in entry.terms:
            stems = stems_of(term)
            if not stems:
                yield Problem(entry.origin, f"{term!r} can never match: it has no words we keep.")
            elif stems in found:
                yield Problem(entry.origin, f"{term!r} has the same stems as {found[stems]!r}.")
            found.setdefault(stems, term)


def add_terms(folder: Path, number: str, terms: Sequence[str], name: str = "") -> tuple[Path, bool]:
    """Write *terms* into the line of *number*; return the file, and whether the line is new.

    A new line needs a *name* and is put where its number belongs.
    """
    wanted = normal(number)
    path = folder / "classes" / f"{wanted[0]}xx.txt"
    entries = {entry.number: entry for entry in read_file(path)}
    known = {stems_of(term) for term in entries[wanted].terms} if wanted in entries else set()
    fresh: dict[tuple[str, ...], str] = {}
    for term in terms:
        if any(mark in term for mark in "|;\n"):
            raise LexiconError(f"A term must not hold '|', ';' or a line break. Got {term!r}.")
        if not stems_of(term):
            raise LexiconError(f"{term!r} can never match: it has no words we keep.")
        fresh.setdefault(stems_of(term), " ".join(term.split()))
    added = [term for stems, term in fresh.items() if stems not in known]
    lines = path.read_text(encoding="utf-8").splitlines()
    if wanted in entries:
        at = int(entries[wanted].origin.rpartition(":")[2]) - 1
        lines[at] = "; ".join([lines[at].rstrip().rstrip(";"), *added])
    elif not name:
        raise LexiconError(f"{number} has no line yet. Give the class a short name with --name.")
    else:
        after = [
            int(entry.origin.rpartition(":")[2])
            for entry in entries.values()
            if digits(entry.number).ljust(3, "0") < digits(wanted).ljust(3, "0")
        ]
        lines.insert(max(after, default=1), f"{written(wanted)} | {name} | {'; '.join(added)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, wanted not in entries
