"""``treasure classify``: tells which Dewey numbers a text is about, and why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from treasure.errors import UnreadablePageError, UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treasure.ddc.galaxy import Galaxy, PlainGalaxy
    from treasure.ddc.weighted import WeightedGalaxy
    from treasure.pages import Page

MAX_BYTES = 50_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", nargs="?", help="text or HTML file, http(s) URL, or - for stdin")
    parser.add_argument("--jsonl", metavar="FILE", help="lines with `text`, or - for stdin")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("--explain", action="store_true", help="show words, regions and outliers")
    parser.add_argument("--plain", action="store_true", help="the papers' galaxy, every dot alike")
    parser.add_argument("--picture", metavar="FILE", type=Path, help="draw it (.svg or .png)")
    parser.add_argument("--lexicon", metavar="FILE", help="packed lexicon instead of our own")


def run(args: argparse.Namespace) -> int:
    """Classify one source, or the lines of a file."""
    if (args.source is None) == (args.jsonl is None):
        raise UserError(
            "Give one thing to classify: a file, a URL, - for standard input, or --jsonl FILE."
        )
    from treasure.ddc.galaxy import PlainGalaxy
    from treasure.ddc.lexicon import Lexicon
    from treasure.ddc.weighted import WeightedGalaxy

    lexicon = Lexicon.load(args.lexicon)
    galaxies = PlainGalaxy(lexicon) if args.plain else WeightedGalaxy(lexicon)
    if args.jsonl is not None:
        return _lines(args.jsonl, galaxies, args.explain)
    galaxy = galaxies.classify(_terms(args.source))
    if args.picture:
        from treasure.ddc.picture import draw

        draw(galaxy, args.picture)
    if args.json:
        print(json.dumps(_answer(galaxy, args.explain), ensure_ascii=False))
    else:
        _show(galaxy, args.explain)
    return 0


def _lines(path: str, galaxies: PlainGalaxy | WeightedGalaxy, explain: bool) -> int:
    with _opened(path) as lines:
        for count, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                text = json.loads(line)["text"]
            except (ValueError, KeyError, TypeError):
                text = None
            if not isinstance(text, str):
                raise UserError(
                    f'{path}:{count}: expected a JSON object with a string "text".'
                    f" Got {line.strip()[:60]!r} instead."
                )
            print(json.dumps(_answer(galaxies.classify_text(text), explain), ensure_ascii=False))
    return 0


def _opened(path: str) -> TextIO:
    if path == "-":
        return sys.stdin
    try:
        return Path(path).open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None


def _answer(galaxy: Galaxy, explain: bool) -> dict[str, Any]:
    from treasure.ddc.numbers import written

    answer: dict[str, Any] = {
        "numbers": [
            {
                "number": written(number),
                "weight": round(weight, 4),
                "name": galaxy.lexicon.name(number),
            }
            for number, weight in galaxy.numbers
        ]
    }
    if not galaxy.numbers:
        answer["note"] = "None of its words is in the lexicon."
    if explain:
        answer["explanation"] = galaxy.explain()
    return answer


def _show(galaxy: Galaxy, explain: bool) -> None:
    from treasure.ddc.numbers import written

    if not galaxy.numbers:
        print("Unknown: none of its words is in the lexicon (is it English text?).")
        return
    for number, weight in galaxy.numbers:
        print(f"{written(number):>10}  {weight:6.1%}  {galaxy.lexicon.name(number)}")
    if explain:
        print()
        for line in _explained(galaxy.explain()):
            print(line)


def _explained(explanation: dict[str, Any]) -> Iterator[str]:
    for number in explanation["numbers"]:
        found = ", ".join(f"{w['word']} {w['weight']:g}" for w in number["words"])
        yield f"{number['number']} {number['name']}: {found}"
    yield ""
    for depth, step in enumerate(explanation["regions"], 1):
        regions = ", ".join(
            f"{'[' * r['won']}{r['prefix']} {r['name']} {r['weight']:.4g}{']' * r['won']}"
            for r in step
        )
        yield f"digit {depth}: {regions}"
    yield ""
    yield "outliers: " + (", ".join(explanation["outliers"]) or "none")


def _terms(source: str) -> NDArray[np.int32]:
    """Return the words of a file, page or standard input as vocabulary ids."""
    from treasure.text import VOCABULARY, words

    if source == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    elif "://" in source:
        return _main_terms(_fetched(source))
    else:
        data = _file(source)
    if len(data) > MAX_BYTES:
        raise UserError(
            f"{source} is larger than {MAX_BYTES // 1_000_000} MB; classify a part of it."
        )
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        return _main_terms(_page(source, data))
    if b"\0" in data[:1024]:
        raise UserError(f"{source} is not text. Expected text or HTML.")
    return VOCABULARY.ids(words(data.decode("utf-8", errors="replace")))


def _page(source: str, data: bytes) -> Page:
    from treasure.extract import read_page

    try:
        return read_page("http://localhost/", data)
    except UnreadablePageError as error:
        raise UserError(f"{source} cannot be read as a page: {error}") from None


def _fetched(url: str) -> Page:
    """Return the page at *url*, wherever it is: the user asked for this very address."""
    from treasure.addresses import AddressPolicy
    from treasure.fetch import fetch_page

    return fetch_page(url, AddressPolicy(["0.0.0.0/0", "::/0"]))


def _main_terms(page: Page) -> NDArray[np.int32]:
    return page.main_terms if len(page.main_terms) else page.terms


def _file(source: str) -> bytes:
    try:
        with Path(source).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{source} cannot be read: {error.strerror}.") from None
