"""``treasure demo`` as it is typed; what it crawls is tested in tests/crawl/test_demo.py."""

from __future__ import annotations

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
