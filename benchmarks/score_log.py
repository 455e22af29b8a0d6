"""What the score log costs a crawl: the same pages decided about with and without it.

    python benchmarks/score_log.py [--quick] [--json]

The yardstick is the analysis of a page in the same run: read, judge, learn, score.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from itertools import islice
from pathlib import Path

from treasure.crawl import Crawl
from treasure.ddc.judge import Judge
from treasure.evaluation.demo_web import DemoWeb
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.extract import read_page
from treasure.frontier.base import Entry, Lease
from treasure.score_log import FILE, ScoreLog, history
from treasure.strategies import make_strategy
from treasure.strategies.base import Brief
from treasure.topic_reader import read_topics
from treasure.urls import url_key


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--web", default="", help="WARC file or folder; default is the demo web")
    parser.add_argument("--topic", default="astronomy")
    args = parser.parse_args()
    pages = load(args.web, 300 if args.quick else 2_000)
    topics = read_topics(args.topic)
    judge = Judge(topics)
    crawl = Crawl(judge, make_strategy("treasure", Brief(topic=topics[0], judge=judge)))
    with tempfile.TemporaryDirectory() as folder:
        log = ScoreLog(Path(folder) / FILE)
        analysis = logging = writing = 0.0
        links = 0
        for url, body in pages:
            started = time.process_time()
            page = read_page(url, body)
            decision = crawl.arrived(url, page, page.links)
            analysed = time.process_time()
            measured = crawl.strategy.measured()
            log.scored(page, page.links, decision, measured, time.time())
            if decision.links:
                target = decision.links[0].url
                lease = Lease(url_key(target), Entry(target, 0.5), 0.5, 0.0, False, 0)
                log.taken(lease, time.time())
                log.explained(lease.key, crawl.strategy.explain(url), time.time())
            logged = time.process_time()
            if log.full and (opened := log.cut()) is not None:
                log.write(opened)
            analysis += analysed - started
            logging += logged - analysed
            writing += time.process_time() - logged
            links += len(decision.links)
        log.close()
        started = time.perf_counter()
        history(log.path, pages[0][0])
        scan = time.perf_counter() - started
        size = log.path.stat().st_size
    count = len(pages)
    answer = {
        "pages": count,
        "links": links,
        "analysis_ms_per_page": round(1e3 * analysis / count, 3),
        "log_ms_per_page": round(1e3 * (logging + writing) / count, 3),
        "of_that_in_a_thread_ms": round(1e3 * writing / count, 3),
        "share_of_analysis": round((logging + writing) / analysis, 4),
        "bytes_per_link": round(size / max(1, links), 1),
        "scan_ms": round(1e3 * scan, 1),
    }
    if args.json:
        print(json.dumps(answer))
    else:
        for name, value in answer.items():
            print(f"{name:<24} {value}")


def load(web: str, count: int) -> list[tuple[str, bytes]]:
    """Return pages of a web: the demo's unless told."""
    if web:
        opened = VirtualWeb.open(web)
        responses = (response for url in opened.urls() if (response := opened.get(url)) is not None)
    else:
        responses = (response for response in DemoWeb().responses())
    whole = (
        response
        for response in responses
        if response.status == 200 and b"<html" in response.body[:500].lower()
    )
    return [(response.url, response.body) for response in islice(whole, count)]


if __name__ == "__main__":
    main()
