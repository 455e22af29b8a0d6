"""``treasure tgraph``: build, inspect, draw, score with, check and export T-Graphs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treasure.cli.tgraph_inputs import (
    Progress,
    load_graph,
    read_one,
    read_targets,
    read_topic,
    repository,
    sample_of,
    source_of,
    web_targets,
)
from treasure.errors import GraphError

if TYPE_CHECKING:
    from treasure.tgraph.build import Built, Plan
    from treasure.tgraph.graph import TGraph

FINISH = """\
examples:
  treasure tgraph build g.json --topic 520 --around https://example.org/mars
  treasure tgraph build g.json --topic astronomy-space --web schools/
  treasure tgraph build g.json --topic 520 --folder mirror/ --targets urls.txt
  treasure tgraph build g.json --topic 520 --repository sqlite:///data/runs/treasure.db
"""
GRAPH = "a .json or .parquet file, or the name of a stored graph or of a job"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog, parser.formatter_class = FINISH, argparse.RawDescriptionHelpFormatter
    tasks = parser.add_subparsers(dest="task", metavar="TASK", required=True)

    build = tasks.add_parser("build", help="build a graph from targets")
    build.add_argument("out", type=Path, help="the graph to write: .json or .parquet")
    build.add_argument("--topic", required=True, help="Dewey number, name or topic file")
    _add_source(build)
    build.add_argument(
        "--bottom-up", action="store_true", help="read only pages that lead to targets"
    )
    build.add_argument("--levels", type=_count, default=4, metavar="N", help="levels (4)")
    build.add_argument("--max-nodes", type=_count, default=20_000, metavar="N", help="size (20000)")
    build.add_argument(
        "--max-pages",
        type=_count,
        default=200,
        metavar="N",
        help="pages to fetch around the examples, or per level bottom-up (200)",
    )
    build.add_argument("--examples", type=_count, metavar="N", help="use only N targets, drawn")
    build.add_argument("--seed", type=int, default=0, help="seed of what is drawn (0)")
    build.add_argument("--navigation", action="store_true", help="make nodes of menus too")
    build.add_argument(
        "--learn-weights", action="store_true", help="weigh ISH, SH, MH and DC as predicts best"
    )
    build.add_argument("--contact", default="", help="address for webmasters in our user agent")
    build.add_argument("--delay", type=float, default=1.0, help="seconds between requests (1)")
    build.add_argument(
        "--allow-network",
        action="append",
        default=[],
        metavar="NETWORK",
        help="private network we may fetch from, such as 127.0.0.0/8",
    )

    info = tasks.add_parser("info", help="tell what is in a graph")
    _add_graph(info)
    info.add_argument("--journal", type=_count, metavar="N", help="the last N changes with reasons")
    info.add_argument("--json", action="store_true", help="print JSON")

    show = tasks.add_parser("show", help="draw a graph")
    _add_graph(show)
    show.add_argument("out", type=Path, help="the picture to write: .svg or .html")

    score = tasks.add_parser("score", help="score the links of a page")
    _add_graph(score)
    score.add_argument("page", help="an HTML file, or a URL of the live web or of --web")
    score.add_argument("--web", type=Path, help="virtual web that holds the page")
    score.add_argument("--top", type=_count, default=20, metavar="N", help="best links shown (20)")
    score.add_argument("--json", action="store_true", help="print all links as JSON")

    check = tasks.add_parser("check", help="measure predictions on pages held back")
    check.add_argument("graph", help=GRAPH)
    _add_source(check, live=False)
    check.add_argument("--topic", default="", help="topic of the web's topics.json (the graph's)")
    check.add_argument("--seed", type=int, default=0, help="seed of what is held back (0)")
    check.add_argument("--json", action="store_true", help="print JSON")

    export = tasks.add_parser("export", help="write a graph in another format, or an earlier state")
    _add_graph(export)
    export.add_argument("out", help=".json, .parquet, or a name to keep it in --repository")
    export.add_argument(
        "--undo", type=_count, metavar="N", help="take back the last N changes first"
    )


def _add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help=GRAPH)
    parser.add_argument("--repository", metavar="URL", help="where named graphs are (the default)")


def _add_source(parser: argparse.ArgumentParser, *, live: bool = True) -> None:
    parser.add_argument(
        "--targets",
        nargs="+",
        default=[],
        metavar="URL",
        help="pages on topic: URLs, or files with one URL a line",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--web", type=Path, help="virtual web: a WARC file, or a folder with one")
    source.add_argument("--folder", type=Path, help="folder of HTML files")
    source.add_argument("--repository", metavar="URL", help="pages and links we stored")
    if live:
        source.add_argument(
            "--around",
            nargs="+",
            metavar="URL",
            help="example pages (or files of URLs) on the live web to fetch around, politely",
        )
    parser.add_argument("--base-url", default="http://folder.example/", help="address of --folder")
    parser.add_argument("--job", help="only this job of --repository")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run the task."""
    task = {
        "build": _build,
        "info": _info,
        "show": _show,
        "score": _score,
        "check": _check,
        "export": _export,
    }[args.task]
    return task(args)


# -- tasks


def _build(args: argparse.Namespace) -> int:
    from treasure.tgraph.build import Plan

    if args.out.suffix.lower() not in (".json", ".parquet"):
        raise GraphError(
            f"A T-Graph file ends in .json or .parquet. Got {str(args.out)!r} instead."
        )
    topic, known = read_topic(args)
    targets = read_targets(args, known)
    plan = Plan(
        topic,
        levels=args.levels,
        max_nodes=args.max_nodes,
        navigation=args.navigation,
        random_seed=args.seed,
        progress=Progress(),
    )
    with ExitStack() as closing:
        built = _built(args, plan, targets, closing)
        if args.learn_weights:
            _learn_weights(args, built.graph, targets, closing)
    built.graph.save(args.out)
    sizes = ", ".join(f"{size:,}" for size in built.graph.level_sizes())
    print(
        f"{args.out}: {len(built.graph):,} nodes (levels 1 to {args.levels}: {sizes}) from"
        f" {built.pages:,} pages; {built.linked:,} of {built.targets:,} targets are linked to."
    )
    for note in built.notes:
        print(f"note: {note}")
    return 0


def _built(
    args: argparse.Namespace, plan: Plan, targets: Sequence[str], closing: ExitStack
) -> Built:
    from treasure.tgraph import build
    from treasure.tgraph.sources import LiveWeb, RepositoryWeb, backlinks

    if args.around:
        from treasure.addresses import AddressPolicy

        live = LiveWeb(
            contact=args.contact,
            policy=AddressPolicy(args.allow_network),
            delay_seconds=args.delay,
        )
        try:
            return build.around(plan, targets, live.page, max_pages=args.max_pages)
        except GraphError as error:
            reason = f" The first refusal: {live.refused[0]}" if live.refused else ""
            raise GraphError(f"{error}{reason}") from None
    source = source_of(args, closing)
    if isinstance(source, RepositoryWeb):
        targets = targets or source.targets()
        return build.bottom_up(
            plan, targets, source.referrers, source.page, max_pages=args.max_pages
        )
    if args.bottom_up:
        referrers = backlinks(source, plan.progress)
        return build.bottom_up(plan, targets, referrers, source.page, max_pages=args.max_pages)
    try:
        return build.top_down(plan, source.urls(), source.page, targets)
    except GraphError as error:
        where = f" The files have addresses below {args.base_url} (--base-url)."
        raise GraphError(f"{error}{where if args.folder else ''}") from None


def _learn_weights(
    args: argparse.Namespace, graph: TGraph, targets: Sequence[str], closing: ExitStack
) -> None:
    from treasure.tgraph.check import hold_back, learned_weights
    from treasure.tgraph.components import NAMES

    if args.around:
        raise GraphError("--learn-weights needs pages at hand: --web, --folder or --repository.")
    sample = sample_of(source_of(args, closing), navigation=args.navigation)
    trial = hold_back(graph, sample, targets, random_seed=args.seed)
    learned = learned_weights(trial)
    told = f"rank correlation {learned.after:.3f}, {learned.before:.3f} before"
    if learned.after > learned.before:
        graph.weights, graph.threshold = learned.weights, learned.threshold
        weights = " ".join(f"{name} {w:g}" for name, w in zip(NAMES, learned.weights, strict=True))
        print(f"learned weights {weights}, threshold {learned.threshold:g}: {told}")
    else:
        print(f"equal weights kept: learned ones are no better ({told})")


def _info(args: argparse.Namespace) -> int:
    graph = load_graph(args)
    answer: dict[str, Any] = {
        "topic": graph.topic,
        "numbers": list(graph.numbers),
        "nodes": len(graph),
        "levels": graph.level_sizes(),
        "dead": int(graph.column("dead").sum()),
        "pages": len(set(graph.sources())),
        "threshold": graph.threshold,
        "weights": graph.weights.tolist(),
        "version": graph.version,
        "observed_pages": graph.fetches,
        "mean_relevance": round(graph.mean_relevance, 4),
        "changes_in_journal": len(graph.journal),
        "bytes": graph.nbytes,
    }
    entries = graph.journal.entries[-args.journal :] if args.journal else []
    changes = [
        {"page": e.page, "action": e.action, "node": e.node, "reason": e.reason} for e in entries
    ]
    if args.json:
        print(json.dumps(answer | ({"journal": changes} if args.journal else {})))
        return 0
    for name, value in answer.items():
        print(f"{name.replace('_', ' '):20} {value}")
    for entry in entries:
        print(f"page {entry.page:>7}  {entry.action:12} node {entry.node:<6} {entry.reason}")
    return 0


def _show(args: argparse.Namespace) -> int:
    from treasure.tgraph.picture import draw

    draw(load_graph(args), args.out)
    print(f"{args.out}")
    return 0


def _score(args: argparse.Namespace) -> int:
    graph = load_graph(args)
    page = read_one(args.page, args.web)
    links = list(page.links)
    if not links:
        raise GraphError(f"{args.page} has no links to score.")
    matches = graph.match(page, links)
    priorities = graph.priority(matches).tolist()
    rows: list[dict[str, Any]] = []
    for index, link in enumerate(links):
        number = int(matches.node[index])
        rows.append(
            {
                "url": link.url,
                "anchor": link.anchor_text,
                "priority": round(priorities[index], 4),
                "osm": [round(value, 4) for value in matches.osm[index].tolist()],
                "node": number,
                "distance": int(matches.distance[index]),
                "source": graph.node(number).source if number >= 0 else "",
            }
        )
    rows.sort(key=lambda row: -float(row["priority"]))
    if args.json:
        print(json.dumps(rows))
        return 0
    levels = " ".join(f"  L{level}" for level in range(1, graph.levels + 1))
    print(f"priority {levels}  link (best OSM per level; the node it is most like)")
    for row in rows[: args.top]:
        osm = " ".join(f"{value:.2f}" for value in row["osm"])
        print(f"{row['priority']:8.4f} {osm}  {str(row['anchor'])[:40]!r} {row['url']}")
        if row["node"] != -1:
            print(f"{'':8} {'':{len(levels)}}  like node {row['node']} of {row['source']}")
    if len(rows) > args.top:
        print(f"... and {len(rows) - args.top} more; --top N or --json shows them")
    return 0


def _check(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from treasure.tgraph.check import hold_back, quality
    from treasure.tgraph.sources import RepositoryWeb

    graph = load_graph(args)
    args.topic = args.topic or graph.topic
    targets = read_targets(args, web_targets(args.web, args.topic))
    with ExitStack() as closing:
        source = source_of(args, closing)
        if isinstance(source, RepositoryWeb):
            targets = targets or source.targets()
        sample = sample_of(source, navigation=False)
        result = quality(hold_back(graph, sample, targets, random_seed=args.seed))
    if args.json:
        print(json.dumps(asdict(result) | {"good": result.good, "advice": result.advice}))
        return 0
    print(
        f"{result.paragraphs:,} paragraphs with links on {result.pages:,} held-back pages\n"
        f"  most similar node   right {result.exact:.0%}, at most one off {result.within_one:.0%},"
        f" rank correlation {result.correlation:.2f}\n"
        f"  papers' rule        right {result.paper_exact:.0%},"
        f" rank correlation {result.paper_correlation:.2f}\n"
        f"  guessing the usual  right {result.usual:.0%}\n{result.advice}"
    )
    return 0


def _export(args: argparse.Namespace) -> int:
    graph = load_graph(args)
    if args.undo:
        done = graph.journal.undo(args.undo)
        if done < args.undo:
            print(f"note: the journal holds {done} changes; all were taken back.")
    from treasure.tgraph.store import is_file_name, keep

    if is_file_name(args.out) or Path(args.out).suffix:
        graph.save(args.out)
        print(f"{args.out}: {len(graph):,} nodes")
        return 0
    with repository(args.repository, must_exist=False) as store:
        version = keep(graph, store, args.out)
    print(f"{args.out}: {len(graph):,} nodes, version {version} in the repository")
    return 0
