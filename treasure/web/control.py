"""Changes: orders to running crawls, and new crawls. Each needs the token (guard.py)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from treasure.config import TreasureConfig
from treasure.errors import ConfigError, JobError
from treasure.orders import payload_of
from treasure.seeds import read_seeds
from treasure.topic_reader import read_topics
from treasure.web.api import Job, Repository, known_job
from treasure.web.guard import Guard
from treasure.web.problems import described
from treasure.web.starts import Starts
from treasure.workbench import job_folder, make_folder


def allowed(request: Request) -> None:
    """Let only those pass who have the token."""
    guard: Guard = request.app.state.guard
    guard.writer(request)


router = APIRouter(
    prefix="/api", dependencies=[Depends(allowed)], responses=described(401, 403, 404, 422, 503)
)


class NewOrder(BaseModel):
    """An order to a running crawl, as ``treasure steer`` takes it."""

    command: str = Field(max_length=50)
    arguments: list[Annotated[str, Field(max_length=2_000)]] = Field([], max_length=100)


class NewCrawl(BaseModel):
    """A crawl to start."""

    topic: str = Field(min_length=1, max_length=500)
    seeds: str = Field(min_length=1, max_length=20_000)
    job: str = Field("", max_length=100)
    max_pages: int = Field(1_000, ge=1, le=100_000_000)
    contact: str = Field("", max_length=200)


@router.post("/jobs/{job}/orders", status_code=202, summary="Tell a crawl what to do")
def order(store: Repository, job: Job, new: NewOrder) -> dict[str, Any]:
    """Record an order; the crawl obeys within a second or two."""
    known_job(store, job)
    words = _addresses(new.arguments) if new.command == "seeds" else new.arguments
    payload = payload_of(new.command, words)
    return {"order": store.order(job, new.command, payload, "web page")}


@router.post("/jobs", status_code=202, summary="Start a crawl")
def start(request: Request, store: Repository, new: NewCrawl) -> dict[str, Any]:
    """Check what was asked for, then start a crawl in a process of its own."""
    topics = read_topics(new.topic)
    seeds = [seed for word in _addresses(new.seeds.split()) for seed in read_seeds(word)]
    runs = Path(request.app.state.runs_dir)
    name = new.job or f"{topics[0].name.split()[0].lower()}-{os.urandom(3).hex()}"
    folder = job_folder(TreasureConfig(runs_dir=str(runs)), name)
    if any(row["job"] == name for row in store.jobs()):
        raise JobError(f"There is a job {name!r} already. Choose another name.")
    make_folder(folder)
    (folder / "seeds.txt").write_text("\n".join(seeds) + "\n", encoding="utf-8")
    url = store.engine.url
    arguments = {
        "topic": new.topic,
        "seeds": str(folder / "seeds.txt"),
        "job": name,
        "max_pages": str(new.max_pages),
        "runs_dir": str(runs),
        "repository": url.set(password=None).render_as_string(),
        **({"contact": new.contact} if new.contact else {}),
        **request.app.state.crawl_arguments,
    }
    starts: Starts = request.app.state.starts
    # Whoever lists processes reads arguments, but not the environment.
    secrets = {"PGPASSWORD": str(url.password)} if url.password else {}
    starts.start(name, folder, arguments, secrets)
    return starts.state(name) or {}


def _addresses(words: Sequence[str]) -> Sequence[str]:
    """Let only addresses pass: elsewhere seeds may be a file, here it would be one of ours."""
    for word in words:
        if not word.lower().startswith(("http://", "https://")):
            raise ConfigError(
                f"A seed is an address such as https://example.org/. Got {word!r} instead."
            )
    return words
