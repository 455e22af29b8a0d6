"""How long it takes to start: the first request of a crawl, and `treasure --help`.

    python benchmarks/startup.py [--quick] [--json]

A server on loopback notes when the first request comes in, and what the crawler's process has
computed until then. Bare Scrapy with a spider of a few lines is the yardstick in the same run. The
first Treasure crawl also makes the repository; the others find it. On a busy machine the CPU time
is what counts: on an idle one it is about the time you wait.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PLAIN = """
import scrapy
class Plain(scrapy.Spider):
    name = "plain"
    start_urls = ["{url}"]
    def parse(self, response):
        pass
"""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found = measure(1 if args.quick else args.rounds)
    if args.json:
        print(json.dumps(found, indent=1))
        return 0
    print(f"{'':32} {'CPU s':>6}  {'waited s':>8}")
    for name, row in found.items():
        if isinstance(row, dict):
            print(f"{name:32} {row['cpu']:6.2f}  {row['waited']:8.2f}")
    print(f"Treasure takes {found['ratio']:.2f} times the CPU of bare Scrapy.")
    return 0


def measure(rounds: int) -> dict[str, Any]:
    """Return medians of CPU and waiting time until the first request, by crawler."""
    with tempfile.TemporaryDirectory(prefix="startup-") as folder, socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        spider = Path(folder) / "plain.py"
        spider.write_text(PLAIN.format(url=url))
        scrapy = [sys.executable, "-m", "scrapy"]
        plain = [*scrapy, "runspider", "--nolog", str(spider)]
        treasure = [
            *(*scrapy, "crawl", "--nolog", "treasure", "-a", "topic=astronomy"),
            *("-a", f"seeds={url}", "-a", f"runs_dir={folder}/runs"),
            *("-a", "contact=benchmark@example.org", "-a", "allowed_networks=127.0.0.0/8"),
            *("-a", "host_clock=false"),
        ]
        first = _until_request(treasure, server)
        runs: dict[str, list[tuple[float, float]]] = {"Scrapy": [], "Treasure": [], "--help": []}
        for _ in range(rounds):
            runs["Scrapy"].append(_until_request(plain, server, Path(folder)))
            runs["Treasure"].append(_until_request(treasure, server))
            runs["--help"].append(_until_end([sys.executable, "-m", "treasure", "--help"]))
    found: dict[str, Any] = {
        "Scrapy, first request": _medians(runs["Scrapy"]),
        "Treasure, first request": _medians(runs["Treasure"]),
        "the same, new repository": _medians([first]),
        "treasure --help": _medians(runs["--help"]),
    }
    found["ratio"] = found["Treasure, first request"]["cpu"] / found["Scrapy, first request"]["cpu"]
    return found


def _medians(runs: list[tuple[float, float]]) -> dict[str, float]:
    cpu, waited = zip(*runs, strict=True)
    return {"cpu": statistics.median(cpu), "waited": statistics.median(waited)}


def _until_request(
    command: list[str], server: socket.socket, folder: Path = ROOT
) -> tuple[float, float]:
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        server.settimeout(120)
        connection, _ = server.accept()
        waited, cpu = time.monotonic() - began, _cpu(process.pid)
        connection.close()
    except TimeoutError:
        raise SystemExit(f"No request came from: {' '.join(command)}") from None
    finally:
        process.kill()
        process.wait()
    return cpu, waited


def _until_end(command: list[str]) -> tuple[float, float]:
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, time.monotonic() - began


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
