"""The core is machine code where it can be, and the same everywhere."""

import os
import shutil

import pytest

from tests.core.both import CORE, both
from treasure.core import COMPILED

MODULES = sorted(path.stem for path in CORE.glob("*.py") if path.stem != "__init__")


def test_the_core_is_compiled():
    if not COMPILED and not os.environ.get("CI") and not shutil.which("cc"):
        pytest.skip("there is no C compiler here")
    stale = [
        name
        for name in MODULES
        if (CORE / f"{name}.py").stat().st_mtime
        > max((path.stat().st_mtime for path in CORE.glob(f"{name}.*.so")), default=0.0)
    ]
    assert not stale, f"run make .venv/core: {stale}"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_runs_uncompiled_as_well(name):
    installed, uncompiled = both(name)
    assert not uncompiled.cython.compiled
    public = {
        n for n in vars(uncompiled) if not n.startswith("_") and n not in ("annotations", "cython")
    }
    assert public <= set(vars(installed))
