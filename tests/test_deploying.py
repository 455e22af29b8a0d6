"""The files of docs/deploying pass the checks of their own tools."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import missing

FOLDER = Path(__file__).parents[1] / "docs" / "deploying"


def _tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        missing(name)
    return str(found)


def test_the_container_file_is_clean() -> None:
    # DL3008 asks for pinned versions of Debian packages, which leave the archive with each update.
    command = [_tool("hadolint"), "--ignore", "DL3008", str(FOLDER / "Containerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_service_is_understood() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")  # Debian's containers have no systemd
    command = ["systemd-analyze", "verify", str(FOLDER / "treasure@.service")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [
        line
        for line in done.stderr.splitlines()
        if "treasure@" in line and "is not executable" not in line  # it is not installed here
    ]
    assert not complaints
