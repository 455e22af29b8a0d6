"""``treasure status``: shows what crawls are doing."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from treasure.cli import where

if TYPE_CHECKING:
    from treasure.repository.store import Store

LONG_WAIT_SECONDS = 10.0
"""A crawl that takes nothing for longer than this says so."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("job", nargs="?", help="name of a job, or `latest`; without it, all jobs")
    parser.add_argument("--watch", action="store_true", help="show it again every second")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the status once, or again and again."""
    store = where.open_store(args)
    try:
        while True:
            answer = detail(store, args.job) if args.job else overview(store)
            text = json.dumps(answer) if args.json else _text(answer)
            if args.watch and not args.json and sys.stdout.isatty():
                text = f"\x1b[H\x1b[2J{text}"
            print(text, flush=True)
            if not args.watch or (args.job and answer["state"] == "ended"):
                return 0
            time.sleep(1)
    finally:
        store.close()


def overview(store: Store) -> dict[str, Any]:
    """Return all jobs, latest first, a few figures each."""
    return {"jobs": [detail(store, job["job"]) for job in store.jobs()]}


def detail(store: Store, name: str) -> dict[str, Any]:
    """Return everything known of one job."""
    from treasure.repository.jobs import latest, running

    job = where.job_of(store, name)
    workers = store.statuses(job["job"])
    live = running(workers, job["stopped"])
    then, status = latest(workers)
    answer: dict[str, Any] = {
        "job": job["job"],
        "topic": job["topic"],
        "started": job["started"],
        "state": _state(job, live, status),
        "stop_reason": job["stop_reason"],
        "because": status.get("because", ""),
        "last_sign_of_life": then,
        "workers": live or ({status.get("worker", ""): status} if status else {}),
        "waiting": status.get("queued", 0),
        "stored": store.count(job["job"]),
        "redirects": store.count_free(job["job"]),
        "stored_on_topic": store.count(job["job"], on_topic=True),
    }
    return answer


def _state(job: dict[str, Any], live: dict[str, Any], latest: dict[str, Any]) -> str:
    if live:
        return "paused" if all(status.get("paused") for status in live.values()) else "running"
    if job["stopped"] is not None:
        return "ended"
    return "dead" if latest else "starting"


def _text(answer: dict[str, Any]) -> str:
    if "jobs" in answer:
        lines = [_line(job) for job in answer["jobs"]]
        return "\n".join(lines) if lines else "There is no job yet."
    return "\n".join([_line(answer), *_details(answer)])


def _line(job: dict[str, Any]) -> str:
    pages = job["stored"] - job["redirects"]
    harvest = job["stored_on_topic"] / pages if pages else 0.0
    rate = sum(status.get("pages_per_second", 0.0) for status in job["workers"].values())
    pace = f"  {rate:.1f}/s" if job["state"] == "running" else ""
    return (
        f"{job['job']}  {job['state']}  {pages:,} pages{pace}"
        f"  {job['stored_on_topic']:,} on topic  harvest {harvest:.0%}  {job['waiting']:,} waiting"
    )


def _details(job: dict[str, Any]) -> list[str]:
    lines = [f"  topic        {job['topic']}"]
    if job["state"] == "ended":
        lines.append(f"  ended        {job['because'] or job['stop_reason']}")
    if job["state"] == "dead":
        silent = time.time() - job["last_sign_of_life"]
        lines.append(
            f"  dead         no sign of life for {silent:.0f} s; start it again with"
            f" -a job={job['job']}, nothing is lost"
        )
    for worker, status in job["workers"].items():
        lines += _worker(worker, status)
    return lines


def _worker(worker: str, status: dict[str, Any]) -> list[str]:
    lines = [
        f"  worker       {worker}  {status.get('memory_bytes', 0) / 1e6:.0f} MB",
        f"  pages        {status.get('on_topic', 0):,} on topic, {status.get('off_topic', 0):,} off"
        f" topic, {status.get('failed', 0):,} failed, {status.get('redirected', 0):,} redirects",
        f"  frontier     {status.get('queued', 0):,} waiting on {status.get('hosts', 0):,} hosts,"
        f" {status.get('leased', 0):,} being fetched",
    ]
    if hosts := status.get("largest_hosts"):
        lines.append("  most links   " + ", ".join(f"{host} {count:,}" for host, count in hosts))
    if refused := status.get("refused"):
        rules = ", ".join(f"{rule} {count:,}" for rule, count in sorted(refused.items()))
        lines.append(f"  refused      {rules}")
    if limit := status.get("speed_limit"):
        lines.append(f"  speed        {limit}")
    if (seconds := status.get("next_link_seconds", 0.0)) > LONG_WAIT_SECONDS:
        lines.append(
            f"  waits        {seconds:,.0f} s until a host may be asked again: they asked for it"
            " (429, Retry-After, robots.txt), or failed"
        )
    for alert in status.get("alerts", []):
        lines += [f"  ALERT        {alert['text']}", f"               {alert['advice']}"]
    return lines
