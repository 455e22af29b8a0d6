"""A fleet on one Redis: 100 workers and a million hosts, in virtual time against a real server.

    python benchmarks/fleet.py --quick
    python benchmarks/fleet.py --workers 100 --hosts 1000000 --links 2000000 --pages 200000

Workers are many, so they are simulated in one process, each with its own connection to a real
redis-server; downloads take virtual time, the frontier is the real one. Half-way a tenth of the
workers die without a word. Shown are politeness (shortest time between two requests to a host),
balance (pages per worker), throughput, what a page costs the server, and that nothing is lost.
The yardstick is one bare Redis round trip (PING) in the same run.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from treasure.frontier.base import Entry, Policy
from treasure.frontier.redis import RedisFrontier

DELAY = 1.0
SLOTS = 8
"""Downloads at the same time, per worker."""
LEASE_SECONDS = 120.0


def links(count: int, hosts: int) -> list[list[Entry]]:
    """Return batches of links: a link for every host, then more for some, as on the web."""
    draw = random.Random(1)
    numbers = [n if n < hosts else int(hosts * draw.random() ** 3) for n in range(count)]
    draw.shuffle(numbers)
    entries = [
        Entry(f"http://www.h{host}.org/page/{n}.html", draw.random(), anchor="a few words")
        for n, host in enumerate(numbers)
    ]
    return [entries[start : start + 500] for start in range(0, count, 500)]


def simulate(url: str, workers: int, hosts: int, count: int, pages: int) -> dict[str, Any]:
    policy = Policy(delay=DELAY)
    fleet = [
        RedisFrontier(url, "fleet", policy, worker=f"w{n}", lease_seconds=LEASE_SECONDS)
        for n in range(workers)
    ]
    server = fleet[0]._redis
    empty = server.info("memory")["used_memory"]
    before = time.perf_counter()
    for batch in links(count, hosts):
        fleet[0].push(batch)
    filled = time.perf_counter() - before
    used = server.info("memory")["used_memory"] - empty
    before = time.perf_counter()
    for _ in range(2_000):
        server.ping()
    ping = (time.perf_counter() - before) / 2_000
    crawl = Crawl(fleet, pages)
    cpu, began = _cpu(server), time.perf_counter()
    crawl.run()
    spent, cpu = time.perf_counter() - began, _cpu(server) - cpu
    counts = fleet[0].counts()
    alive = [n for n in range(workers) if n not in crawl.dead]
    shares = [crawl.pages[n] for n in alive]
    return {
        "workers": workers,
        "hosts": hosts,
        "links": count,
        "push_per_s": count / filled,
        "server_bytes_per_link": used / count,
        "pages": len(crawl.done),
        "died": len(crawl.dead),
        "fetched_twice": crawl.twice,
        "lost": count - counts.queued - counts.leased - counts.done,
        "shortest_gap_s": crawl.shortest,
        "violations": crawl.violations,
        "pages_per_virtual_s": len(crawl.done) / crawl.now,
        "ceiling_per_virtual_s": workers * SLOTS / crawl.mean_seconds,
        "balance_min_mean_max": [min(shares), statistics.mean(shares), max(shares)],
        "pages_per_s": len(crawl.done) / spent,
        "client_us_per_page": 1e6 * (spent - cpu) / len(crawl.done),
        "server_us_per_page": 1e6 * cpu / len(crawl.done),
        "ping_us": 1e6 * ping,
        "page_in_pings": spent / len(crawl.done) / ping,
    }


class Crawl:
    """Workers that take, download for a while, and acknowledge, in virtual time."""

    mean_seconds = 0.5

    def __init__(self, fleet: list[RedisFrontier], pages: int) -> None:
        self.fleet = fleet
        self.wanted = pages
        self.now = 0.0
        self.pages = [0] * len(fleet)
        self.dead: set[int] = set()
        self.done: set[int] = set()
        self.twice = 0
        self.violations = 0
        self.shortest = float("inf")
        self.draw = random.Random(2)
        self._asked: dict[str, float] = {}
        self._events: list[tuple[float, int, int, str]] = []

    def run(self) -> None:
        # An event is a free slot of a worker, with the link that has just landed in it.
        for slot in range(SLOTS):
            for worker in range(len(self.fleet)):
                self._later(0.001 * slot, worker, 0, "")
        while len(self.done) < self.wanted and self._events:
            self.now, worker, key, host = heapq.heappop(self._events)
            if worker in self.dead:
                continue
            if key:
                self._landed(worker, key, host)
            if len(self.done) == self.wanted // 2 and not self.dead:
                self._some_die()
            if worker not in self.dead:
                self._take(worker)

    def _some_die(self) -> None:
        """Let a tenth of the workers fall silent, and their leases end at once."""
        self.dead = set(range(0, len(self.fleet), 10))
        names = {self.fleet[number].worker: 0.0 for number in self.dead}
        self.fleet[1]._redis.zadd(self.fleet[1]._prefix + "workers", names)
        self.fleet[1]._beat()

    def _later(self, seconds: float, worker: int, key: int, host: str) -> None:
        heapq.heappush(self._events, (self.now + seconds, worker, key, host))

    def _landed(self, worker: int, key: int, host: str) -> None:
        self.fleet[worker].landed(key, self.now)
        self.fleet[worker].acknowledge([key])
        self._asked[host] = max(self._asked[host], self.now)
        self.twice += key in self.done  # none but what the dead had under way
        self.done.add(key)
        self.pages[worker] += 1

    def _take(self, worker: int) -> None:
        lease = self.fleet[worker].take(self.now)
        if lease is None:
            at = self.fleet[worker].next_time(self.now)
            self._later(min(1.0, max(0.01, (at or 0) - self.now)), worker, 0, "")
            return
        host = lease.entry.url.split("/")[2]
        last = self._asked.get(host)
        if last is not None:
            self.shortest = min(self.shortest, self.now - last)
            self.violations += self.now - last < DELAY - 1e-6
        self._asked[host] = self.now
        self._later(self.draw.expovariate(1 / self.mean_seconds), worker, lease.key, host)


def _cpu(server: Any) -> float:
    used = server.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="under 45 s: 20,000 hosts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=2_000_000)
    parser.add_argument("--pages", type=int, default=100_000)
    args = parser.parse_args()
    if args.quick:
        args.hosts, args.links, args.pages = 20_000, 50_000, 8_000
    from tests.servers import RedisServer, free_port

    if not shutil.which("redis-server"):
        raise SystemExit("This benchmark needs redis-server on the PATH.")
    with tempfile.TemporaryDirectory(prefix="fleet-benchmark-") as folder:
        server = RedisServer(Path(folder), free_port())
        server.start()
        try:
            found = simulate(server.url, args.workers, args.hosts, args.links, args.pages)
        finally:
            server.kill()
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name:24} {value if isinstance(value, list) else f'{value:,.6g}'}")
    return 0 if not found["violations"] and not found["lost"] else 1


if __name__ == "__main__":
    sys.exit(main())
