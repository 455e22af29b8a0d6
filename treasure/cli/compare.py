"""``treasure compare``: the harvest curves of several jobs, side by side."""

from __future__ import annotations

import argparse
import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treasure.cli import where
from treasure.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treasure.repository.harvest import Harvest

MARKS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="names of jobs; the first is 100 %%")
    parser.add_argument("--out", metavar="FILE", help="draw the curves: an .html or .svg file")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare."""
    from treasure.repository.harvest import harvest

    if args.out and Path(args.out).suffix not in (".html", ".svg"):
        raise UserError(f"--out must end in .html or .svg. Got {args.out!r} instead.")
    store = where.open_store(args)
    try:
        found = [harvest(store, where.job_of(store, job)["job"]) for job in args.jobs]
    finally:
        store.close()
    answer = compared(found)
    if args.json:
        print(json.dumps(answer))
    else:
        _show(answer)
    if args.out:
        _draw(found, Path(args.out))
    return 0


def compared(found: Sequence[Harvest]) -> dict[str, Any]:
    """Return harvest rates after the same numbers of pages, as far as every job came."""
    least = min(harvest.pages for harvest in found)
    marks = sorted({*(mark for mark in MARKS if mark < least), least} - {0})
    return {
        "marks": marks,
        "jobs": [
            {
                "job": harvest.job,
                "pages": harvest.pages,
                "on_topic": harvest.on_topic,
                "harvest_rate": round(harvest.rate, 4),
                "at": [round(harvest.at(mark) or 0.0, 4) for mark in marks],
            }
            for harvest in found
        ],
    }


def _show(answer: dict[str, Any]) -> None:
    width = max(len(job["job"]) for job in answer["jobs"])
    heads = "".join(f"{mark:>9,}" for mark in answer["marks"])
    print(f"{'harvest after pages':<{max(width, 19)}}{heads}{'all':>9}")
    for job in answer["jobs"]:
        rates = "".join(f"{rate:>9.1%}" for rate in job["at"])
        print(f"{job['job']:<{max(width, 19)}}{rates}{job['harvest_rate']:>9.1%}")
    first, *others = answer["jobs"]
    for job in others:
        if first["at"] and first["at"][-1]:
            ratio = job["at"][-1] / first["at"][-1]
            print(
                f"After {answer['marks'][-1]:,} pages {job['job']} has {ratio:.2f} times the"
                f" harvest of {first['job']}."
            )


def _draw(found: Sequence[Harvest], path: Path) -> None:
    from treasure.plots import lines

    curves = [(harvest.job, harvest.curve) for harvest in found]
    drawing = lines(curves, x="pages fetched", y="pages on topic")
    if path.suffix == ".svg":
        drawing = drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    else:
        title = escape(" and ".join(harvest.job for harvest in found))
        drawing = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f'<body style="max-width:60rem;margin:2rem auto">{drawing}</body></html>\n'
        )
    try:
        path.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None
    print(f"Drawn to {path}.")
