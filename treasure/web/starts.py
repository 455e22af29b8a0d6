"""Crawls that were started from the page: processes of their own that go on without us."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

from treasure.crawl_command import crawl_command, crawl_environment

LOG = "crawl.log"
TOLD_BYTES = 20_000


class Starts:
    """Starts crawls, and knows how the starting went."""

    def __init__(self) -> None:
        self._started: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}

    def start(
        self, job: str, folder: Path, arguments: Mapping[str, str], secrets: Mapping[str, str]
    ) -> None:
        """Start ``scrapy crawl treasure`` for *job*; its log is in *folder*."""
        log = folder / LOG
        # A mistake that is found before Scrapy logs is told to the standard error.
        with log.open("ab") as file:
            process = subprocess.Popen(
                crawl_command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
                env=crawl_environment() | dict(secrets),
            )
        self._started[job] = process, log
        # Somebody has to wait for it, or it stays in the process table as long as we run.
        Thread(target=process.wait, name=f"wait for {job}", daemon=True).start()

    def state(self, job: str) -> dict[str, Any] | None:
        """Return how *job* is; None when it was not started here."""
        if job not in self._started:
            return None
        process, log = self._started[job]
        code = process.poll()
        state = "running" if code is None else "failed" if code else "ended"
        return {
            "job": job,
            "state": state,
            "log": str(log),
            "told": "" if code is None else _last_words(log),
        }


def _last_words(log: Path) -> str:
    """Return the last error in a log; its last line when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TOLD_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if "ERROR: " in line or "CRITICAL: " in line]
    words = (errors or said or [""])[-1]
    return re.sub(r"^.*?(ERROR|CRITICAL): ", "", words)[:500]
