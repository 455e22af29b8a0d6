"""Whether a page costs the same late in a crawl as early: CPU and memory as the crawl grows.

    python benchmarks/growth.py [--quick] [--json] [--pages 100000] [--links 2000000]

The decisions of a crawl (judge, T-Graph, learned scores) and a real frontier on disk, in a plain
loop without a network. Every page is one of a few hundred generated ones (benchmarks/site.py) with
new addresses for its links, drawn so that the frontier holds --links links at page --pages. The
yardstick is the cost of a page at the beginning, in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from zlib import crc32

sys.path.insert(0, str(Path(__file__).parent.parent))

import treasure  # noqa: F401 - before NumPy: it keeps BLAS on one thread, as in a crawl
from benchmarks import site as sites
from treasure import workbench
from treasure.config import TreasureConfig
from treasure.extract import read_page
from treasure.frontier.base import Entry

MODELS = 256
HOSTS = 2_000


def main() -> int:
    """Crawl and print a line for each tenth of the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1,000 pages, 20,000 links")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=2_000_000)
    args = parser.parse_args()
    if args.quick:
        args.pages, args.links = 1_000, 20_000
    rows = grow(args.pages, args.links, quiet=args.json)
    early, late = rows[1], rows[-1]
    found = {"rows": rows, "late/early": late["cpu_ms"] / early["cpu_ms"]}
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        print(
            f"A page costs {found['late/early']:.2f} times at page {late['page']:,} what it does"
            f" at page {early['page']:,}."
        )
    return 0


def grow(pages: int, links: int, *, quiet: bool) -> list[dict[str, float]]:
    """Crawl *pages* pages; return cost and size at ten moments."""
    draw = random.Random(1)
    share = min(1.0, links / pages / 60)
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        site = sites.make(Path(folder) / "site", MODELS, 50)
        models = [site.html(name).decode() for name in site.files]
        settings = {
            "TREASURE_TOPIC": sites.TOPIC,
            "TREASURE_RUNS_DIR": folder,
            "TREASURE_HOST_DELAY_SECONDS": 0,
            "TREASURE_EXAMPLES": [str(site.path(site.files[0]))],
        }
        bench = workbench.build(TreasureConfig.read(settings), [site.seed])
        bench.begun()
        bench.frontier.push([Entry(_address(0), 1.0)])
        step = max(1, pages // 10)
        began = time.process_time()
        for number in range(1, pages + 1):
            _page(bench, models, draw, number, share)
            if number % step == 0:
                spent = time.process_time() - began
                rows.append(
                    {
                        "page": number,
                        "cpu_ms": 1000 * spent / step,
                        "queued": bench.frontier.counts().queued,
                        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                    }
                )
                if not quiet:
                    _show(rows[-1])
                began = time.process_time()
        bench.close()
    return rows


def _page(bench: Any, models: list[str], draw: random.Random, number: int, share: float) -> None:
    lease = bench.frontier.take(float(number))
    assert lease is not None, "the frontier ran dry: more links than pages, please"
    bench.frontier.landed(lease.key, float(number))
    entry = lease.entry
    page = read_page(entry.url, models[crc32(entry.url.encode()) % len(models)])
    links = [link._replace(url=_target(draw, number, share)) for link in page.links]
    decision = bench.crawl.arrived(entry.url, page, links, depth=entry.depth, score=lease.score)
    best = {
        link.url: Entry(link.url, score, entry.depth + 1, page.url, link.anchor_text)
        for link, score in zip(decision.links, decision.scores, strict=True)
    }
    bench.frontier.push(list(best.values()))
    if decision.rescored:
        bench.frontier.rescore(decision.rescored)
    bench.frontier.acknowledge([lease.key])


def _target(draw: random.Random, number: int, share: float) -> str:
    """Return a new address, or one that a recent page linked to as well."""
    if draw.random() < share:
        return _address(draw.getrandbits(40))
    return _address(-draw.randrange(max(1, number - 200), number + 1))


def _address(number: int) -> str:
    return f"http://h{number % HOSTS}.example/section{number % 7}/{number}.html"


def _show(row: dict[str, float]) -> None:
    print(
        f"page {row['page']:8,.0f}  {row['cpu_ms']:6.2f} ms CPU a page"
        f"  {row['queued']:10,.0f} links waiting  {row['memory_mb']:6.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
