"""Tunnelling: how much of the demo web's islands is found, by `treasure` and by best-first.

    python benchmarks/islands.py [--quick] [--json] [--pages 600]

Every topic of the demo web has an island: a site of 49 targets to which only off-topic pages lead,
two or three of them in a row. Crawls start cold, from the topic's generic seeds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from treasure.evaluation.demo_sentences import read_subjects
from treasure.evaluation.demo_web import ensure_demo_web
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.simulate import simulate
from treasure.evaluation.trial import Trial, build, draw, seeds_of
from treasure.evaluation.virtual_web import WebTopic, read_web_topics

STRATEGIES = ("treasure", "best-first")
QUICK = 3


def main() -> None:
    """Crawl for every topic and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} topics only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", type=int, default=600)
    args = parser.parse_args()
    rows = measure(args.pages, QUICK if args.quick else None)
    means = {s: sum(row[s]["island"] for row in rows) / len(rows) for s in STRATEGIES}
    if args.json:
        print(json.dumps({"pages": args.pages, "topics": rows, "island": means}, indent=1))
        return
    print(f"share of targets found within {args.pages} pages: on the island, of all")
    for row in rows:
        shares = (f"{s} {row[s]['island']:.2f} {row[s]['all']:.2f}" for s in STRATEGIES)
        print(f"{row['topic']:22}", "   ".join(shares))
    ours, other = (means[s] for s in STRATEGIES)
    print(f"islands, mean: treasure {ours:.2f}, best-first {other:.2f}", end="")
    print(f", {ours / other:.1f} times" if other else "")


def measure(pages: int, count: int | None) -> list[dict[str, Any]]:
    """Return what each strategy finds of each topic."""
    islands = {s.name.lower(): s.hosts[1] for s in read_subjects().values() if s.ddc}
    with tempfile.TemporaryDirectory(prefix="islands-") as folder:
        ensure_demo_web(Path(folder))
        web = ParsedWeb.open(Path(folder) / "web.warc.gz", None)
        topics = read_web_topics(Path(folder) / "topics.json")[:count]
        return [
            {"topic": topic.name}
            | {s: _shares(web, topic, islands[topic.name], s, pages) for s in STRATEGIES}
            for topic in topics
        ]


def _shares(
    web: ParsedWeb, topic: WebTopic, island: str, strategy: str, pages: int
) -> dict[str, float]:
    trial = Trial(topic.name, strategy, marks=(pages,))
    seeds = seeds_of(web.web, topic, "generic")
    crawl = build(topic, seeds, draw(web, topic, trial), trial)
    found = {fetch.url for fetch in simulate(web, crawl, seeds, pages)} & topic.targets
    targets = {url for url in topic.targets if url.startswith(island)}
    return {
        "island": len(found & targets) / len(targets),
        "all": len(found) / len(topic.targets),
    }


if __name__ == "__main__":
    main()
