"""``treasure search``: search the repository."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from treasure.cli import where

if TYPE_CHECKING:
    from treasure.repository.search import Answer, Hit
    from treasure.repository.snippets import Piece

EPILOG = """\
words            all must occur, in any form: stars finds star
"red giants"     a phrase
stars -kepler    without this word; in quotes, or it looks like an option: 'stars -kepler'
star OR planet   either
title:giants     in the title
site:example.org, topic:astronomy, number:523, lang:en, job:NAME   filters
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("query", nargs="+", help="what to look for; see below")
    parser.add_argument("-n", "--limit", type=int, default=10, help="results a page (default 10)")
    parser.add_argument("-p", "--page", type=int, default=1, help="page of results (default 1)")
    parser.add_argument("--json", action="store_true", help="write JSON")
    where.add_job_option(parser)


def run(args: argparse.Namespace) -> int:
    """Search; exit with 1 when nothing was found, as grep does."""
    from treasure.repository.search import search

    store = where.open_store_of_job(args)
    try:
        started = time.perf_counter()
        offset = (args.page - 1) * args.limit
        answer = search(store, _query(args.query), job=args.job, offset=offset, limit=args.limit)
        seconds = time.perf_counter() - started
    finally:
        store.close()
    if args.json:
        print(json.dumps(asdict(answer) | {"seconds": round(seconds, 4)}, ensure_ascii=False))
    else:
        _show(answer, offset, seconds)
    return 0 if answer.hits else 1


def _query(parts: list[str]) -> str:
    """Return one query; the shell ate the quotes of an argument that has spaces."""
    if len(parts) == 1:
        return parts[0]
    return " ".join(f'"{part}"' if " " in part and '"' not in part else part for part in parts)


def _show(answer: Answer, offset: int, seconds: float) -> None:
    bright = sys.stdout.isatty()
    for number, hit in enumerate(answer.hits, offset + 1):
        print(f"{number}. {_marked(hit.title, bright) or hit.url}")
        print(f"   {hit.url}")
        print(f"   {_marked(hit.snippet, bright)}")
        print(f"   {_facts(hit)}\n")
    pages = "page" if answer.total == 1 else "pages"
    print(f"{answer.total:,} {pages} in {seconds * 1000:.0f} ms.")
    if answer.unfinished:
        print(
            f"{answer.unfinished:,} stored pages are not indexed yet: `treasure refresh --finish`.",
            file=sys.stderr,
        )


def _facts(hit: Hit) -> str:
    facts = [f"relevance {hit.relevance:.2f}"]
    facts += [number for number, _ in hit.numbers[:3]]
    facts += [hit.language] if hit.language else []
    facts.append(time.strftime("%Y-%m-%d", time.localtime(hit.fetched_at)))
    if hit.duplicates:
        facts.append(f"{hit.duplicates} more like it")
    return " · ".join(facts)


def _marked(pieces: list[Piece], bright: bool) -> str:
    """Return the pieces as a line; control characters of a page never reach the terminal."""
    start, stop = ("\x1b[1m", "\x1b[0m") if bright else ("", "")
    shown = (
        start + _printable(piece.text) + stop if piece.marked else _printable(piece.text)
        for piece in pieces
    )
    return "".join(shown)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
