"""Known holes and licences of what we depend on; part of ``make check``.

    python tools/audit.py              both; known holes need the network, and are skipped without
    python tools/audit.py --licences   the list of licences alone

Known holes are asked of pip-audit for the pinned packages of requirements.lock, or for what is
installed where there is no such file. Exit code 1 when there is a hole, or a package that our users
get has a licence that is not on the list.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PACKAGE, EXTRA = "treasure-crawler", "all"
FINE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software|Zlib|Unlicense|CC0|0BSD|ZPL|MPL|Mozilla|HPND|CNRI"
    r"|LLVM-exception|LGPL|Lesser|DFSG|Redistribution and use",
    re.IGNORECASE,
)
"""Licences that leave our users free; LGPL and MPL because we only import such packages."""
OFFLINE = re.compile(
    r"ConnectionError|NewConnectionError|Max retries|Temporary failure|Name or service|ProxyError"
    r"|ServiceError|Connection refused|timed out",
    re.IGNORECASE,
)


def needed(name: str, extra: str = "") -> dict[str, Distribution]:
    """Return what installing *name* brings, as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting = [(name, extra)]
    while waiting:
        name, extra = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:  # not for this system, or an extra that is not installed
            continue
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found and not extra:
            continue
        found[key] = package
        for line in package.requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                extras = requirement.extras or {""}
                waiting += [(requirement.name, wanted) for wanted in extras]
    return found


def licence(package: Distribution) -> str:
    """Return what the package says of its licence, in one line."""
    meta = package.metadata
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in meta.get_all("Classifier") or []
        if line.startswith("License :: ") and not line.endswith(":: OSI Approved")
    ]
    said = meta.get("License-Expression") or "; ".join(classifiers) or meta.get("License") or ""
    return " ".join(said.split())[:60] or "unknown"


def check_licences() -> bool:
    """Print the licences; tell whether all are fine."""
    fine = True
    for name, package in sorted(needed(PACKAGE, EXTRA).items()):
        said = licence(package)
        good = bool(FINE.search(said))
        fine = fine and good
        print(f"{' ' if good else '!'} {name:28} {package.version:14} {said}")
    if not fine:
        print("Packages marked '!' have a licence that is not on the list in tools/audit.py.")
    return fine


def check_holes() -> bool:
    """Ask pip-audit; tell whether there is no known hole, or nobody to ask."""
    lock = ROOT / "requirements.lock"
    what = ["--requirement", str(lock), "--require-hashes", "--no-deps"] if lock.exists() else []
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--timeout", "10", *what]
    command += ["--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        packages = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        print("Known holes: skipped, the list of them does not answer.")
        return True
    except (ValueError, KeyError):
        if OFFLINE.search(done.stderr):
            print("Known holes: skipped, we are offline.")
            return True
        print(done.stderr.strip()[-2000:])
        return False
    known = [package for package in packages if "skip_reason" not in package]
    if not known:
        print("Known holes: skipped, the package index here does not tell.")
        return True
    holes = [(package, hole) for package in known for hole in package["vulns"]]
    for package, hole in holes:
        mended = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"! {package['name']} {package['version']}: {hole['id']}, mended in {mended}")
    print(f"Known holes: {len(holes)} in {len(known)} packages.")
    return not holes


def main() -> int:
    """Run the checks."""
    parser = argparse.ArgumentParser(description="Known holes and licences of our dependencies.")
    parser.add_argument("--licences", action="store_true", help="only list the licences")
    args = parser.parse_args()
    fine = check_licences()
    if not args.licences:
        fine = check_holes() and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
