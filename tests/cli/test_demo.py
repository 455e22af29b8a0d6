"""``treasure demo`` as it is typed; what it crawls is tested in tests/crawl/test_demo.py."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from treasure.cli import main


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--topic", "astronmy"], "Did you mean 'astronomy'?"),
        (["--pages", "0"], "at least 1"),
        (["--strategy", "best-frist"], "Did you mean 'best-first'?"),
    ],
)
def test_mistakes_take_one_line(line, words, demo_folder, capsys):
    assert main(["demo", "--out", str(demo_folder), *line]) == 2
    error = capsys.readouterr().err
    assert error.startswith("treasure demo: ")
    assert words in error
    assert error.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_named(capsys):
    assert main(["demo", "--out", "/proc/treasure"]) == 2
    assert capsys.readouterr().err.endswith("/proc/treasure: No such file or directory.\n")


def hear_ctrl_c() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C, as we would."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_is_one_line(demo_folder, tmp_path):
    for name in ("web.warc.gz", "topics.json", "web.fingerprint"):
        shutil.copy(demo_folder / name, tmp_path)
    line = [sys.executable, "-m", "treasure", "demo", "--out", str(tmp_path)]
    with subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=hear_ctrl_c
    ) as demo:
        while not (tmp_path / "topic.toml").exists():
            time.sleep(0.01)
        time.sleep(0.3)  # now its crawl starts
        os.killpg(demo.pid, signal.SIGINT)
        _, error = demo.communicate()
    assert (demo.returncode, error) == (130, "treasure demo: stopped.\n")
