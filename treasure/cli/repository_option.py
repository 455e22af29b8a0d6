"""The ``--repository`` option of commands that read what a crawl stored."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from treasure.errors import ConfigError, JobError, did_you_mean

if TYPE_CHECKING:
    from treasure.repository.store import Store

VARIABLE = "TREASURE_REPOSITORY"
DEFAULT = "sqlite:///data/runs/treasure.db"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--repository",
        metavar="URL",
        help=f"SQLAlchemy URL or SQLite file (default: ${VARIABLE}, else {DEFAULT})",
    )
    parser.add_argument("--job", help="only pages of this job")


def open_repository(args: argparse.Namespace) -> Store:
    """Open the repository that was asked for; raise ConfigError when it is not there."""
    from treasure.repository.store import Store

    store = Store.open(repository_url(args))
    if args.job is not None:
        _check_job(store, args.job)
    return store


def repository_url(args: argparse.Namespace, *, must_exist: bool = True) -> str:
    """Return the URL that was asked for; a SQLite file must be there already."""
    asked: str = args.repository or os.environ.get(VARIABLE, "") or DEFAULT
    url = asked if "://" in asked else f"sqlite:///{asked}"
    path = Path(url.removeprefix("sqlite:///").partition("?")[0])
    if must_exist and url.startswith("sqlite:///") and not path.is_file():
        raise ConfigError(
            f"There is no repository {path}. Crawl first, or name one with --repository or"
            f" {VARIABLE}."
        )
    return url


def _check_job(store: Store, job: str) -> None:
    from sqlalchemy import select

    from treasure.repository.models import pages

    with store.reading() as connection:
        if connection.execute(select(pages.c.id).where(pages.c.job == job).limit(1)).first():
            return
        names = list(connection.execute(select(pages.c.job).distinct()).scalars())
    known = ", ".join(names[:10]) or "none"
    store.close()
    raise JobError(f"There is no job {job!r}.{did_you_mean(job, names)} Jobs: {known}.")
