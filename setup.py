"""Compiles ``treasure/core``; everything else is in pyproject.toml.

Where there is no C compiler the same modules run as they are, and a page takes about ten times as
long. So they do in an egg (scrapyd-deploy), which serves every machine and every Python alike.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

DIRECTIVES = {
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "language_level": 3,
}
# The same sums on every machine: no multiplication is joined with an addition.
FLAGS = ["-O3", "-g0", "-ffp-contract=off"]


def core():
    """Return the modules to compile."""
    if "bdist_egg" in sys.argv:
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(
            f"treasure.core.{path.stem}", [str(path)], extra_compile_args=FLAGS, optional=True
        )
        for path in sorted(Path("treasure/core").glob("*.py"))
        if path.stem != "__init__"
    ]
    return cythonize(modules, build_dir="build", compiler_directives=DIRECTIVES, quiet=True)


setup(ext_modules=core(), options={"build_ext": {"parallel": os.cpu_count()}})
