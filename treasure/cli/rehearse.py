"""``treasure rehearse``: what a change would have done to a crawl, before it is applied."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from treasure.cli import assignments, where
from treasure.errors import ConfigError

if TYPE_CHECKING:
    from treasure.rehearsal import Rehearsal

SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("job", help="name of the job, or `latest`")
    parser.add_argument("--topic", help="another topic")
    parser.add_argument("--threshold", type=float, help="another least relevance")
    parser.add_argument("--strategy", help="another strategy")
    assignments.add_settings(parser, "any other setting, such as TREASURE_STRATEGY_OPTIONS")
    parser.add_argument("--pages", type=int, default=2_000, help="pages to read (default 2000)")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Rehearse the change."""
    from treasure.rehearsal import rehearse

    changes = _changes(args)
    store = where.open_store(args)
    try:
        result = rehearse(store, where.job_of(store, args.job), changes, most=args.pages)
    finally:
        store.close()
    if args.json:
        print(json.dumps(result.as_dict()))
    else:
        _show(result)
    return 0


def _changes(args: argparse.Namespace) -> dict[str, Any]:
    changes: dict[str, Any] = {**assignments.read(args.settings)}
    foreign = next((name for name in changes if not name.startswith("TREASURE_")), None)
    if foreign is not None:
        raise ConfigError(f"-s must name a TREASURE_* setting. Got {foreign!r} instead.")
    named = {
        "TREASURE_TOPIC": args.topic,
        "TREASURE_TOPIC_THRESHOLD": args.threshold,
        "TREASURE_STRATEGY": args.strategy,
    }
    changes |= {name: value for name, value in named.items() if value is not None}
    if not changes:
        raise ConfigError("Say what shall change: --topic, --threshold, --strategy or -s.")
    return changes


def _show(result: Rehearsal) -> None:
    print(f"{result.pages:,} pages read again, {result.unread:,} were not kept.")
    print(
        f"Kept: {result.kept_before:,} before, {result.kept_after:,} after"
        f" ({len(result.gained):,} gained, {len(result.lost):,} lost)."
    )
    for mark, urls in (("+", result.gained), ("-", result.lost)):
        for url in urls[:SHOWN]:
            print(f"  {mark} {url}")
        if len(urls) > SHOWN:
            print(f"  {mark} and {len(urls) - SHOWN:,} more")
    print(f"Links: of the best tenth of {result.links:,}, {result.same_front:.0%} stay in front.")
    if result.insight_before is not None and result.insight_after is not None:
        print(
            "A link to a page on topic was above one to a page off topic with chance"
            f" {result.insight_before:.2f} before, {result.insight_after:.2f} after."
        )
    for word, moved in (("rises", result.risen), ("falls", result.fallen)):
        for url, before, after in moved:
            print(f"  {word}  {before:.3f} -> {after:.3f}  {url}")
