"""Where the repository is: options that every command about stored jobs has."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treasure.errors import JobError, UserError, did_you_mean

if TYPE_CHECKING:
    from treasure.repository.store import Store


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare ``--repository`` and ``--runs-dir``; the environment may give both."""
    parser.add_argument(
        "--repository",
        default=os.environ.get("TREASURE_REPOSITORY", ""),
        metavar="URL",
        help="SQLAlchemy URL (default: TREASURE_REPOSITORY, else treasure.db in the runs folder)",
    )
    parser.add_argument(
        "--runs-dir",
        default=os.environ.get("TREASURE_RUNS_DIR", "data/runs"),
        metavar="DIR",
        help="folder of the jobs (default: TREASURE_RUNS_DIR, else data/runs)",
    )


def open_store(args: argparse.Namespace) -> Store:
    """Open the repository that the options name; one that is not there is the user's mistake."""
    from treasure.errors import RepositoryUnavailable
    from treasure.repository.store import Store

    url = args.repository
    if not url:
        path = Path(args.runs_dir) / "treasure.db"
        if not path.is_file():
            raise UserError(
                f"There is no repository {path}. Crawl first, or say where it is with"
                " --runs-dir or --repository."
            )
        url = f"sqlite:///{path}"
    try:
        return Store.open(url)
    except RepositoryUnavailable as error:
        raise UserError(f"{error}.") from None


def job_of(store: Store, name: str) -> dict[str, Any]:
    """Return the job called *name*; ``latest`` is the one that started last."""
    jobs = store.jobs()
    if name == "latest" and jobs:
        return jobs[0]
    for job in jobs:
        if job["job"] == name:
            return job
    names = [job["job"] for job in jobs]
    known = f" Known: {', '.join(names[:8])}." if names else " There is none yet."
    raise JobError(f"There is no job {name!r}.{did_you_mean(name, names)}{known}")
