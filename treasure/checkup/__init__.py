"""Checkup: what would go wrong with a crawl, said before it starts.

Each check looks at one part and gives findings in plain words, with what to do. Nothing is changed:
databases are written to and rolled back, and files that do not exist are not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from treasure.checkup.findings import PROBLEM, Finding, Plan
from treasure.checkup.machine import check_disk, check_machine
from treasure.checkup.parts import check_database, check_frontier, check_lexicon, check_topic
from treasure.checkup.project import check_project, check_settings, read_settings
from treasure.checkup.seeds import check_seeds
from treasure.errors import TreasureError


def examine(plan: Plan) -> list[Finding]:
    """Run every check; one that cannot run says why instead of stopping the others."""
    findings = list(check_machine())
    findings += check_project(plan)
    config, mistakes = read_settings(plan.settings)
    findings += mistakes
    checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("settings", lambda: check_settings(config, plan)),
        ("disk", lambda: check_disk(Path(config.runs_dir))),
        ("database", lambda: check_database(config)),
        ("frontier", lambda: check_frontier(config)),
        ("lexicon", lambda: check_lexicon(config)),
        ("topic", lambda: check_topic(plan.topic or config.topic, config)),
        ("seeds", lambda: check_seeds(plan.seeds, config)),
    ]
    for area, check in checks:
        try:
            findings += check()
        except TreasureError as error:
            findings.append(Finding(area, PROBLEM, str(error)))
    return findings
