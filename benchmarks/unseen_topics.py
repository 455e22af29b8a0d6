"""Topics that nobody labelled for us: labels are made from what the pages themselves are.

    python benchmarks/unseen_topics.py [--quick] [--json] [--warm] [--pages 200,500]

On the schools web a page is a target when its fact box says so (``Class: Mammalia``), on the
library web when it lies on a host of the subject. None of these topics is in ``topics.json``. The
yardstick is the best of the simple strategies there, link-context. Needs the webs in ../shared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from treasure.evaluation.compare import by_strategy, compare
from treasure.evaluation.metrics import mean
from treasure.evaluation.trial import Trial
from treasure.evaluation.virtual_web import VirtualWeb, read_web_topics

SHARED = Path(os.environ.get("TREASURE_SHARED", "../shared"))
STRATEGIES = ("treasure", "link-context")
BOX = 6_000
"""Letters at the top of an article within which its fact box lies."""
QUICK = 1

# name, Dewey number, description, what tells a target
SCHOOLS = [
    (
        "mammals",
        "599",
        "Mammals: species and families of mammals, their habitat, behaviour, diet, reproduction and"
        " conservation.",
        ("Class: Mammalia",),
    ),
    (
        "plants",
        "580",
        "Plants: species and genera of trees, shrubs, herbs and flowers, their leaves, fruit,"
        " habitat and uses; botany.",
        ("Kingdom: Plantae",),
    ),
    (
        "dinosaurs",
        "567.9",
        "Dinosaurs: genera of extinct dinosaurs, fossils, skeletons, palaeontology.",
        ("Dinosauria",),
    ),
    (
        "battles-wars",
        "355",
        "Wars and battles: combatants, commanders, campaigns, casualties, military history.",
        ("Combatants|Belligerents", "Casualties"),
    ),
    (
        "diseases",
        "616",
        "Diseases and medical conditions: symptoms, causes, diagnosis, treatment.",
        ("ICD- ?10",),
    ),
    (
        "fish-reptiles",
        "597",
        "Fish, reptiles and amphibians: species, habitat, behaviour.",
        ("Class: (Actinopterygii|Reptilia|Sauropsida|Amphibia|Chondrichthyes)",),
    ),
    (
        "insects",
        "595.7",
        "Insects and other arthropods: bees, beetles, butterflies, spiders.",
        ("Phylum: Arthropoda",),
    ),
]
LIBRARY = [
    (
        "web-development",
        "006.76",
        "Web development with a Python framework: models, views, templates, forms, URLs and"
        " middleware.",
        ("docs.djangoproject.com/",),
    ),
    (
        "computer-algebra",
        "512.0285",
        "Computer algebra systems: symbolic computation, groups, polynomials, integrals, matrices.",
        ("maxima.sourceforge.io/docs", "docs.gap-system.org/"),
    ),
    (
        "web-servers",
        "005.376",
        "Web servers: configuration of an HTTP server, modules, virtual hosts, logs and security.",
        ("httpd.apache.org/docs",),
    ),
    (
        "version-control",
        "005.1",
        "Version control of source code: commits, branches, merging, repositories.",
        ("git-scm.com/",),
    ),
    (
        "linux",
        "005.432",
        "The Linux operating system: installation, packages, system administration, shell and"
        " kernel.",
        ("debian-handbook.info/", "tldp.org/"),
    ),
    (
        "games",
        "794.8",
        "Computer games: role-playing dungeon games, monsters, quests and game of life.",
        ("golly.sourceforge.io", "nethack.gazetteer.org"),
    ),
]


def main() -> None:
    """Make the topics, crawl for each, print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} topic, at 100 pages")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--warm", action="store_true", help="give 10 examples, 100 other pages")
    parser.add_argument("--pages", default="200,500", help="pages to measure at")
    args = parser.parse_args()
    if not (SHARED / "webs").is_dir():
        print(f"Left out: {SHARED / 'webs'} is not there (TREASURE_SHARED names another place).")
        sys.exit(0)
    marks = (100,) if args.quick else tuple(int(mark) for mark in args.pages.split(","))
    webs = ("schools",) if args.quick else ("schools", "library")
    report = {web: measure(web, marks, args.warm, QUICK if args.quick else None) for web in webs}
    if args.json:
        print(json.dumps({"warm": args.warm, "pages": marks, "webs": report}, indent=1))
        return
    for web, rows in report.items():
        print(f"{web}: share of the oracle's hits after {args.pages if not args.quick else 100}")
        for topic, shares in rows.items():
            told = (f"{name} {'/'.join(f'{x:.2f}' for x in part)}" for name, part in shares.items())
            print(f"  {topic:18}", "   ".join(told))
        ours, other = (rows["mean"][name][0] for name in STRATEGIES)
        if other:
            print(f"  {ours / other:.2f} times {STRATEGIES[1]}")


def measure(
    name: str, marks: tuple[int, ...], warm: bool, count: int | None
) -> dict[str, dict[str, list[float]]]:
    """Return each topic's shares at the marks, by strategy, and their means."""
    path = SHARED / "webs" / name / "web.warc.gz"
    with tempfile.TemporaryDirectory(prefix="unseen-") as folder:
        topics = Path(folder) / "topics.json"
        topics.write_text(json.dumps(list(make_topics(name, path))[:count]))
        trials = [
            Trial(
                topic.name,
                strategy,
                marks=marks,
                examples=10 if warm else 0,
                background=100 if warm else 0,
            )
            for topic in read_web_topics(topics)
            for strategy in STRATEGIES
        ]
        results = compare(path, topics, trials, kept=Path(folder) / "results.jsonl")
    rows: dict[str, dict[str, list[float]]] = {}
    for result in results:
        shares = [figures.oracle_share for figures in result.figures]
        rows.setdefault(result.trial.topic, {})[result.trial.strategy] = shares
    rows["mean"] = {
        strategy: [
            mean([result.figures[at].oracle_share for result in of_it]).value
            for at in range(len(marks))
        ]
        for strategy, of_it in by_strategy(results).items()
    }
    return rows


def make_topics(name: str, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the topics of a web, with targets that the pages themselves tell."""
    seeds = read_web_topics(path.with_name("topics.json"))[0].seeds
    web = VirtualWeb.open(path)
    pages = {
        url: response.body
        for url in web.urls()
        if (response := web.get(url)) is not None and response.status == 200
    }
    tops = {url: _top(body) for url, body in pages.items()} if name == "schools" else {}
    for topic, number, description, signs in SCHOOLS if name == "schools" else LIBRARY:
        tells = _in_box(tops, signs) if name == "schools" else _on_host(signs)
        targets = [url for url in pages if tells(url)]
        yield {
            "name": topic,
            "ddc": number,
            "description": description,
            "seeds": list(seeds),
            "on_topic_seeds": targets[:3],
            "targets": targets,
        }


def _top(body: bytes) -> str:
    text = re.sub(
        r"<(script|style).*?</\1>|<[^>]+>", " ", body.decode("utf-8", "replace"), flags=re.DOTALL
    )
    return " ".join(text.split())[:BOX]


def _in_box(tops: dict[str, str], signs: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda url: all(re.search(sign, tops[url]) for sign in signs)


def _on_host(signs: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda url: url.partition("//")[2].startswith(signs)


if __name__ == "__main__":
    main()
