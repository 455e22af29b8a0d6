"""How good the judge is: ranking, calibration and speed on the schools web.

For every topic the judge sees the pages one after the other, as in a crawl, and gives each one
verdict. Measured against the editors' labels: mean average precision of the relevance, Brier score,
precision and recall at the threshold, and the reliability of the probabilities. Cold: name, number
and description; warm: ten example pages and a hundred unlabelled pages more, which are not scored.
The yardstick is a plain tf-idf query (cosine to the topic's words) on the same pages.

    python benchmarks/judge.py [--quick] [--json] [--plot docs/judge-reliability.svg]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from treasure.ddc.judge import Judge, page_document
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.page_model import DocumentFrequencies, document, matrix
from treasure.ddc.weighted import WeightedGalaxy
from treasure.evaluation.parsed_web import ParsedWeb
from treasure.evaluation.trial import Trial, draw
from treasure.evaluation.virtual_web import WebTopic, read_web_topics, understood_topic
from treasure.pages import Page
from treasure.text import VOCABULARY, words

SHARED = Path(os.environ.get("TREASURE_SHARED", "../shared"))
BINS = 10


def average_precision(scores: np.ndarray, relevant: np.ndarray) -> float:
    """Return the average precision of ranking by *scores*."""
    ranked = relevant[np.argsort(-scores, kind="stable")]
    hits = np.cumsum(ranked)
    return float((hits / np.arange(1, ranked.size + 1))[ranked].mean())


def query_scores(pages: list[Page], topic: WebTopic) -> np.ndarray:
    """Return the cosine of each page and the topic's words."""
    texts = [document(page.main_terms) for page in pages]
    frequencies = DocumentFrequencies()
    for text in texts:
        frequencies.add(text.terms)
    query = document(VOCABULARY.ids(words(understood_topic(topic).text)))
    rows = matrix([query, *texts], frequencies.idf)
    return np.asarray((rows[1:] @ rows[0].T).todense()).ravel()


def judged(pages: list[Page], judge: Judge) -> tuple[np.ndarray, float]:
    """Return the relevance of each page and the seconds of CPU it took."""
    started = time.process_time()
    relevance = np.array([judge.verdict(page).relevance for page in pages])
    return relevance, time.process_time() - started


def measure(
    web: ParsedWeb, topics: list[WebTopic], pages: list[Page], warm: bool
) -> dict[str, Any]:
    """Return the figures over *topics*, with or without examples."""
    everything: list[np.ndarray] = []
    rows = []
    seconds = 0.0
    for topic in topics:
        trial = Trial(topic.name, "", examples=10 if warm else 0, background=100 if warm else 0)
        inputs = draw(web, topic, trial)
        given = inputs.training | {page.url for page in inputs.background}
        tested = [page for page in pages if page.url not in given]
        judge = Judge(
            [understood_topic(topic)],
            galaxy=WeightedGalaxy(Lexicon.load()),
            examples=inputs.examples,
            background=inputs.background,
        )
        relevance, cpu = judged(tested, judge)
        seconds += cpu
        truth = np.array([page.url in topic.targets for page in tested])
        on = relevance >= 0.5
        rows.append(
            {
                "topic": topic.name,
                "average_precision": average_precision(relevance, truth),
                "query_average_precision": average_precision(query_scores(tested, topic), truth),
                "brier": float(np.mean((relevance - truth) ** 2)),
                "precision": float(truth[on].mean()) if on.any() else 0.0,
                "recall": float(on[truth].mean()),
            }
        )
        everything.append(np.stack([relevance, truth]))
    joined = np.concatenate(everything, axis=1)
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key != "topic"}
    return {
        **means,
        "ratio_to_query": means["average_precision"] / means["query_average_precision"],
        "pages_per_cpu_second": joined.shape[1] / seconds,
        "reliability": reliability(joined[0], joined[1]),
        "topics": rows,
    }


def reliability(relevance: np.ndarray, truth: np.ndarray) -> list[tuple[float, float, int]]:
    """Return for each tenth of the scale: mean probability, share on topic, pages."""
    bins = np.minimum((relevance * BINS).astype(int), BINS - 1)
    return [
        (float(relevance[bins == b].mean()), float(truth[bins == b].mean()), int((bins == b).sum()))
        for b in range(BINS)
        if (bins == b).any()
    ]


def plot(results: dict[str, Any], path: Path) -> None:
    """Draw the reliability of cold and warm verdicts."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "treasure", "svg.fonttype": "path"}):
        figure = Figure(figsize=(6, 5))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1)
        for name, colour in (("cold", "#c4622d"), ("warm", "#0b6e4f")):
            points = results[name]["reliability"]
            axes.plot(
                [p[0] for p in points], [p[1] for p in points], "o-", color=colour, label=name
            )
        axes.set_xlabel("relevance the judge gave")
        axes.set_ylabel("share of these pages on topic")
        axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four topics, a quarter of the pages")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    folder = SHARED / "webs" / "schools"
    if not folder.is_dir():
        print(f"There is no {folder}; set TREASURE_SHARED to the folder that holds webs/.")
        return 2
    web = ParsedWeb.open(folder / "web.warc.gz")
    topics = read_web_topics(folder / "topics.json")
    urls = list(web.web.urls())
    if args.quick:
        topics, urls = topics[1::3], urls[::4]
    pages = [page for page in map(web.page, urls) if page is not None]
    for page in pages:
        page_document(page)
    results = {name: measure(web, topics, pages, name == "warm") for name in ("cold", "warm")}
    if args.plot:
        plot(results, args.plot)
    if args.json:
        json.dump(results, sys.stdout, indent=1)
        print()
        return 0
    for name, figures in results.items():
        print(
            f"{name}: mean average precision {figures['average_precision']:.3f}"
            f" (tf-idf query {figures['query_average_precision']:.3f},"
            f" ratio {figures['ratio_to_query']:.2f}), Brier {figures['brier']:.4f},"
            f" precision {figures['precision']:.2f}, recall {figures['recall']:.2f},"
            f" {figures['pages_per_cpu_second']:.0f} pages per second of CPU"
        )
        for row in figures["topics"]:
            print(
                f"   {row['topic']:18} {row['average_precision']:.3f}"
                f" (query {row['query_average_precision']:.3f})  Brier {row['brier']:.4f}"
                f"  p/r {row['precision']:.2f}/{row['recall']:.2f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
