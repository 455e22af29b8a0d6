"""What a page costs until we know what it says and whether it is on topic.

    python benchmarks/reading.py [--quick] [--json] [--warc ../shared/webs/schools/web.warc.gz]

CPU milliseconds a page on the site of throughput.py, or on the pages of an archive: reading (the
parser alone, then the walk and the words), judging (the page's vector, its D-numbers, the whole
verdict), and the judge's refits, spread over the pages of a crawl. The caches of the processor are
filled with other things between two steps, as they are in a crawl. The yardstick is what bare
Scrapy does to the same page: lxml and its LinkExtractor. Then, how long the longest page there may
be takes, and how long a verdict waits while a model is fitted in another thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import mean, median

import numpy as np
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from selectolax.lexbor import LexborHTMLParser

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import site as sites
from treasure.ddc.judge import (
    FIRST_REFIT,
    REFIT_GROWTH,
    Judge,
    page_document,
)
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.weighted import WeightedGalaxy
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.extract import MAX_TEXT_CHARS, decode, read_page
from treasure.pages import Page
from treasure.topic_reader import read_topics

LONG_CRAWL = 20_000
"""Pages over which refits are spread."""
_OTHER_THINGS = np.zeros(1 << 19)


def pages_of(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return addresses and HTML of the pages to read."""
    count = 200 if args.quick else 1_000
    if args.warc:
        web = VirtualWeb.open(args.warc)
        answers = [web.get(url) for url in islice(web.urls(), count)]
        return [
            (answer.url, decode(answer.body, answer.header("content-type")))
            for answer in answers
            if answer is not None and "html" in answer.header("content-type")
        ]
    with tempfile.TemporaryDirectory() as folder:
        site = sites.make(Path(folder) / "site", count, 20)
        return [(site.url(name), site.html(name).decode()) for name in site.files[:count]]


def cost(work: Callable[[int], object], count: int) -> float:
    """Return the mean CPU milliseconds of *work* for each of *count* pages."""
    total = 0.0
    for index in range(count):
        np.add(_OTHER_THINGS, 1.0, out=_OTHER_THINGS)
        started = time.process_time()
        work(index)
        total += time.process_time() - started
    return 1_000 * total / count


def new_judge(examples: Sequence[Page] = ()) -> Judge:
    judge = Judge(
        read_topics("astronomy"), galaxy=WeightedGalaxy(Lexicon.load()), examples=examples
    )
    judge.refit()
    return judge


def refits(pages: Sequence[Page]) -> float:
    """Return CPU milliseconds a page of refits in a crawl of LONG_CRAWL pages."""
    judge = new_judge(pages[:5])
    for page in pages:
        judge._collect(judge._count(page))
    started = time.process_time()
    judge.refit()
    once = time.process_time() - started
    times, due = 0, FIRST_REFIT
    while due < LONG_CRAWL:
        times, due = times + 1, int(due * REFIT_GROWTH) + 1
    return 1_000 * once * times / LONG_CRAWL


def waits(pages: Sequence[Page]) -> dict[str, float]:
    """Return how long verdicts take while models are fitted beside them, in milliseconds."""
    judge = new_judge(pages[:5])
    judge.work_beside()
    alone, beside = [], []
    for page in pages:
        started = time.perf_counter()
        judge._judge(page)
        alone.append(time.perf_counter() - started)
    for page in pages:
        if judge._fitting is None or not judge._fitting.is_alive():
            judge._renew()
        started = time.perf_counter()
        judge._judge(page)
        beside.append(time.perf_counter() - started)
    return {
        "verdict_ms": 1_000 * median(alone),
        "verdict_during_refit_ms": 1_000 * mean(beside),
        "longest_ms": 1_000 * max(beside),
    }


def longest_page() -> dict[str, float]:
    """Return milliseconds to read and to judge a page with as much text as we take."""
    paragraph = "<p>" + "galaxy telescope of the stars and planets " * 20 + "<a href=x>more</a></p>"
    html = paragraph * (2 * MAX_TEXT_CHARS // len(paragraph))
    judge = new_judge()
    started = time.process_time()
    page = read_page("http://long.test/", html)
    read = time.process_time()
    judge.verdict(page)
    judged = time.process_time()
    return {
        "megabytes": len(html) / 1e6,
        "words": page.terms.size,
        "reading_ms": 1_000 * (read - started),
        "judging_ms": 1_000 * (judged - read),
    }


def measure(args: argparse.Namespace) -> dict[str, object]:
    html = pages_of(args)
    count = len(html)
    read = [read_page(url, text) for url, text in html]  # words are met, judges are warm
    bytes_ = [text.encode() for _, text in html]
    extractor = LinkExtractor()

    def bare(index: int) -> object:
        response = HtmlResponse(html[index][0], body=bytes_[index], encoding="utf-8")
        return extractor.extract_links(response)

    judge, galaxy = new_judge(), WeightedGalaxy(Lexicon.load())
    for page in read[:50]:
        judge._judge(page)

    def fresh(index: int) -> Page:
        read[index].__dict__.pop("main_terms", None)
        return read[index]

    parts = {
        "scrapy_links": cost(bare, count),
        "parser": cost(lambda index: LexborHTMLParser(bytes_[index]), count),
        "reading": cost(lambda index: read_page(*html[index]), count),
        "vector": cost(lambda index: page_document(fresh(index)), count),
        "numbers": cost(lambda index: galaxy.numbers(fresh(index).main_terms, 3), count),
        "verdict": cost(lambda index: judge._judge(fresh(index)), count),
        "refits": refits(read),
    }
    return {
        "pages": count,
        "kilobytes": mean(map(len, bytes_)) / 1e3,
        "words": mean(page.terms.size for page in read),
        "links": mean(len(page.links) for page in read),
        "blocks": mean(len(page.blocks) for page in read),
        "ms_a_page": parts,
        "ratio": parts["scrapy_links"] / (parts["reading"] + parts["verdict"]),
        "longest_page": longest_page(),
        "beside_a_refit": waits(read[:400]),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200 pages instead of 1,000")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("--warc", type=Path, help="read the pages of this archive instead")
    args = parser.parse_args()
    if args.warc and not args.warc.is_file():
        print(f"There is no archive {args.warc}; give a WARC file, or leave --warc out.")
        return 2
    answer = measure(args)
    if args.json:
        print(json.dumps(answer, indent=2))
        return 0
    print(
        f"{answer['pages']} pages of {answer['kilobytes']:.0f} kB, {answer['words']:.0f} words,"
        f" {answer['links']:.0f} links and {answer['blocks']:.0f} blocks; CPU ms a page"
    )
    for name, value in answer["ms_a_page"].items():
        print(f"  {name:14} {value:6.3f}")
    print(f"Scrapy's links take {answer['ratio']:.2f} times what reading and judging take.")
    long, beside = answer["longest_page"], answer["beside_a_refit"]
    print(
        f"A page of {long['megabytes']:.1f} MB and {long['words']:,} words is read in"
        f" {long['reading_ms']:.0f} ms and judged in {long['judging_ms']:.0f}."
    )
    print(
        f"Beside a refit a verdict takes {beside['verdict_during_refit_ms']:.1f} ms (alone"
        f" {beside['verdict_ms']:.1f}), {beside['longest_ms']:.0f} at most."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
