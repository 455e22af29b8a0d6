"""``treasure export``: write the repository as JSONL, CSV, Parquet or WARC, or load a WARC."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from treasure.cli import where
from treasure.errors import ConfigError

if TYPE_CHECKING:
    from treasure.repository.export import Selection
    from treasure.repository.store import Store

EPILOG = """\
  treasure export pages.jsonl --job astronomy
  treasure export pages.csv
  treasure export web.warc.gz             everything; crawl it with -a web=web.warc.gz
  treasure export --load web.warc.gz --repository sqlite:///copy.db
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("file", help="file to write (its name says the format), or - for stdout")
    parser.add_argument(
        "--format", choices=("jsonl", "csv", "parquet", "warc"), help="instead of by the name"
    )
    parser.add_argument(
        "--all", action="store_true", help="also pages off topic, failures and duplicates"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument(
        "--load", action="store_true", help="read FILE (a WARC of ours) into the repository"
    )
    where.add_job_option(parser)


def run(args: argparse.Namespace) -> int:
    """Export or load."""
    return _load(args) if args.load else _export(args)


def _load(args: argparse.Namespace) -> int:
    from treasure.repository.archive import load_warc
    from treasure.repository.finishing import finish_all

    store = where.open_store(args, must_exist=False)
    try:
        count = load_warc(store, args.file)
        finish_all(store)
    finally:
        store.close()
    print(f"{count:,} pages of {args.file} are in the repository.")
    return 0


def _export(args: argparse.Namespace) -> int:
    from treasure.repository.export import Selection, format_of

    kind = args.format or ("jsonl" if args.file == "-" else format_of(args.file))
    if args.file == "-" and kind == "parquet":
        raise ConfigError("Parquet cannot be written to standard output: give a file name.")
    warc = kind == "warc"
    selection = Selection(args.job, everything=args.all or warc, html=warc)
    if args.file != "-" and Path(args.file).exists() and not args.force:
        raise ConfigError(f"The file {args.file} is there already: give --force to replace it.")
    store = where.open_store_of_job(args)
    try:
        if args.file == "-":
            count = _write(store, selection, kind, sys.stdout.buffer)
        else:
            count = _write_file(store, selection, kind, Path(args.file))
    finally:
        store.close()
    print(f"{count:,} pages written.", file=sys.stderr)
    return 0


def _write_file(store: Store, selection: Selection, kind: str, path: Path) -> int:
    """Write beside *path* and rename, so that half an export never looks like a whole one."""
    from treasure.repository.export import read, write_parquet

    partial = path.with_name(path.name + ".part")
    try:
        if kind == "parquet":
            count = write_parquet(read(store, selection), partial)
        else:
            with partial.open("wb") as file:
                count = _write(store, selection, kind, file, gzip=path.suffix == ".gz")
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"The file {path} cannot be written: {error.strerror}.") from None
    finally:
        partial.unlink(missing_ok=True)
    return count


def _write(
    store: Store, selection: Selection, kind: str, file: BinaryIO, *, gzip: bool = True
) -> int:
    from treasure.repository.archive import write_warc
    from treasure.repository.export import read, write_csv, write_jsonl

    rows = read(store, selection)
    if kind == "warc":
        return write_warc(rows, file, gzip=gzip)
    if kind == "csv":
        table = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            return write_csv(rows, table)
        finally:
            table.flush()
            table.detach()
    return write_jsonl(rows, file)
