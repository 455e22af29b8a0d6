"""``treasure evaluate``: measures how focused strategies are on a labelled web."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treasure.cli import assignments

if TYPE_CHECKING:
    from treasure.evaluation.trial import Result, Trial
    from treasure.evaluation.virtual_web import WebTopic

DEFAULT_STRATEGIES = "treasure,best-first,link-context,shark-search,breadth-first"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("web", metavar="WEB.warc.gz", help="the web; see docs/focus.md")
    parser.add_argument("--topics", required=True, metavar="FILE", help="its topics.json")
    parser.add_argument("--topic", action="append", default=[], help="only this topic (repeatable)")
    parser.add_argument(
        "--strategies", default=DEFAULT_STRATEGIES, metavar="A,B,...", help="names, or 'all'"
    )
    parser.add_argument("--seeds", choices=("generic", "on_topic"), default="generic")
    parser.add_argument(
        "--pages", default="200,500,1500", metavar="N,N", help="pages to measure at"
    )
    parser.add_argument("--repeats", type=int, default=1, help="runs of each, with other draws")
    parser.add_argument(
        "--examples", type=int, default=0, metavar="N", help="example pages given, 10 at most"
    )
    parser.add_argument(
        "--background", type=int, default=0, metavar="N", help="unlabelled pages given, 100 at most"
    )
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="an option of the strategies, as JSON (repeatable)")  # fmt: skip
    parser.add_argument("--engine", choices=("loop", "scrapy"), default="loop")
    parser.add_argument("--processes", type=int, default=2, help="trials at the same time")
    parser.add_argument("--json", metavar="FILE", help="write all figures; - prints them")
    parser.add_argument("--report", metavar="DIR", help="write a page with curves")
    parser.add_argument("--anew", action="store_true", help="do not go on with earlier results")


def run(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    from treasure.evaluation.trial import chosen_topics, missing_targets
    from treasure.evaluation.virtual_web import VirtualWeb, read_web_topics

    web = VirtualWeb.open(args.web)
    if web.damaged_bytes:
        print(
            f"{web.damaged_bytes} bytes of {args.web} cannot be read; measured on the"
            f" {len(web)} URLs that can.",
            file=sys.stderr,
        )
    topics = chosen_topics(read_web_topics(args.topics), args.topic)
    for topic in topics:
        if missing := missing_targets(web, topic):
            print(
                f"{missing} of the {len(topic.targets)} targets of {topic.name!r} are no pages of"
                f" {args.web}: no crawl can find them.",
                file=sys.stderr,
            )
    trials = _trials(args, [topic.name for topic in topics])
    _prepare_outputs(args)
    results = _measured(args, topics, trials)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    _write(args, results)
    return 0


def _measured(
    args: argparse.Namespace, topics: list[WebTopic], trials: list[Trial]
) -> list[Result]:
    web, topics_file = Path(args.web), Path(args.topics)
    if args.engine == "scrapy":
        from treasure.evaluation.scrapy_engine import compare_with_scrapy

        return compare_with_scrapy(web, topics, trials, _progress)
    from treasure.evaluation.compare import compare, results_file

    kept = results_file(web, topics_file)
    if args.anew:
        kept.unlink(missing_ok=True)
    return compare(
        web, topics_file, trials, kept=kept, processes=args.processes, progress=_progress
    )


def _write(args: argparse.Namespace, results: list[Result]) -> None:
    from treasure.evaluation import report

    inputs = {key: value for key, value in vars(args).items() if key not in {"run", "command"}}
    if args.json == "-":
        sys.stdout.write(report.as_json(results, inputs).decode() + "\n")
    else:
        print(report.as_text(results))
        if args.json:
            Path(args.json).write_bytes(report.as_json(results, inputs))
    if args.report:
        command = "treasure " + shlex.join(sys.argv[1:])
        print(f"Curves: {report.write_html(results, Path(args.report), command)}", file=sys.stderr)


def _prepare_outputs(args: argparse.Namespace) -> None:
    """Find out now, not after an hour, whether the results can be written."""
    from treasure.errors import ConfigError

    try:
        if args.json and args.json != "-":
            Path(args.json).open("ab").close()
        if args.report:
            Path(args.report).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be written: {error.strerror}.") from None


def _trials(args: argparse.Namespace, topics: list[str]) -> list[Trial]:
    from treasure.errors import ConfigError
    from treasure.evaluation.trial import Trial
    from treasure.strategies import STRATEGIES, strategy_class

    names = [name.strip() for name in args.strategies.split(",") if name.strip()]
    names = list(STRATEGIES) if names == ["all"] else names
    if not names:
        raise ConfigError("--strategies names none. Known: " + ", ".join(STRATEGIES) + ".")
    for name in names:
        needs = strategy_class(name).needs - {"graph"}
        lacking = sorted(need for need in needs if not getattr(args, need, 0))
        if lacking:
            raise ConfigError(f"The strategy {name!r} needs --{' and --'.join(lacking)}.")
    if args.repeats < 1:
        raise ConfigError(f"--repeats must be at least 1. Got {args.repeats} instead.")
    if args.engine == "scrapy" and args.background:
        raise ConfigError("--engine scrapy cannot be given --background; a crawl has none.")
    for limit, what in ((10, "examples"), (100, "background")):
        if not 0 <= getattr(args, what) <= limit:
            raise ConfigError(
                f"--{what} must be between 0 and {limit}. Got {getattr(args, what)} instead."
            )
    marks, options = _marks(args.pages), _options(args.option)
    return [
        Trial(topic, name, args.seeds, marks, args.examples, args.background, repeat, options)
        for repeat in range(args.repeats)
        for topic in topics
        for name in names
    ]


def _marks(text: str) -> tuple[int, ...]:
    from treasure.errors import ConfigError

    try:
        marks = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        marks = ()
    if not marks or marks[0] < 1:
        raise ConfigError(
            f"--pages must be numbers of pages such as 200,500. Got {text!r} instead."
        )
    return marks


def _options(pairs: list[str]) -> dict[str, Any]:
    """Return options as JSON says them; what is no JSON is a string."""
    options: dict[str, Any] = {}
    for name, value in assignments.read(pairs, "--option").items():
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _progress(done: int, total: int, trial: Trial) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    filled = "#" * (24 * done // total)
    print(
        f"[{filled:24}] {done}/{total} {trial.topic}: {trial.strategy:20.20}",
        end=end,
        file=sys.stderr,
        flush=True,
    )
