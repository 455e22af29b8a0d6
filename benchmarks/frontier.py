"""The frontier with up to 10 million queued links, beside Scrapy's and scrapy-redis's queues.

    python benchmarks/frontier.py --quick
    python benchmarks/frontier.py --links 100000 1000000 10000000

Each row is a process of its own: it fills the frontier, measures pushes and takes at that size,
then kills itself with SIGKILL; another process opens what is left. A take is take, landing and
acknowledgement, durable as in a crawl. The last columns compare with the yardstick (Scrapy's JOBDIR
queue, in the same run). On a noisy machine, believe the ratios and the CPU time of the caller.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

BATCH = 60
"""Links per page."""
TAKES = 5_000
YARDSTICK_LINKS = 50_000


def links(count: int, start: int = 0) -> Iterator[list[Any]]:
    """Yield batches of links: 100 links a host, texts as long as those of real pages."""
    from treasure.frontier.base import Entry

    draw = random.Random(start)
    words = "the of frontier lexicon gazette orchid basin tariff museum vessel quarry".split()
    hosts = max(20, min(100_000, count // 100))
    anchors = [" ".join(draw.choices(words, k=3)) for _ in range(1_000)]
    contexts = [" ".join(draw.choices(words, k=20)) for _ in range(20_000)]
    site = "https://www.host{}.example.org".format
    for first in range(start, start + count, BATCH):
        referrer = f"{site(int(draw.random() * hosts))}/{first:x}.html"
        yield [
            Entry(
                f"{site(int(draw.random() * hosts))}/{words[n % 11]}/{n:x}.html",
                draw.random(),
                n % 8,
                referrer,
                anchors[n % 1_000],
                contexts[int(draw.random() * 20_000)],
            )
            for n in range(first, min(first + BATCH, start + count))
        ]


def rss_mb(pid: int | str = "self") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def peak_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def open_home(kind: str, place: str) -> Any:
    from treasure.frontier.base import Policy

    policy = Policy(delay=1.0)
    if kind == "memory":
        from treasure.frontier.memory import MemoryFrontier

        return MemoryFrontier(policy)
    if kind == "embedded":
        from treasure.frontier.embedded import EmbeddedFrontier

        return EmbeddedFrontier(place, policy)
    from treasure.frontier.redis import RedisFrontier

    return RedisFrontier(place, "benchmark", policy, timeout_seconds=60)


def fill(kind: str, place: str, count: int) -> dict[str, float]:
    """Fill a frontier, then measure at its size."""
    from treasure.urls import url_key

    frontier = open_home(kind, place)
    text = 0
    began, spent = time.perf_counter(), 0.0
    for batch in links(count):
        text += sum(len(e.url) + len(e.referrer) + len(e.anchor) + len(e.context) for e in batch)
        before = time.perf_counter()
        frontier.push(batch)
        spent += time.perf_counter() - before
    filled = time.perf_counter() - began
    more = list(links(30_000, start=count))
    before, cpu = time.perf_counter(), time.thread_time()
    for batch in more:
        frontier.push(batch)
    pushes = 30_000 / (time.perf_counter() - before)
    push_cpu = (time.thread_time() - cpu) / 30_000
    now = 0.0
    before, cpu = time.perf_counter(), time.thread_time()
    for _ in range(TAKES):
        lease = frontier.take(now)
        while lease is None:
            now = max(now, frontier.next_time(now))
            lease = frontier.take(now)
        now += 0.001
        frontier.landed(lease.key, now)
        frontier.acknowledge([lease.key])
    takes = TAKES / (time.perf_counter() - before)
    take_cpu = (time.thread_time() - cpu) / TAKES
    scores = {url_key(e.url): e.score * 0.9 for e in frontier.peek(1_000)}
    before = time.perf_counter()
    frontier.rescore(scores)
    rescores = len(scores) / (time.perf_counter() - before)
    return {
        "fill_per_s": count / spent,
        "fill_seconds": filled,
        "push_per_s": pushes,
        "push_cpu_us": 1e6 * push_cpu,
        "take_per_s": takes,
        "take_cpu_us": 1e6 * take_cpu,
        "rescore_per_s": rescores,
        "rss_mb": rss_mb(),
        "peak_mb": peak_mb(),
        "text_bytes": text / count,
        "queued": frontier.counts().queued,
    }


def reopen(kind: str, place: str, _: int) -> dict[str, float]:
    before = time.perf_counter()
    frontier = open_home(kind, place)
    lease = frontier.take(1e9)
    assert lease is not None
    opened = time.perf_counter() - before
    counts = frontier.counts()
    return {"reopen_s": opened, "found": counts.queued + counts.leased, "reopen_rss_mb": rss_mb()}


def scrapy_jobdir(_: str, place: str, count: int) -> dict[str, float]:
    """Measure the disk queue of Scrapy's scheduler; kinder than its default, which is per host."""
    from scrapy import Request
    from scrapy.pqueues import ScrapyPriorityQueue
    from scrapy.squeues import PickleLifoDiskQueue
    from scrapy.utils.test import get_crawler

    queue = ScrapyPriorityQueue(get_crawler(), PickleLifoDiskQueue, place)
    return _measure_queue(
        lambda e: queue.push(
            Request(e.url, priority=int(e.score * 100), meta={"context": e.context})
        ),
        queue.pop,
        count,
    )


def scrapy_redis(_: str, place: str, count: int) -> dict[str, float]:
    import redis
    from scrapy import Request, Spider
    from scrapy.utils.test import get_crawler
    from scrapy_redis.queue import PriorityQueue

    spider = Spider.from_crawler(get_crawler(), name="benchmark")
    queue = PriorityQueue(redis.Redis.from_url(place), spider, "scrapy-redis")
    return _measure_queue(
        lambda e: queue.push(
            Request(e.url, priority=int(e.score * 100), meta={"context": e.context})
        ),
        queue.pop,
        count,
    )


def _measure_queue(push: Any, pop: Any, count: int) -> dict[str, float]:
    batches = list(links(count))
    before = time.perf_counter()
    for batch in batches:
        for entry in batch:
            push(entry)
    pushes = count / (time.perf_counter() - before)
    before = time.perf_counter()
    for _ in range(TAKES):
        assert pop() is not None
    takes = TAKES / (time.perf_counter() - before)
    return {"push_per_s": pushes, "take_per_s": takes, "rss_mb": rss_mb(), "queued": count}


STEPS = {
    "fill": fill,
    "reopen": reopen,
    "scrapy JOBDIR": scrapy_jobdir,
    "scrapy-redis": scrapy_redis,
}


def child(step: str, kind: str, place: str, count: int) -> dict[str, Any]:
    """Run a step in a process of its own, which kills itself at the end."""
    command = [sys.executable, "-W", "ignore", __file__, "--step", step, kind, place, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise RuntimeError(f"{step} {kind}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def start_redis(folder: Path) -> tuple[subprocess.Popen[bytes], str] | None:
    from tests.servers import RedisServer, free_port

    if not shutil.which("redis-server"):
        return None
    server = RedisServer(folder, free_port())
    server.start()
    assert server.process is not None
    return server.process, server.url


def measure(sizes: list[int], homes: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="frontier-benchmark-") as name:
        folder = Path(name)
        count = min(YARDSTICK_LINKS, max(sizes))
        yardstick = child("scrapy JOBDIR", "", str(folder / "jobdir"), count)
        rows.append({"home": "scrapy JOBDIR", "links": count, **yardstick})
        for size in sizes:
            rows += [measure_home(home, size, folder / f"{home}-{size}") for home in homes]
        if "redis" in homes and importlib.util.find_spec("scrapy_redis") is None:
            print("Without scrapy-redis: pip install scrapy-redis to compare.", file=sys.stderr)
        elif "redis" in homes:
            rows.append(measure_scrapy_redis(folder / "scrapy-redis", count))
    for row in rows:
        row["takes_ratio"] = row["take_per_s"] / yardstick["take_per_s"]
        row["pushes_ratio"] = row["push_per_s"] / yardstick["push_per_s"]
    return rows


def measure_home(home: str, size: int, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    place, server = str(folder / "frontier"), None
    if home == "redis":
        server = start_redis(folder)
        if server is None:
            raise SystemExit("redis-server is not installed; leave it out with --homes embedded")
        place = server[1]
    try:
        row = {"home": home, "links": size, **child("fill", home, place, size)}
        if server is not None:
            row["server_mb"] = rss_mb(server[0].pid)
            row["bytes_per_link"] = row["server_mb"] * 1024**2 / row["queued"]
        if home == "embedded":
            used = sum(f.stat().st_size for f in Path(place).rglob("*") if f.is_file())
            row["bytes_per_link"] = used / row["queued"]
            row["bytes_beyond_text"] = row["bytes_per_link"] - row["text_bytes"]
        if home != "memory":
            row.update(child("reopen", home, place, size))
            assert row["found"] == row["queued"], "links were lost"
    finally:
        if server is not None:
            server[0].kill()
            server[0].wait()
        shutil.rmtree(folder)
    return row


def measure_scrapy_redis(folder: Path, count: int) -> dict[str, Any]:
    folder.mkdir()
    server = start_redis(folder)
    assert server is not None
    try:
        answer = child("scrapy-redis", "", server[1], count)
        answer["server_mb"] = rss_mb(server[0].pid)
        return {"home": "scrapy-redis", "links": count, **answer}
    finally:
        server[0].kill()
        server[0].wait()


COLUMNS = [
    ("home", "home", "{}"),
    ("links", "links", "{:,}"),
    ("push_per_s", "push/s", "{:,.0f}"),
    ("push_cpu_us", "CPU us", "{:.0f}"),
    ("take_per_s", "take/s", "{:,.0f}"),
    ("take_cpu_us", "CPU us", "{:.0f}"),
    ("rescore_per_s", "rescore/s", "{:,.0f}"),
    ("rss_mb", "RSS MB", "{:.0f}"),
    ("server_mb", "server MB", "{:.0f}"),
    ("bytes_per_link", "B/link", "{:.0f}"),
    ("text_bytes", "text B", "{:.0f}"),
    ("reopen_s", "reopen s", "{:.2f}"),
    ("pushes_ratio", "push x", "{:.1f}"),
    ("takes_ratio", "take x", "{:.1f}"),
]


def show(rows: list[dict[str, Any]]) -> None:
    print("| " + " | ".join(title for _, title, _ in COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for row in rows:
        cells = [form.format(row[name]) if name in row else "" for name, _, form in COLUMNS]
        print("| " + " | ".join(cells) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="under 45 s: 30,000 links")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--links", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--homes", nargs="+", default=["memory", "embedded", "redis"])
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        step, kind, place, count = args.step
        print(json.dumps(STEPS[step](kind, place, int(count))), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    rows = measure([30_000] if args.quick else args.links, args.homes)
    if args.json:
        print(json.dumps(rows, indent=1))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
