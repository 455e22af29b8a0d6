"""Helpers of the crawl tests: small webs in WARC files, and Scrapy in a process of its own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def write_web(path: Path, pages: dict[str, str | tuple[str, str]]) -> Path:
    """Write a virtual web: HTML by URL, or (status line, header line) for anything else."""
    with path.open("wb") as file:
        for url, content in pages.items():
            status, header, body = "200 OK", "Content-Type: text/html", b""
            if isinstance(content, tuple):
                status, header = content
            else:
                body = content.encode()
            payload = f"HTTP/1.1 {status}\r\n{header}\r\n\r\n".encode() + body
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
                f"Content-Length: {len(payload)}\r\n\r\n"
            )
            file.write(gzip.compress(head.encode() + payload + b"\r\n\r\n"))
    return path


def command(runs: Path, *arguments: str, **settings: object) -> list[str]:
    """Return the command line of a crawl."""
    line = [sys.executable, "-m", "scrapy", "crawl", "treasure", "-a", f"runs_dir={runs}"]
    for argument in arguments:
        line += ["-a", argument]
    for name, value in settings.items():
        line += ["-s", f"{name}={value}"]
    return line


def crawl(runs: Path, *arguments: str, check: bool = True, **settings: object):
    """Crawl in a process of its own; return it when it has ended."""
    done = subprocess.run(
        command(runs, *arguments, **settings),
        cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )  # fmt: skip
    if check:
        assert done.returncode == 0, done.stderr[-4000:]
    return done


def summary(done) -> dict[str, object]:
    """Return the summary that a crawl logs at its end."""
    lines = [line for line in done.stderr.splitlines() if "[treasure.summary]" in line]
    assert lines, done.stderr[-4000:]
    return json.loads(lines[-1].partition("INFO: ")[2])
