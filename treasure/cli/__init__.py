"""The ``treasure`` command: one module per command, imported only when it is called.

A command module has ``configure(parser)`` and ``run(args) -> int``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "classify": "say which Dewey numbers a text or page is about",
    "compare": "draw the harvest curves of several jobs",
    "ddc": "check, count, extend or replace the Dewey lexicon",
    "demo": "crawl the embedded demo web and show the harvest",
    "doctor": "check machine, settings, database, lexicon and seeds",
    "evaluate": "measure how focused strategies are on a labelled web",
    "explain": "tell every score a link was ever given, and why",
    "export": "write the repository as JSONL, CSV, Parquet or WARC",
    "refresh": "re-visit stored pages that are due, and mend the repository",
    "rehearse": "replay a crawl against changed settings before applying them",
    "search": "search the repository",
    "status": "show what a crawl is doing",
    "steer": "pause, resume, stop or change a running crawl",
    "tgraph": "build, inspect, draw and check T-Graphs",
    "topic": "show what a topic is understood as",
    "ui": "serve the web page",
    "web": "build, inspect, serve or generate virtual webs",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="treasure",
        description="A focused crawler for Scrapy: a topic and a few seeds in, pages on topic out.",
        epilog="Crawl with: scrapy crawl treasure -a topic=astronomy -a seeds=seeds.txt",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    chosen = next((word for word in arguments if word in COMMANDS), None)
    for name, help_text in COMMANDS.items():
        sub = commands.add_parser(
            name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."
        )
        if name == chosen:
            module = import_module(f"treasure.cli.{name}")
            module.configure(sub)
            sub.set_defaults(run=module.run)
    args = parser.parse_args(arguments)
    if args.version:
        from treasure import __version__

        print(f"treasure {__version__}")
        return 0
    if not args.command:
        parser.print_help()
        return 2
    from treasure.errors import UnavailableError, UserError

    try:
        return int(args.run(args))
    except (UserError, UnavailableError) as error:
        print(f"treasure {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"treasure {args.command}: {where}{error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"treasure {args.command}: stopped.", file=sys.stderr)
        return 130
