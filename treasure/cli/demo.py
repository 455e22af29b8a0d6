"""``treasure demo``: crawls the embedded demo web for a topic and shows the harvest."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treasure.evaluation.demo_run import Outcome
    from treasure.evaluation.virtual_web import WebTopic

BEST = 8
"""Pages that the summary names."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--topic", default="astronomy", help="topic of the demo web")
    parser.add_argument("--pages", type=int, default=600, help="pages to fetch (default 600)")
    parser.add_argument("--strategy", default="treasure", help="how links are scored")
    parser.add_argument("--out", default="data/runs/demo", metavar="DIR", help="where all is kept")
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def run(args: argparse.Namespace) -> int:
    """Generate the web, crawl it twice, sum up."""
    from treasure.errors import ConfigError, UserError
    from treasure.evaluation import demo_run
    from treasure.evaluation.demo_web import ensure_demo_web
    from treasure.harvest_picture import draw
    from treasure.strategies import strategy_class

    if args.pages < 1:
        raise ConfigError(f"--pages must be at least 1. Got {args.pages} instead.")
    strategy_class(args.strategy)
    started = time.monotonic()
    folder = Path(args.out)
    terminal = sys.stderr.isatty() and not args.json
    _say(terminal, "Generating the demo web ...")
    ensure_demo_web(folder)
    topic = demo_run.find_topic(folder, args.topic)
    try:
        _say(terminal, f"Crawling it for {topic.name} ...")
        focused = demo_run.crawl(folder, topic, args.strategy, args.pages)
        _say(terminal, "Crawling it breadth-first, for comparison ...")
        baseline = demo_run.crawl(
            folder, topic, demo_run.BASELINE, args.pages, job=demo_run.BASELINE
        )
    except demo_run.DemoFailed as error:
        raise UserError(str(error)) from None
    title = f"{topic.name.capitalize()} on the demo web"
    files = [folder / "harvest.png", folder / "harvest.svg"]
    curves = [focused.curve(), baseline.curve()]
    draw(curves, len(topic.targets), title, files)
    seconds = time.monotonic() - started
    if args.json:
        print(json.dumps(_answer(topic, focused, baseline, files, seconds), indent=2))
    else:
        _show(topic, focused, baseline, files, seconds)
    return 0


def _say(terminal: bool, text: str) -> None:
    if terminal:
        print(text, file=sys.stderr)


def _answer(
    topic: WebTopic, focused: Outcome, baseline: Outcome, files: Sequence[Path], seconds: float
) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "ddc": topic.ddc,
        "focused": focused.as_dict(),
        "breadth_first": baseline.as_dict(),
        "best_pages": [
            {"url": page.url, "title": page.title, "relevance": round(page.relevance, 3)}
            for page in focused.best(BEST)
        ],
        "pictures": [str(path) for path in files],
        "seconds": round(seconds, 1),
    }


def _show(
    topic: WebTopic, focused: Outcome, baseline: Outcome, files: Sequence[Path], seconds: float
) -> None:
    found, others = focused.as_dict(), baseline.as_dict()
    print(f"\nThe crawl for {topic.name} (Dewey {topic.ddc})\n")
    print(f"{'':22}{'Treasure':>12}{'breadth-first':>16}")
    rows = (
        ("pages fetched", "pages", "{:,}"),
        ("on topic, by labels", "found", "{:,}"),
        ("harvest rate", "harvest_rate", "{:.0%}"),
        (f"recall of {focused.targets}", "recall", "{:.0%}"),
        ("seconds", "seconds", "{:.1f}"),
    )
    for label, key, form in rows:
        print(f"  {label:20}{form.format(found[key]):>12}{form.format(others[key]):>16}")
    print("\nBest pages")
    for page in focused.best(BEST):
        print(f"  {page.relevance:.2f}  {page.title}\n        {page.url}")
    print(f"\nWhy it stopped: {focused.stopped}.")
    print(f"Repository:     {focused.repository}")
    print(f"Harvest curve:  {' and '.join(map(str, files))}")
    print(f"All of it took {seconds:.0f} seconds.")
    where = f"--runs-dir {shlex.quote(str(focused.repository.parent))}"
    print("\nWhat to type next")
    if shutil.which("treasure") is None:
        print(f"  . {os.path.relpath(sys.prefix)}/bin/activate")
    print(
        f"  treasure search {where} '{topic.name}'\n"
        f"  treasure ui {where}\n"
        f"  scrapy crawl treasure -a topic={topic.ddc} -a seeds=seeds.txt -a max_pages=500"
        " -a contact=you@example.org"
    )
