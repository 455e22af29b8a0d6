"""Results of trials are kept for the code that gave them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import treasure
from treasure.evaluation.compare import DECIDING, results_file


@pytest.mark.parametrize("changed", ["pages.py", *(f"{part}/module.py" for part in DECIDING)])
def test_another_code_has_other_results(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, source = tmp_path / "web.warc.gz", tmp_path / "treasure" / changed
    web.touch()
    source.parent.mkdir(parents=True)
    source.write_text("WEIGHT = 1")
    monkeypatch.setattr(treasure, "__file__", str(tmp_path / "treasure" / "__init__.py"))
    before = results_file(web, web)
    assert results_file(web, web) == before
    source.write_text("WEIGHT = 2")
    assert results_file(web, web) != before


IMPORTED = """
import sys
import treasure.evaluation.trial
from treasure.strategies import STRATEGIES, strategy_class
for name in STRATEGIES:
    strategy_class(name)
print(*{name.split(".")[1] for name in sys.modules if name.count(".") > 1 and "treasure." in name})
"""


def test_all_that_a_trial_runs_counts() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == set(DECIDING)
