"""``treasure doctor``: says in plain words what would go wrong with a crawl."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from treasure.cli import assignments

if TYPE_CHECKING:
    from treasure.checkup.findings import Finding

MARKS = {"ok": "ok", "note": "note", "warning": "WARNING", "problem": "PROBLEM"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--topic", default="", help="topic of the crawl you plan")
    parser.add_argument("--seeds", default="", help="file or comma list of its seeds")
    parser.add_argument("--web", default="", metavar="FILE", help="virtual web it shall crawl")
    assignments.add_settings(parser, "a Scrapy setting")
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def run(args: argparse.Namespace) -> int:
    """Examine everything; the exit code is 1 when there is a problem."""
    from treasure.checkup import examine
    from treasure.checkup.findings import PROBLEM, WARNING, Plan

    settings, project = _project_settings(args)
    findings = examine(Plan(settings, project, args.topic, args.seeds))
    problems = sum(finding.level == PROBLEM for finding in findings)
    warnings = sum(finding.level == WARNING for finding in findings)
    if args.json:
        rows = [finding.as_dict() for finding in findings]
        print(json.dumps({"problems": problems, "warnings": warnings, "findings": rows}, indent=2))
    else:
        _show(findings)
        print(f"\nProblems: {problems}. Warnings: {warnings}.")
    return 1 if problems else 0


def _project_settings(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the settings as ``scrapy crawl`` would have them, and their module's name."""
    import os

    # The one command that looks at a Scrapy project, as Scrapy itself finds it.
    from scrapy.utils.project import get_project_settings  # noqa: TID251

    from treasure.errors import ConfigError

    try:
        found = get_project_settings()
    except (ImportError, SyntaxError) as error:
        raise ConfigError(f"The settings of this Scrapy project cannot be read: {error}.") from None
    settings = {name: found[name] for name in found} | assignments.read(args.settings)
    if args.web:
        settings["TREASURE_WEB"] = args.web
    return settings, os.environ.get("SCRAPY_SETTINGS_MODULE", "")


def _show(findings: list[Finding]) -> None:
    colours = {"warning": "\x1b[33m", "problem": "\x1b[31m", "ok": "\x1b[32m"}
    for finding in findings:
        mark = f"{MARKS[finding.level]:8}"
        if sys.stdout.isatty() and finding.level in colours:
            mark = f"{colours[finding.level]}{mark}\x1b[0m"
        print(f"{mark} {finding.area:11} {finding.text}")
        if finding.advice and finding.level != "ok":
            print(f"{'':21}{finding.advice}")
