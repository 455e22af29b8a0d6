"""``treasure ddc``: check, count, extend, pack or replace the Dewey lexicon."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from treasure.errors import LexiconError, UserError

LEAST_TERMS = 20
"""Terms we want for every class that has a subject."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    check = actions.add_parser("check", help="look for wrong lines and terms that never match")
    check.add_argument("--source", type=Path, default=Path("data/ddc"), help="folder of the text")

    stats = actions.add_parser("stats", help="count classes and terms of the packed lexicon")
    stats.add_argument("--lexicon", metavar="FILE", help="packed lexicon instead of our own")
    stats.add_argument("--json", action="store_true", help="answer in JSON")

    add = actions.add_parser("add", help="write terms into the text of the lexicon")
    add.add_argument("number", help="Dewey number, such as 595.789")
    add.add_argument("terms", nargs="+", help="terms")
    add.add_argument("--name", default="", help="short name, for a number that has no line yet")
    add.add_argument("--source", type=Path, default=Path("data/ddc"), help="folder of the text")

    pack = actions.add_parser("pack", help="pack the text of the lexicon for use")
    pack.add_argument("--source", type=Path, default=Path("data/ddc"), help="folder of the text")
    pack.add_argument("--output", type=Path, help="packed file (default: the package's own)")
    pack.add_argument("--check", action="store_true", help="only tell whether it is up to date")

    bring = actions.add_parser("import", help="pack a licensed edition to use instead of ours")
    bring.add_argument("file", type=Path, help="CSV, or MARC 21 classification records")
    bring.add_argument("--output", type=Path, default=Path("lexicon.bin"), help="packed file")

    background = actions.add_parser("background", help="make the background table anew")
    background.add_argument("file", type=Path, help="GloVe text, or JSON of wink-embeddings")
    background.add_argument("--output", type=Path, help="table (default: the package's own)")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    actions = {
        "check": _check,
        "stats": _stats,
        "add": _add,
        "pack": _pack,
        "import": _import,
        "background": _background,
    }
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    from treasure.ddc.classes import problems, read_folder

    classes = read_folder(args.source)
    found = list(problems(classes))
    for problem in found:
        print(problem)
    print(f"{len(classes)} lines read, {len(found)} terms to look at.")
    return 1 if found else 0


def _stats(args: argparse.Namespace) -> int:
    from treasure.ddc.lexicon import Lexicon

    figures = _figures(Lexicon.load(args.lexicon))
    if args.json:
        print(json.dumps(figures, indent=2))
        return 0
    several, phrases = figures["several_numbers"], figures["phrases"]
    print(f"{figures['terms']:,} terms for {figures['numbers']:,} numbers ({figures['title']})")
    print(f"{several:,} terms have several numbers, {phrases:,} are phrases")
    print(f"{figures['decimals']:,} numbers have decimals, up to {figures['longest']} digits")
    print(
        f"{figures['thin_classes']} of {figures['classes']} three-digit classes have fewer than"
        f" {LEAST_TERMS} terms"
    )
    for main, terms in figures["terms_by_main_class"].items():
        print(f"  {main}xx  {terms:6,}")
    return 0


def _figures(lexicon: Any) -> dict[str, Any]:
    import numpy as np

    from treasure.ddc.numbers import class_of, digits

    dots = np.bincount(lexicon.posting_number, minlength=len(lexicon.numbers))
    classes: dict[str, int] = {}
    main: dict[str, int] = {}
    for number, terms in zip(lexicon.numbers, dots.tolist(), strict=True):
        classes[class_of(number)] = classes.get(class_of(number), 0) + terms
        main[number[0]] = main.get(number[0], 0) + terms
    return {
        "title": lexicon.meta.get("title", lexicon.source),
        "terms": lexicon.size,
        "numbers": len(lexicon.numbers),
        "classes": len(classes),
        "thin_classes": sum(terms < LEAST_TERMS for terms in classes.values()),
        "decimals": sum(len(digits(number)) > 3 for number in lexicon.numbers),
        "longest": max(len(digits(number)) for number in lexicon.numbers),
        "several_numbers": int((np.diff(lexicon.posting_start) > 1).sum()),
        "phrases": int((np.diff(lexicon.term_start) > 1).sum()),
        "terms_by_main_class": main,
    }


def _add(args: argparse.Namespace) -> int:
    from treasure.ddc.classes import add_terms

    path, new = add_terms(args.source, args.number, args.terms, args.name)
    print(
        f"{path}: {'new line for' if new else 'added to'} {args.number}. Now run: treasure ddc pack"
    )
    return 0


def _pack(args: argparse.Namespace) -> int:
    from treasure.ddc.lexicon import Lexicon
    from treasure.ddc.pack import digest, pack_folder

    output = args.output or _own("lexicon.bin")
    if args.check:
        current = Lexicon.load(str(output)).meta.get("source") == digest(args.source)
        print(
            f"{output} is {'up to date' if current else 'older than its text: treasure ddc pack'}."
        )
        return 0 if current else 1
    _write(output, pack_folder(args.source))
    return 0


def _import(args: argparse.Namespace) -> int:
    from treasure.ddc.background import Background
    from treasure.ddc.importing import read_edition
    from treasure.ddc.lexicon import SETTING
    from treasure.ddc.pack import pack

    classes = read_edition(args.file)
    _write(
        args.output, pack(classes, Background.own(), {"title": f"imported from {args.file.name}"})
    )
    print(f"Use it with {SETTING}={args.output.resolve()} (environment or Scrapy setting).")
    return 0


def _background(args: argparse.Namespace) -> int:
    from treasure.ddc.background import pack, read_vectors

    if not args.file.is_file():
        raise LexiconError(f"There is no file {args.file}.")
    _write(args.output or _own("background.bin"), pack(read_vectors(args.file)))
    return 0


def _own(name: str) -> Path:
    import treasure.ddc

    folder = Path(treasure.ddc.__file__).parent / "data"
    if not folder.is_dir():
        raise UserError("Treasure runs from an archive; give the file to write with --output.")
    return folder / name


def _write(path: Path, data: bytes) -> None:
    from treasure.ddc.container import replace

    replace(path, data)
    print(f"{path}: {len(data) / 1e6:.1f} MB")
