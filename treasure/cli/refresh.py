"""``treasure refresh``: re-visit stored pages that are due, and mend the repository."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from treasure.cli import assignments, where
from treasure.errors import ConfigError, UnavailableError
from treasure.stopping import REPOSITORY_UNAVAILABLE

if TYPE_CHECKING:
    from treasure.repository.store import Store

PARTS = ("finish", "rejudge", "visit", "repair")
EPILOG = """\
Without a choice all is done, in this order. From cron, once an hour:
  treasure refresh --max-minutes 30
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parts = parser.add_argument_group("parts")
    parts.add_argument("--finish", action="store_true", help="index what is stored but not indexed")
    parts.add_argument(
        "--rejudge", action="store_true", help="judge all pages again, changed topic or not"
    )
    parts.add_argument("--visit", action="store_true", help="look at pages that are due")
    parts.add_argument("--repair", action="store_true", help="check, mend and vacuum the database")
    parser.add_argument("--list", action="store_true", help="only show which pages are due")
    parser.add_argument("--max-pages", type=int, default=0, help="pages to look at, at most")
    parser.add_argument("--max-minutes", type=float, default=0.0, help="minutes to look, at most")
    parser.add_argument("--topic", help="judge by this topic from now on")
    assignments.add_settings(parser, "a Scrapy or TREASURE_* setting")
    parser.add_argument("--json", action="store_true", help="write JSON")
    where.add_job_option(parser)


def run(args: argparse.Namespace) -> int:
    """Do the parts that were asked for and report."""
    settings = _settings(args)
    store = where.open_store_of_job(args)
    try:
        if args.list:
            return _list(store, args)
        chosen = [part for part in PARTS if getattr(args, part)] or list(PARTS)
        report = _refresh(store, args, settings, chosen)
    finally:
        store.close()
    print(json.dumps(report) if args.json else _told(report))
    return 0


def _refresh(
    store: Store, args: argparse.Namespace, settings: dict[str, str], chosen: list[str]
) -> dict[str, Any]:
    from treasure.repository.finishing import finish_all
    from treasure.repository.repair import repair

    method = settings.get("TREASURE_MAIN_TEXT", "trafilatura")
    report: dict[str, Any] = {}
    if "finish" in chosen:
        report["finished"] = finish_all(store, method=method)
    if "rejudge" in chosen:
        report["rejudged"] = _rejudge(store, args, settings)
    if "visit" in chosen:
        report["visited"] = _visit(args, settings)
    if "rejudge" in chosen or "visit" in chosen:
        report["finished"] = report.get("finished", 0) + finish_all(store, method=method)
    if "repair" in chosen:
        report["repairs"] = asdict(repair(store))
    return report


def _rejudge(
    store: Store, args: argparse.Namespace, settings: dict[str, str]
) -> dict[str, dict[str, int]]:
    """Judge again the jobs whose topic, lexicon or threshold changed; all when that was asked."""
    from treasure.repository.judges import JobJudges
    from treasure.repository.rejudge import rejudge

    judges = JobJudges(store, settings)
    report = {}
    for row in store.jobs():
        job = row["job"]
        if args.job not in (None, job) or not (args.rejudge or judges.changed(job)):
            continue
        judge = judges(job)
        if judge is not None:
            report[job] = asdict(rejudge(store, job, judge))
            judges.remember(job)
    return report


def _visit(args: argparse.Namespace, settings: dict[str, str]) -> dict[str, int]:
    from treasure.spiders.refresh import run as crawl

    arguments = {"repository": where.repository_url(args)}
    if args.job:
        arguments["job"] = args.job
    for name in ("max_pages", "max_minutes"):
        if getattr(args, name):
            arguments[name] = str(getattr(args, name))
    stats = crawl(settings, arguments)
    if stats.get("finish_reason") == "configuration_error":
        raise ConfigError(str(stats.get("treasure/error", "the spider could not start.")))
    if stats.get("finish_reason") == REPOSITORY_UNAVAILABLE:
        raise UnavailableError("The repository did not answer; what was looked at is stored.")
    prefix = "treasure/refresh/"
    return {name.removeprefix(prefix): n for name, n in stats.items() if name.startswith(prefix)}


def _list(store: Store, args: argparse.Namespace) -> int:
    from treasure.repository.judges import JobJudges
    from treasure.repository.visits import Visits

    due = Visits(store, JobJudges(store)).due(time.time(), args.max_pages or 100, args.job)
    if args.json:
        print(json.dumps([{"url": v.url, "relevance": v.relevance, "job": v.job} for v in due]))
        return 0
    for visit in due:
        days = (time.time() - visit.history.checked_at) / 86_400
        print(f"{visit.relevance:.2f}  {days:6.1f} d  {visit.url}")
    return 0


def _settings(args: argparse.Namespace) -> dict[str, str]:
    from treasure.config import TreasureConfig

    settings = {"LOG_LEVEL": "WARNING"} | assignments.read(args.settings)
    if args.topic:
        settings["TREASURE_TOPIC"] = args.topic
    config = TreasureConfig.read(settings)
    if config.topic:
        from treasure.workbench import topics_of

        topics_of(config)  # before anything is done
    return settings


def _told(report: dict[str, Any]) -> str:
    lines = []
    if report.get("finished") or list(report) == ["finished"]:
        lines.append(f"Indexed:   {report['finished']:,} pages")
    for job, done in report.get("rejudged", {}).items():
        lines.append(
            f"Rejudged:  {job}: {done['judged']:,} pages, {done['now_on_topic']:,} came on topic,"
            f" {done['now_off_topic']:,} fell off"
        )
    if "visited" in report:
        found = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(report["visited"].items()))
        lines.append(
            f"Looked at: {sum(report['visited'].values()):,} pages" + f" ({found})" * bool(found)
        )
    if "repairs" in report:
        done = report["repairs"]
        lines.append(f"Repairs:   {'; '.join(done['problems']) or 'nothing was wrong'}")
        if done["bytes_freed"]:
            lines.append(f"Freed:     {done['bytes_freed']:,} bytes")
    return "\n".join(lines)
