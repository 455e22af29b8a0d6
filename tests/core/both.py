"""The core twice: as it was installed, and the same source uncompiled."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import treasure.core

CORE = Path(treasure.core.__file__).parent


def both(name: str) -> tuple[ModuleType, ModuleType]:
    """Return a module of the core as it is, and uncompiled."""
    installed = importlib.import_module(f"treasure.core.{name}")
    spec = importlib.util.spec_from_file_location(f"uncompiled_{name}", CORE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    uncompiled = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(uncompiled)
    return installed, uncompiled
