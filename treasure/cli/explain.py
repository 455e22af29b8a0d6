"""``treasure explain``: every score a link was ever given, and why."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from treasure.cli import where

STRONGEST = 6
"""Features that are shown of each score."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("url", help="address of the link")
    parser.add_argument("--job", default="latest", help="name of the job (default: the latest)")
    parser.add_argument("--all-features", action="store_true", help="show weak features as well")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Tell the story of the link."""
    from treasure.explanation import explain

    store = where.open_store(args)
    try:
        told = explain(store, where.job_of(store, args.job), args.url, Path(args.runs_dir))
    finally:
        store.close()
    if args.json:
        print(json.dumps(told))
    else:
        _show(told, args.all_features)
    return 0 if told["events"] or told["page"] or told["refused_by"] else 1


def _show(told: dict[str, Any], all_features: bool) -> None:
    print(f"{told['url']}  (job {told['job']})")
    for event in told["events"]:
        then = time.strftime("%H:%M:%S", time.localtime(event["time"]))
        print(f"{then}  {_told(event)}")
        features = event.get("features") or event.get("explanation", {}).get("features") or {}
        for name, value, weight in _strongest(features, None if all_features else STRONGEST):
            print(f"            {name:<16} {value:+8.3f} x {weight:+7.3f} = {value * weight:+.3f}")
    if told["refused_by"]:
        print(f"refused by the rule {told['refused_by']!r}: it is never queued.")
    if (page := told["page"]) is not None:
        print(_fetched(page))
    if told["note"]:
        print(told["note"])
    if not told["events"] and not told["page"] and not told["refused_by"]:
        print("No page of this job links there, as far as the crawl has come.")


def _told(event: dict[str, Any]) -> str:
    kind = event["kind"]
    if kind == "scored":
        return (
            f"scored  {event['score']:.4f} by {event['page']} (relevance {event['relevance']:.2f})"
            f" through {event['anchor']!r}"
            + (f", T-Graph node {event['node']}" if event["node"] >= 0 else "")
        )
    if kind == "changed":
        return f"changed {event['score']:.4f} after {event['page']} was read"
    if kind == "refused":
        rule = event.get("rule") or "a rule of admission"
        return f"refused on {event['page']}: {rule}"
    if kind == "explained":
        return "fetched; its features were"
    turn = "drawn at random" if event["explored"] else "its turn"
    passed = f", {event['passed_over']} better hosts had to wait" if event["passed_over"] else ""
    return f"taken   {event['score']:.4f} + {event['ageing']:.4f} for waiting: {turn}{passed}"


def _strongest(features: dict[str, Any], count: int | None) -> list[tuple[str, float, float]]:
    rows = [(name, *_value_and_weight(given)) for name, given in features.items()]
    rows = [row for row in rows if row[1] * row[2]]
    return sorted(rows, key=lambda row: -abs(row[1] * row[2]))[:count]


def _value_and_weight(given: Any) -> tuple[float, float]:
    if isinstance(given, dict):
        return float(given.get("value", 0.0)), float(given.get("weight", 0.0))
    return float(given[0]), float(given[1])


def _fetched(page: dict[str, Any]) -> str:
    if page["failure"]:
        return f"fetched: {page['failure']}"
    if not page["status"] or page["status"] >= 300:
        return f"fetched: HTTP status {page['status']}"
    on = "on topic" if page["on_topic"] else "off topic"
    reason = f" ({page['reason']})" if page["reason"] else ""
    return f"fetched: {on}, relevance {page['relevance']:.2f}{reason}"
