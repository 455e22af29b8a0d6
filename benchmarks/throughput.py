"""Pages a second and CPU a page: Treasure in full against bare Scrapy that analyses nothing.

    python benchmarks/throughput.py [--quick] [--json] [--pages 2000] [--rounds 3]

All crawlers fetch the same generated site (benchmarks/site.py) from the same server on a core of
its own, in turns, several times:

  a  Scrapy with its defaults and LinkExtractor; nothing analysed, nothing stored
  b  Scrapy tuned: needless middlewares off, links by lxml, a cheap fingerprint
  c  Treasure in full: judge, D-numbers, T-Graph and learned scores, explanations, an embedded
     frontier on disk, all HTML compressed in SQLite
  p  c with the papers' own strategy (treasure-paper), where --paper asks for it
  r  scrapy-redis, where it is installed and --redis asks for it
  d  two processes like c on one Redis frontier and one PostgreSQL, where --several asks for it
  4  crawl4ai in its HTTP mode (no browser), breadth first; nothing analysed, nothing stored.
     --crawl4ai installs it into an environment of its own below ~/.cache/treasure-benchmarks

CPU is user and system time of the crawler's process, all threads, from a fifth of the pages to the
last: what is loaded at the start counts once a crawl (benchmarks/startup.py), and so does what is
kept at the end, which is the column "end", in seconds, with the pages that were under way. On a
busy machine CPU says more than pages a second. "Loop" is the share of the thread that runs the
event loop, "servers" is what the site, Redis and PostgreSQL took beside it, all of the run. Main
texts and the search index are made in a process of their own (or by `treasure refresh`) and do not
count here.

Pages a second are counted from the moment when every process has a fifth of its pages until the
first has its last: a crawl of hours hardly knows that one process began a second before another,
or that the last of them closes alone. One process of c has the first core, those of d have one
each, as their servers take what is left.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

TOPIC = "astronomy"
CORES = sorted(os.sched_getaffinity(0))
WARM_UP = 5
NAMES = {
    "a": "Scrapy, defaults",
    "b": "Scrapy, tuned",
    "c": "Treasure in full",
    "p": "Treasure, papers' strategy",
    "r": "scrapy-redis",
    "d": "Treasure, 2 processes",
    "4": "crawl4ai, HTTP mode",
}
CRAWL4AI = Path.home() / ".cache" / "treasure-benchmarks" / "crawl4ai"


def main() -> int:
    """Run all crawlers in turns and print what they took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="800 pages, one round of a and c")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--paper", action="store_true", help="also the papers' strategy")
    parser.add_argument("--redis", action="store_true", help="also scrapy-redis")
    parser.add_argument("--several", action="store_true", help="also two processes")
    parser.add_argument("--crawl4ai", action="store_true", help="also crawl4ai, installed apart")
    parser.add_argument("--only", default="", help="letters of the crawlers to run")
    parser.add_argument("--profile", default="", help="file for the cProfile of c")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(crawl(json.loads(args.child))))
        return 0
    if args.quick:
        args.pages, args.rounds = 800, 1
    letters = "ac" if args.quick else "abc"
    letters += "p" * args.paper + "r" * args.redis + "d" * args.several + "4" * args.crawl4ai
    if "r" in (args.only or letters) and importlib.util.find_spec("scrapy_redis") is None:
        raise SystemExit("scrapy-redis is not installed here: pip install scrapy-redis.")
    found = compare(args.only or letters, args.pages, args.rounds, args.profile)
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    return 0


def compare(letters: str, pages: int, rounds: int, profile: str) -> dict[str, Any]:
    from benchmarks import site as sites

    runs: dict[str, list[dict[str, float]]] = {letter: [] for letter in letters}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="throughput-")))
        site = sites.make(folder / "site", int(pages * 1.5), max(50, pages // 20))
        stack.enter_context(site.served(CORES[-1] if len(CORES) > 1 else None))
        (folder / "example.html").write_bytes(site.html(site.files[0]))
        places: dict[str, str] = {}
        if set(letters) & set("dr"):
            places["redis"] = stack.enter_context(_Redis(folder))
        if "d" in letters:
            places["postgres"] = stack.enter_context(_postgres())
        for _ in range(rounds):
            for letter in letters:
                task = {
                    "letter": letter,
                    "pages": pages,
                    "seed": site.seed,
                    "examples": [str(folder / "example.html")],
                    "folder": str(folder / uuid4().hex),
                    "profile": profile,
                    **places,
                }
                runs[letter].append(_run(task))
    found: dict[str, Any] = {"pages": pages, "rounds": rounds}
    for letter, results in runs.items():
        found[letter] = {
            "name": NAMES[letter],
            "pages": results[0]["pages"],
            "cpu_ms": [1000 * r["cpu"] / r["pages"] for r in results],
            "loop_ms": [1000 * r["loop"] / r["pages"] for r in results],
            "end_s": [r["end"] for r in results],
            "servers_ms": [1000 * r["servers"] / r["arrived"] for r in results],
            "pages_per_s": [r["pages_per_s"] for r in results],
            "stall_ms": max(r.get("stall", 0.0) for r in results) * 1000,
        }
    for other in ("a", "b", "r", "4"):
        if other in letters and "c" in letters:
            found[f"c/{other}"] = _median(found[other]["cpu_ms"]) / _median(found["c"]["cpu_ms"])
    if "d" in letters and "c" in letters:
        found["d/c"] = _median(found["d"]["pages_per_s"]) / _median(found["c"]["pages_per_s"])
    return found


def show(found: dict[str, Any]) -> None:
    print(f"{found['pages']} pages, {found['rounds']} rounds")
    heads = ("CPU ms/page", "least..most", "loop", "end", "servers", "pages/s", "stall")
    print(" " * 29, "{:>11}  {:>13}  {:>6}  {:>6}  {:>7}  {:>7}  {:>7}".format(*heads))
    for letter in NAMES:
        if letter in found:
            row = found[letter]
            cpu = row["cpu_ms"]
            spread = f"{min(cpu):.1f}..{max(cpu):.1f}"
            stall = f"{row['stall_ms']:.0f} ms" if row["stall_ms"] else ""
            figures = (
                f"{_median(row['loop_ms']):6.2f}  {_median(row['end_s']):4.2f} s"
                f"  {_median(row['servers_ms']):7.2f}"
                f"  {_median(row['pages_per_s']):7.0f}"
            )
            print(
                f"{letter} {row['name']:27} {_median(cpu):11.2f}  {spread:>13}"
                f"  {figures}  {stall:>7}"
            )
    for ratio, what in (
        ("c/a", "times fewer CPU a page than Scrapy's defaults"),
        ("c/b", "times fewer than tuned Scrapy"),
        ("c/r", "times fewer than scrapy-redis"),
        ("c/4", "times fewer than crawl4ai"),
        ("d/c", "times the pages/s of one process"),
    ):
        if ratio in found:
            print(f"{ratio} {found[ratio]:.2f} {what}")


def _run(task: dict[str, Any]) -> dict[str, float]:
    """Crawl in a process of its own on the first core, or in two."""
    several = task["letter"] == "d"
    task["job"] = uuid4().hex
    processes, servers = [], _servers_cpu()
    for worker in range(2 if several else 1):
        python = _crawl4ai() if task["letter"] == "4" else sys.executable
        command = [python, __file__, "--child", json.dumps({**task, "worker": worker})]
        quiet = {**os.environ, "CRAWL4AI_NO_CLOUD_NOTICE": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=quiet)
        os.sched_setaffinity(process.pid, {CORES[worker % len(CORES)]})
        processes.append(process)
    answers = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise SystemExit(f"The crawler {NAMES[task['letter']]!r} failed; its log is above.")
    results = [json.loads(answer.decode().splitlines()[-1]) for answer in answers]
    shutil.rmtree(task["folder"], ignore_errors=True)
    return {
        "pages": sum(len(r["times"]) for r in results),
        "arrived": sum(r["arrived"] for r in results),
        "cpu": sum(r["cpu"] for r in results),
        "loop": sum(r["loop"] for r in results),
        "end": sum(r["end"] for r in results),
        "servers": _servers_cpu() - servers,
        "pages_per_s": _rate([r["times"] for r in results]),
        "stall": max(r.get("stall", 0.0) for r in results),
    }


def _rate(arrivals: list[list[float]]) -> float:
    """Return the pages a second of all processes while all were at work; 0 if they never were."""
    if not all(arrivals):
        return 0.0
    began, ended = max(times[0] for times in arrivals), min(times[-1] for times in arrivals)
    if ended <= began:
        return 0.0
    return sum(began < time <= ended for times in arrivals for time in times) / (ended - began)


def _servers_cpu() -> float:
    """Return the CPU seconds of all our child processes, and of theirs, that have not ended."""
    ours, spent, waiting = {os.getpid()}, 0, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = place.read_text().rpartition(")")[2].split()
            waiting[int(place.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    while found := {pid for pid, (parent, _) in waiting.items() if parent in ours}:
        ours |= found
        spent += sum(waiting.pop(pid)[1] for pid in found)
    return spent / os.sysconf("SC_CLK_TCK")


# -- in the crawler's process


def crawl(task: dict[str, Any]) -> dict[str, Any]:
    """Run one crawler to its end; return when pages arrived and what they took."""
    if task["letter"] == "4":
        return asyncio.run(_crawl4ai_crawl(task))
    from scrapy import signals
    from scrapy.crawler import AsyncCrawlerProcess

    settings, spider, arguments = _crawler(task)
    process = AsyncCrawlerProcess({"LOG_LEVEL": "WARNING", **settings})
    crawler = process.create_crawler(spider)
    watch = _Watch(task["pages"])
    profiler = None
    if task["profile"] and task["letter"] in "cp":
        import cProfile

        profiler = cProfile.Profile(time.thread_time)

    def arrived() -> None:
        if watch.arrived() and profiler is not None:
            profiler.enable()

    crawler.signals.connect(arrived, signal=signals.response_received, weak=False)
    process.crawl(crawler, **arguments)
    process.start()
    if profiler is not None:
        profiler.disable()
        profiler.dump_stats(task["profile"])
    stats = crawler.stats.get_stats()
    return watch.seen() | {"stall": stats.get("treasure/loop/longest_stall_seconds", 0.0)}


class _Watch:
    """Notes when pages arrive, and what was spent by then."""

    def __init__(self, pages: int) -> None:
        self.warm_up = pages // WARM_UP
        self.count = 0
        self.times: list[float] = []
        self.first = self.last = (0.0, 0.0)

    def arrived(self) -> bool:
        """Note that a page is here; tell whether it is the one to count from."""
        self.count += 1
        self.last = _cpu(), time.thread_time()
        if self.count == self.warm_up:
            self.first = self.last
        elif self.count > self.warm_up:
            self.times.append(time.time())
        return self.count == self.warm_up

    def seen(self) -> dict[str, Any]:
        """Return what was noted, when all is over."""
        (cpu, loop), (last_cpu, last_loop) = self.first if self.times else self.last, self.last
        return {
            "arrived": self.count,
            "times": self.times,
            "cpu": last_cpu - cpu,
            "loop": last_loop - loop,
            "end": _cpu() - last_cpu,
        }


async def _crawl4ai_crawl(task: dict[str, Any]) -> dict[str, Any]:
    """Follow links breadth first with crawl4ai; as bare as it can be made: no Markdown wanted."""
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    strategy = AsyncHTTPCrawlerStrategy(HTTPCrawlerConfig())
    config = CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS, verbose=False, stream=True, semaphore_count=32
    )
    seen, waiting = {task["seed"]}, [task["seed"]]
    watch = _Watch(task["pages"])
    async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:
        while waiting and watch.count < task["pages"]:
            batch, waiting = waiting[: task["pages"] - watch.count], []
            async for result in await crawler.arun_many(batch, config=config):
                watch.arrived()
                links = [link for kind in result.links.values() for link in kind]
                new = [url for url in (link["href"] for link in links) if url not in seen]
                seen.update(new)
                waiting += new
    return watch.seen()


def _crawl4ai() -> str:
    """Return the interpreter that has crawl4ai; make it when there is none."""
    python = CRAWL4AI / "bin" / "python"
    try:
        if not python.exists():
            venv.create(CRAWL4AI, with_pip=True)
        if subprocess.run([python, "-c", "import crawl4ai"], capture_output=True).returncode:
            subprocess.run([python, "-m", "pip", "install", "-q", "crawl4ai"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"crawl4ai cannot be installed into {CRAWL4AI}: {error}") from None
    return str(python)


def _crawler(task: dict[str, Any]) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    if task["letter"] == "a":
        settings = {"CLOSESPIDER_PAGECOUNT": task["pages"]}
        return settings, _plain_spider(), {"seed": task["seed"]}
    if task["letter"] == "b":
        return _tuned(task["pages"]), _tuned_spider(), {"seed": task["seed"]}
    if task["letter"] == "r":
        redis = {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": task["redis"],
            "CLOSESPIDER_PAGECOUNT": task["pages"],
        }
        return redis, _plain_spider(), {"seed": task["seed"]}
    return _treasure(task)


def _treasure(task: dict[str, Any]) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    from treasure.spiders.treasure import TreasureSpider

    several = task["letter"] == "d"
    settings = {
        "ADDONS": {"treasure.addon.TreasureAddon": 500},
        "TREASURE_TOPIC": TOPIC,
        "TREASURE_EXAMPLES": task["examples"],
        "TREASURE_STRATEGY": "treasure-paper" if task["letter"] == "p" else "treasure",
        "TREASURE_ALLOWED_NETWORKS": ["127.0.0.0/8"],
        "TREASURE_HOST_DELAY_SECONDS": 0,
        "TREASURE_MAX_PAGES": task["pages"],
        "TREASURE_RUNS_DIR": task["folder"],
        "TREASURE_REPOSITORY_HTML": "all",
        "TREASURE_MAIN_TEXT": "later",
        "TREASURE_PROGRESS": False,
        "TREASURE_LATENCY_BACKOFF": 0,
        "TREASURE_CONTACT": "benchmark@example.org",
        "ROBOTSTXT_OBEY": True,
    }
    if several:
        settings |= {
            "TREASURE_MAX_PAGES": task["pages"] * 7 // 5,  # of both, and the site has half more
            "TREASURE_FRONTIER": task["redis"],
            "TREASURE_REPOSITORY": task["postgres"],
            "TREASURE_JOB": task["job"],
        }
    return settings, TreasureSpider, {"seeds": task["seed"]}


def _plain_spider() -> Any:
    from scrapy import Request, Spider
    from scrapy.linkextractors import LinkExtractor

    class PlainSpider(Spider):
        name = "plain"

        async def start(self) -> Any:
            yield Request(self.seed)

        def parse(self, response: Any) -> Any:
            for link in LinkExtractor().extract_links(response):
                yield Request(link.url)

    return PlainSpider


def _tuned_spider() -> Any:
    from lxml import html
    from scrapy import Request, Spider

    class TunedSpider(Spider):
        name = "tuned"

        async def start(self) -> Any:
            yield Request(self.seed)

        def parse(self, response: Any) -> Any:
            tree = html.fromstring(response.body, base_url=response.url)
            seen = set()
            for link in tree.iter("a"):
                address = link.get("href")
                if address and address not in seen:
                    seen.add(address)
                    yield response.follow(address)

    return TunedSpider


def _tuned(pages: int) -> dict[str, Any]:
    from treasure.addon import UNNEEDED_DOWNLOADER_MIDDLEWARES, UNNEEDED_SPIDER_MIDDLEWARES

    return {
        "CLOSESPIDER_PAGECOUNT": pages,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_ITEMS": 4,
        "REQUEST_FINGERPRINTER_CLASS": "benchmarks.throughput.CheapFingerprint",
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOADER_MIDDLEWARES": dict.fromkeys(UNNEEDED_DOWNLOADER_MIDDLEWARES),
        "SPIDER_MIDDLEWARES": dict.fromkeys(UNNEEDED_SPIDER_MIDDLEWARES),
    }


class CheapFingerprint:
    """Takes the address as it is for the request."""

    def fingerprint(self, request: Any) -> bytes:
        """Return the address."""
        return request.url.encode()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _median(values: list[float]) -> float:
    return statistics.median(values)


# -- servers of the fleet


class _Redis:
    def __init__(self, folder: Path) -> None:
        from tests.servers import RedisServer, free_port

        if importlib.util.find_spec("redis") is None or not shutil.which("redis-server"):
            raise SystemExit("This needs redis-server on the PATH and the Python package redis.")
        self.server = RedisServer(folder, free_port())

    def __enter__(self) -> str:
        self.server.start()
        return self.server.url

    def __exit__(self, *error: object) -> None:
        self.server.kill()


def _postgres() -> Any:
    from contextlib import contextmanager

    from tests import servers

    return contextmanager(servers.postgres_server.__wrapped__)()


if __name__ == "__main__":
    sys.exit(main())
