"""What was read of a web is read again when a reader has changed."""

from __future__ import annotations

import ast
from pathlib import Path

import treasure
from treasure.evaluation.parsed_web import READERS

PACKAGE = Path(treasure.__file__).parent


def core_modules(source: str) -> set[str]:
    """Return the modules of the core that *source* imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "treasure.core":
            found.update(f"core/{name.name}.py" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("treasure.core."):
            found.add(f"core/{str(node.module).rpartition('.')[2]}.py")
    return found


def test_a_page_depends_on_all_of_the_core_that_reads_it() -> None:
    for name in READERS:
        assert core_modules((PACKAGE / name).read_text(encoding="utf-8")) <= set(READERS), name
