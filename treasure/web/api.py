"""The JSON API behind the page: everything can be read, nothing changed (control.py changes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import HTMLResponse, Response

from treasure.repository.harvest import harvest as harvest_of
from treasure.repository.search import search
from treasure.repository.store import Store
from treasure.web import queries
from treasure.web.galaxy import plot
from treasure.web.guard import SANDBOX
from treasure.web.patience import Patience
from treasure.web.problems import Problem, described
from treasure.web.recall import recall
from treasure.web.starts import Starts

router = APIRouter(prefix="/api", responses=described(400, 404, 422, 503))

LARGEST_ID = 2**63 - 1
SERIES: Mapping[str, Callable[[Store, str], Any]] = {
    "pace": queries.pace,
    "recent_failures": queries.recent_failures,
    "recent_finds": queries.recent_finds,
}
PageId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="number of a stored page")]
Job = Annotated[str, Path(max_length=100, description="name of a job")]


def store_of(request: Request) -> Store:
    """Return the repository that this application shows."""
    store: Store = request.app.state.store
    return store


def patience_of(request: Request) -> Patience:
    """Return what remembers dear answers."""
    patience: Patience = request.app.state.patience
    return patience


Repository = Annotated[Store, Depends(store_of)]
Memory = Annotated[Patience, Depends(patience_of)]


@router.get("/search", summary="Search the stored pages")
def search_pages(
    store: Repository,
    q: Annotated[str, Query(max_length=2_000, description="words, phrases, filters")] = "",
    job: Annotated[str | None, Query(max_length=100)] = None,
    page: Annotated[int, Query(ge=1, le=100)] = 1,
    size: Annotated[int, Query(ge=1, le=50)] = 10,
) -> dict[str, Any]:
    """Return one page of results, best first, with the hits marked."""
    answer = search(store, q, job=job or None, offset=(page - 1) * size, limit=size)
    return {
        "query": q,
        "total": answer.total,
        "page": page,
        "size": size,
        "waiting": answer.unfinished,
        "hits": [{name: getattr(hit, name) for name in hit.__slots__} for hit in answer.hits],
    }


@router.get("/pages/{page_id}", summary="Everything that was measured of a page")
def page(store: Repository, page_id: PageId) -> dict[str, Any]:
    """Return a stored page with its text."""
    found = store.page(page_id)
    if found is None:
        raise Problem(404, f"There is no page {page_id}. Search for it, or look at its job.")
    found["key"] = str(found["key"])  # 64 bits are more than JavaScript's numbers hold
    return found


@router.get("/pages/{page_id}/way", summary="How a page was reached")
def way(store: Repository, page_id: PageId) -> list[dict[str, Any]]:
    """Return the steps from the seed to the page."""
    return queries.way(store, page(store, page_id))


@router.get("/pages/{page_id}/links", summary="The links of a page with their scores")
def links(store: Repository, page_id: PageId) -> list[dict[str, Any]]:
    """Return the links of a stored page, best first."""
    page(store, page_id)
    rows = sorted(store.links(page_id), key=lambda link: -link.score)
    return [{"url": row.url, "score": row.score, "anchor": row.anchor} for row in rows]


@router.get("/pages/{page_id}/galaxy", summary="Why a page is on topic, in Dewey numbers")
def galaxy(store: Repository, page_id: PageId) -> dict[str, Any]:
    """Return the dots of the page's galaxy and the regions that won."""
    found = page(store, page_id)
    return plot(f"{found['title']}\n{found['text']}", found["anchor"])


@router.get(
    "/pages/{page_id}/original",
    summary="The stored HTML, in a sandbox",
    response_class=HTMLResponse,
)
def original(store: Repository, page_id: PageId) -> HTMLResponse:
    """Return the HTML as it came; browsers may run nothing of it and load nothing for it."""
    page(store, page_id)
    body = store.html(page_id)
    if not body:
        raise Problem(404, "The HTML of this page was not kept (TREASURE_REPOSITORY_HTML).")
    headers = {"Content-Security-Policy": SANDBOX, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(body, headers=headers)


@router.get("/jobs", summary="All crawls")
def jobs(store: Repository) -> list[dict[str, Any]]:
    """Return all jobs, latest first."""
    return queries.jobs(store)


@router.get("/jobs/{job}", summary="One crawl, live")
def job(store: Repository, memory: Memory, job: Job) -> dict[str, Any]:
    """Return what is known of a job now."""
    row = known_job(store, job)
    return (
        row
        | queries.live(store, row)
        | memory.ask(("makeup", job), lambda: queries.makeup(store, job))
        | {
            name: memory.ask((name, job), partial(query, store, job))
            for name, query in SERIES.items()
        }
    )


@router.get("/jobs/{job}/harvest", summary="The harvest curve of a crawl")
def harvest(store: Repository, memory: Memory, job: Job) -> dict[str, Any]:
    """Return pages fetched and pages on topic, in order of time; recall where it is known."""
    row = known_job(store, job)
    return {
        "job": job,
        "curve": memory.ask(("harvest", job), lambda: harvest_of(store, job).curve),
        "recall": memory.ask(("recall", job), lambda: recall(store, row)),
    }


@router.get("/starts/{job}", summary="How the start of a crawl went")
def started(request: Request, job: Job) -> dict[str, Any]:
    """Return the state of a crawl that was started from the page."""
    starts: Starts = request.app.state.starts
    state = starts.state(job)
    if state is None:
        raise Problem(404, f"There is no job {job!r}.")
    return state


@router.get("/jobs/{job}/events", summary="What happened in a crawl")
def events(
    store: Repository, job: Job, since: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0
) -> dict[str, Any]:
    """Return orders and events of a job, the latest last."""
    known_job(store, job)
    return {
        "orders": [order._asdict() for order in store.orders(job)],
        "events": [event._asdict() for event in store.events(job, since)],
    }


@router.get("/jobs/{job}/explain", summary="Every score a link was given, and why")
def explanation(
    request: Request,
    store: Repository,
    job: Job,
    url: Annotated[str, Query(max_length=8_000, description="address of the link")],
) -> dict[str, Any]:
    """Return scores, changes, takes and refusals of a link, as ``treasure explain`` tells them."""
    from treasure.explanation import explain

    return explain(store, known_job(store, job), url, Folder(request.app.state.runs_dir))


@router.get("/jobs/{job}/tgraph", summary="The T-Graph of a crawl")
def tgraph(store: Repository, memory: Memory, job: Job) -> dict[str, Any]:
    """Return the levels of the graph with nodes that form ways, and its journal."""
    from treasure.web.graphs import load, saved_at, summary

    known_job(store, job)
    key = ("tgraph", job, saved_at(store, job))
    return memory.ask(key, lambda: summary(load(store, job)))


@router.get(
    "/jobs/{job}/tgraph.svg",
    summary="The T-Graph of a crawl, drawn",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
)
def tgraph_picture(store: Repository, job: Job) -> Response:
    """Return a picture of the graph for reports."""
    from treasure.web.graphs import drawn, load

    known_job(store, job)
    graph = load(store, job)
    if graph is None:
        raise Problem(404, "This crawl has not saved its T-Graph yet.")
    headers = {"Content-Security-Policy": SANDBOX}
    return Response(drawn(graph), media_type="image/svg+xml", headers=headers)


def known_job(store: Store, name: str) -> dict[str, Any]:
    """Return the row of a job; raise Problem when there is none."""
    found = next((row for row in store.jobs() if row["job"] == name), None)
    if found is None:
        raise Problem(404, f"There is no job {name!r}.")
    return found
