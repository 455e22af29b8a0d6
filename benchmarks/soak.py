"""A long crawl under faults: nothing lost, memory and file descriptors flat, speed the same.

    python benchmarks/soak.py                  200,000 pages; hours
    python benchmarks/soak.py --quick          a few thousand pages, killed on the way; under 45 s

A generated web on loopback (in a process of its own) answers a share of all requests wrongly: the
connection is reset at once or within the body, the body is cut short, or the status is 500. The
crawl is killed with SIGKILL every now and then and started again with the same command. At the end
every page of the web must be in the repository.

Speed depends on what else the machine does, so the yardstick is the crawl itself: processor time a
page in the first and in the last fifth of the pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HOSTS = 64
SAMPLE_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
ON_TOPIC = "telescope star planet comet galaxy orbit astronomer nebula eclipse asteroid".split()
OFF_TOPIC = "recipe butter oven football league goal tractor harvest guitar melody sofa".split()
SYLLABLES = "ka lo mi ne ru sa te vo wi za ba du fe go hi ju".split()
"""What names are made of: a page has some of its own, or it would be a copy of the others, and the
links of many copies are not followed (``treasure.copies``)."""


class Web:
    """*pages* pages on HOSTS hosts. Page n links to 2n+1 and 2n+2, so all can be reached."""

    def __init__(self, pages: int, broken: float, answered: Any) -> None:
        self.pages = pages
        self.broken = broken
        self.answered: Synchronized[int] = answered
        self.random = random.Random(7)
        self.port = 0

    def url(self, number: int) -> str:
        return f"http://127.0.3.{1 + number % HOSTS}:{self.port}/page/{number}"

    def body(self, number: int) -> bytes:
        draw = random.Random(number)
        words = ON_TOPIC if number % 3 else OFF_TOPIC
        names = ["".join(draw.choices(SYLLABLES, k=3)) for _ in range(40)]
        paragraphs = [
            " ".join(draw.choices(words, k=45) + draw.choices(names, k=15)) for _ in range(8)
        ]
        near = [2 * number + 1, 2 * number + 2]
        far = [draw.randrange(self.pages) for _ in range(8)]
        links = [
            f'<li><a href="{self.url(other)}">{draw.choice(words)} {other}</a>'
            for other in near + far
            if other < self.pages
        ]
        text = "".join(f"<p>{paragraph}.</p>" for paragraph in paragraphs)
        return (
            f"<html lang=en><title>{words[0]} {number}</title>"
            f"<h1>{words[1]}</h1>{text}<ul>{''.join(links)}</ul>"
        ).encode()

    async def serve(self, ready: Any) -> None:
        hosts = [f"127.0.3.{number}" for number in range(1, HOSTS + 1)]
        with socket.socket() as probe:
            probe.bind((hosts[0], 0))
            self.port = probe.getsockname()[1]
        await asyncio.start_server(self._connected, hosts, self.port)
        ready.send(self.port)
        await asyncio.Event().wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if not await self._answer(head.split(b" ", 2)[1].decode(), writer):
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether the connection goes on."""
        number = int(path[6:]) if path.startswith("/page/") else -1
        if not 0 <= number < self.pages:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return True
        body = self.body(number)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        fault = self.random.choice(FAULTS) if self.random.random() < self.broken else ""
        if fault == "status":
            writer.write(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
        elif fault == "cut":
            writer.write(head.encode() + body[: len(body) // 2])
        elif fault == "reset in body":
            writer.write(head.encode() + body[:100])
        elif not fault:
            writer.write(head.encode() + body)
            with self.answered.get_lock():
                self.answered.value += 1
        if fault.startswith("reset"):
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return False
        await writer.drain()
        return fault != "cut"


FAULTS = ["status", "cut", "reset", "reset in body"]


def _serve(pages: int, broken: float, answered: Any, ready: Any) -> None:
    asyncio.run(Web(pages, broken, answered).serve(ready))


@dataclass
class Sample:
    """The crawl at one moment."""

    answered: int
    life: int
    cpu_seconds: float
    memory: int
    files: int


def _look(process: subprocess.Popen[bytes], life: int, answered: int) -> Sample | None:
    try:
        proc = Path(f"/proc/{process.pid}")
        stat = (proc / "stat").read_text().rpartition(")")[2].split()
        memory = int((proc / "statm").read_text().split()[1]) * PAGE_SIZE
        files = len(list((proc / "fd").iterdir()))
    except (OSError, IndexError):
        return None
    return Sample(answered, life, (int(stat[11]) + int(stat[12])) / TICKS, memory, files)


def soak(
    pages: int, broken: float, kill_seconds: float, runs: Path, strategy: str
) -> dict[str, Any]:
    """Crawl the generated web to its end, killed on the way; return what was seen."""
    answered = multiprocessing.Value("q", 0)
    ours, theirs = multiprocessing.Pipe()
    web = multiprocessing.Process(
        target=_serve, args=(pages, broken, answered, theirs), daemon=True
    )
    web.start()
    port = ours.recv()
    line = [sys.executable, "-m", "scrapy", "crawl", "treasure"]
    for argument in (
        "topic=astronomy", f"seeds=http://127.0.3.1:{port}/page/0", "job=soak",
        f"runs_dir={runs}", "allowed_networks=127.0.0.0/8", "contact=soak@example.org",
        "host_delay_seconds=0", "host_concurrency=4", "retry_times=8", "retry_seconds=0.2",
        "main_text=later", "progress=false", f"strategy={strategy}",
    ):  # fmt: skip
        line += ["-a", argument]
    samples: list[Sample] = []
    kills, started = 0, time.monotonic()
    try:
        while True:
            with (runs / "log.txt").open("ab") as log:
                crawl = subprocess.Popen(line, cwd=ROOT, stdout=log, stderr=log)
            born, before = time.monotonic(), answered.value
            while crawl.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                sample = _look(crawl, kills, answered.value)
                if sample is not None:
                    samples.append(sample)
                # Killed only while it works: not while it starts, not while it ends.
                if time.monotonic() - born > kill_seconds and answered.value > before + 50:
                    os.kill(crawl.pid, signal.SIGKILL)
                    crawl.wait()
                    kills += 1
                    break
            else:
                break
    finally:
        if crawl.poll() is None:
            crawl.kill()
            crawl.wait()
        web.terminate()
        web.join()
    return _figures(pages, runs, samples, answered.value, kills, time.monotonic() - started) | {
        "exit_code": crawl.returncode
    }


def _figures(
    pages: int, runs: Path, samples: list[Sample], answered: int, kills: int, seconds: float
) -> dict[str, Any]:
    with sqlite3.connect(runs / "treasure.db") as database:
        count = "select count(*), count(distinct url) from pages where job = 'soak'"
        stored, distinct = database.execute(f"{count} and status = 200 and failure = ''").fetchone()
    first, last = _cpu_per_page(samples, 0.0, 0.2), _cpu_per_page(samples, 0.8, 1.0)
    early = [sample for sample in samples if 0.1 * answered <= sample.answered <= 0.4 * answered]
    late = [sample for sample in samples if sample.answered >= 0.7 * answered]
    return {
        "pages": pages,
        "stored": stored,
        "lost": pages - distinct,
        "stored_twice": stored - distinct,
        "answered_again_after_kills": answered - pages,
        "kills": kills,
        "minutes": round(seconds / 60, 1),
        "pages_per_second": round(stored / seconds, 1),
        "cpu_ms_per_page_first_fifth": round(first * 1000, 2),
        "cpu_ms_per_page_last_fifth": round(last * 1000, 2),
        "last_fifth_to_first": round(last / first, 2) if first else 0.0,
        "memory_mb_early": _most(early, "memory") // 1_000_000,
        "memory_mb_late": _most(late, "memory") // 1_000_000,
        "files_early": _most(early, "files"),
        "files_late": _most(late, "files"),
    }


def _most(samples: list[Sample], name: str) -> int:
    return max((int(getattr(sample, name)) for sample in samples), default=0)


def _cpu_per_page(samples: list[Sample], begin: float, end: float) -> float:
    """Return the processor time a page between two shares of all pages, starts left out."""
    total = samples[-1].answered if samples else 0
    pages = cpu = 0.0
    for one, two in pairwise(samples):
        inside = begin * total <= one.answered and two.answered <= end * total
        if inside and one.life == two.life and two.answered > one.answered:
            pages += two.answered - one.answered
            cpu += two.cpu_seconds - one.cpu_seconds
    return cpu / pages if pages else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--broken", type=float, default=0.02, help="share of wrong answers")
    parser.add_argument("--kill-seconds", type=float, default=180.0)
    parser.add_argument("--strategy", default="treasure")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing stays behind
    if args.quick:
        args.pages, args.kill_seconds = 3_000, 7.0
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        figures = soak(args.pages, args.broken, args.kill_seconds, Path(folder), args.strategy)
        if figures["lost"] or figures["exit_code"]:
            print((Path(folder) / "log.txt").read_text()[-3000:], file=sys.stderr)
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):32} {value:>12,}")
    return int(bool(figures["lost"] or figures["stored_twice"] or figures["exit_code"]))


if __name__ == "__main__":
    sys.exit(main())
