"""Which rating of a link that stands on several pages should count: the first, best or mean?

Runs strategies that rate links page by page (``memory.SeveralPages``) on topics of the schools web
and prints hits as a share of the oracle's; the yardstick is ``best``, what most papers do.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from treasure.evaluation.oracle import link_graph
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.trial import Trial, run
from treasure.evaluation.virtual_web import read_web_topics

SHARED = Path(os.environ.get("TREASURE_SHARED", Path(__file__).parents[2] / "shared"))
WAYS = ("first", "best", "mean")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one topic, one strategy")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--topics", default="mathematics,computing,africa")
    parser.add_argument("--strategies", default="best-first,link-context,shark-search")
    parser.add_argument("--pages", type=int, default=300)
    args = parser.parse_args()
    folder = SHARED / "webs" / "schools"
    if not folder.exists():
        print(f"{folder} is not there; set TREASURE_SHARED.", file=sys.stderr)
        return 2
    names, strategies = args.topics.split(","), args.strategies.split(",")
    if args.quick:
        names, strategies, args.pages = names[:1], strategies[:1], 100
    web = ParsedWeb.open(folder / "web.warc.gz")
    graph = link_graph(web)
    topics = {topic.name: topic for topic in read_web_topics(folder / "topics.json")}
    rows = {}
    for strategy in strategies:
        for way in WAYS:
            shares = []
            for name in names:
                trial = Trial(
                    name,
                    strategy,
                    marks=(args.pages,),
                    examples=10,
                    background=100,
                    options={"several": way},
                )
                result = run(web, graph, topics[name], trial)
                shares.append(result.figures[0].hits / result.oracle[args.pages - 1])
            rows[f"{strategy} {way}"] = sum(shares) / len(shares)
        if not args.json:
            share = {way: rows[f"{strategy} {way}"] for way in WAYS}
            ratio = share["mean"] / share["best"] if share["best"] else float("inf")
            text = ", ".join(f"{way} {value:.0%}" for way, value in share.items())
            print(f"{strategy}: {text}; mean is {ratio:.2f} times best", flush=True)
    if args.json:
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
