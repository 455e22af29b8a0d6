"""Checks of the machine: Python, packages, open files, disk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from treasure import core
from treasure.checkup.findings import DISTRIBUTION, NOTE, OK, PROBLEM, WARNING, Finding

LEAST_PYTHON = (3, 11)
LEAST_DISK, LITTLE_DISK = 200_000_000, 5_000_000_000
PAGE_BYTES = 15_000
"""What a stored page takes: compressed HTML, text, links and index."""
FEW_FILES = 4_096


def check_machine() -> Iterator[Finding]:
    """Look at Python, our packages and the limit of open files."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < LEAST_PYTHON:
        yield Finding("python", PROBLEM, f"Python {version} is too old.", "Install 3.11 or later.")
    else:
        yield Finding("python", OK, f"Python {version}.")
    yield from check_packages()
    yield check_core()
    yield from check_open_files()


def check_packages() -> Iterator[Finding]:
    """Compare what is installed with what our distribution asks for."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or []]
    except metadata.PackageNotFoundError:
        yield Finding(
            "packages", WARNING, "Treasure runs from its source and is not installed.",
            "pip install -e . tells you which packages are missing.",
        )  # fmt: skip
        return
    missing: dict[str, list[str]] = {}
    for requirement in wanted:
        if requirement.name == DISTRIBUTION:
            continue
        extra = _extra(requirement.marker)
        try:
            installed = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            missing.setdefault(extra, []).append(str(requirement.name))
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            yield Finding(
                "packages", WARNING if extra else PROBLEM,
                f"{requirement.name} {installed} does not fit {requirement.specifier}.",
                f"pip install '{requirement.name}{requirement.specifier}'",
            )  # fmt: skip
    if "" in missing:
        names = " ".join(missing.pop(""))
        yield Finding("packages", PROBLEM, f"Missing: {names}.", f"pip install {names}")
    else:
        yield Finding("packages", OK, "Every package that we need is here.")
    optional = sorted(missing.keys() - {"all", "dev"})
    if optional:
        yield Finding(
            "packages", NOTE, f"Without {', '.join(optional)}: nothing needs them yet.",
            f"pip install '{DISTRIBUTION}[{','.join(optional)}]'",
        )  # fmt: skip


def check_core() -> Finding:
    """Tell whether what takes most of the time is compiled."""
    if core.COMPILED:
        return Finding("core", OK, "Our core is compiled.")
    return Finding(
        "core", NOTE, core.SLOW,
        "Install gcc, libc6-dev and python3-dev (or their like), then Treasure again with pip.",
    )  # fmt: skip


def _extra(marker: Any) -> str:
    """Return the extra that a requirement belongs to; empty when everybody needs it."""
    if marker is None or marker.evaluate({"extra": ""}):
        return ""
    known = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    return next((name for name in known if marker.evaluate({"extra": name})), "other")


def check_open_files() -> Iterator[Finding]:
    """A crawl holds a socket a request, and the frontier its files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        yield Finding(
            "open files", WARNING,
            f"This shell allows {soft} open files; sockets and the frontier may need more.",
            f"Type 'ulimit -n {FEW_FILES}' before you crawl.",
        )  # fmt: skip
    else:
        yield Finding("open files", OK, "As many open files as a crawl needs.")


def check_disk(folder: Path) -> Iterator[Finding]:
    """Look at the space where runs and the default repository are kept."""
    place = existing(folder)
    free = shutil.disk_usage(place).free
    pages = free // PAGE_BYTES
    text = f"{free / 1e9:.1f} GB free at {place}: room for about {pages:,} pages."
    if not writable(place):
        yield Finding("disk", PROBLEM, f"{place} cannot be written to.", "Set TREASURE_RUNS_DIR.")
    elif free < LEAST_DISK:
        yield Finding("disk", PROBLEM, text, "Make room, or set TREASURE_RUNS_DIR elsewhere.")
    elif free < LITTLE_DISK:
        yield Finding("disk", WARNING, text, "Set TREASURE_REPOSITORY_HTML=none to store less.")
    else:
        yield Finding("disk", OK, text)


def existing(folder: Path) -> Path:
    """Return *folder*, or the nearest above it that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def writable(place: Path) -> bool:
    """Tell whether files can be made in *place*."""
    return place.is_dir() and os.access(place, os.W_OK)
