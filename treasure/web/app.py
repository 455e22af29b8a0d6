"""The application: the API, the page and its files. It reads the repository, never the crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from fastapi import FastAPI, Response

from treasure import __version__
from treasure.repository.store import Store
from treasure.web import api, control, problems
from treasure.web.guard import Guard
from treasure.web.patience import Patience
from treasure.web.starts import Starts

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def make_app(
    store: Store,
    *,
    runs_dir: str = "data/runs",
    hosts: Sequence[str] = LOCAL_HOSTS,
    token: str = "",
    crawl_arguments: Mapping[str, str] | None = None,
) -> FastAPI:
    """Return the application for *store*; *token* is made up unless given."""
    app = FastAPI(
        title="Treasure",
        version=__version__,
        description="What a focused crawl found, why, and how it is doing.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.store = store
    app.state.runs_dir = runs_dir
    app.state.guard = Guard(hosts, token)
    app.state.starts = Starts()
    app.state.patience = Patience()
    app.state.crawl_arguments = dict(crawl_arguments or {})
    app.include_router(api.router)
    app.include_router(control.router)
    problems.install(app)
    app.middleware("http")(app.state.guard)

    static = {entry.name: entry for entry in files("treasure.web").joinpath("static").iterdir()}

    @app.get("/static/{name}", include_in_schema=False)
    def static_file(name: str) -> Response:
        if name not in static:
            raise problems.Problem(404, f"There is no file {name!r}.")
        kind = KINDS.get(name.rpartition(".")[2], "application/octet-stream")
        return Response(static[name].read_bytes(), media_type=kind)

    @app.get("/{path:path}", include_in_schema=False)
    def index(path: str) -> Response:
        if path.startswith("api/"):
            raise problems.Problem(404, f"There is nothing at /{path}.")
        return Response(static["index.html"].read_bytes(), media_type=KINDS["html"])

    return app
