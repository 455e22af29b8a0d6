"""Where the repository is: options that every command about stored jobs has."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treasure.errors import JobError, UserError, did_you_mean

if TYPE_CHECKING:
    from treasure.repository.store import Store

SQLITE = "sqlite:///"


def _runs_dir() -> str:
    return os.environ.get("TREASURE_RUNS_DIR", "data/runs")


def _repository() -> str:
    return os.environ.get("TREASURE_REPOSITORY", "")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare ``--repository`` and ``--runs-dir``; the environment may give both."""
    parser.add_argument(
        "--repository",
        default=_repository(),
        metavar="URL",
        help="SQLAlchemy URL or SQLite file (default: TREASURE_REPOSITORY, else treasure.db in the"
        " runs folder)",
    )
    parser.add_argument(
        "--runs-dir",
        default=_runs_dir(),
        metavar="DIR",
        help="folder of the jobs (default: TREASURE_RUNS_DIR, else data/runs)",
    )


def add_job_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--job`` besides, for commands that can be about one job or all."""
    add_options(parser)
    parser.add_argument("--job", help="only pages of this job, or of the `latest`")


def repository_url(args: argparse.Namespace, *, must_exist: bool = True) -> str:
    """Return the URL that the options name; a SQLite file that is not there is a mistake."""
    return existing(args.repository or _below(args.runs_dir), must_exist)


def default_url() -> str:
    """Return what ``--repository`` is when nobody gives it."""
    return _repository() or _below(_runs_dir())


def _below(runs_dir: str) -> str:
    return str(Path(runs_dir) / "treasure.db")


def existing(url: str, must_exist: bool = True) -> str:
    """Return *url*, or the URL of a SQLite file; one that is not there is a mistake."""
    if "://" not in url:
        url = SQLITE + url
    path = Path(url.removeprefix(SQLITE).partition("?")[0])
    if must_exist and url.startswith(SQLITE) and not path.is_file():
        raise UserError(
            f"There is no repository {path}. Crawl first, or say where it is with"
            " --runs-dir or --repository."
        )
    return url


def open_store(args: argparse.Namespace, *, must_exist: bool = True) -> Store:
    """Open the repository that the options name."""
    from treasure.errors import RepositoryUnavailable
    from treasure.repository.store import Store

    try:
        return Store.open(repository_url(args, must_exist=must_exist))
    except RepositoryUnavailable as error:
        raise UserError(f"{error}.") from None


def open_store_of_job(args: argparse.Namespace) -> Store:
    """Open the repository and settle which job ``--job`` means; None remains all of them."""
    store = open_store(args)
    try:
        # A job that came with an archive has pages here, but never ran here.
        if args.job is not None and not store.count(args.job):
            args.job = job_of(store, args.job)["job"]
    except JobError:
        store.close()
        raise
    return store


def job_of(store: Store, name: str) -> dict[str, Any]:
    """Return the job called *name*; ``latest`` is the one that started last."""
    jobs = store.jobs()
    if name == "latest" and jobs:
        return jobs[0]
    for job in jobs:
        if job["job"] == name:
            return job
    names = list(dict.fromkeys([*(job["job"] for job in jobs), *store.page_jobs()]))
    known = f" Known: {', '.join(names[:8])}." if names else " There is none yet."
    raise JobError(f"There is no job {name!r}.{did_you_mean(name, names)}{known}")
