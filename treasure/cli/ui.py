"""``treasure ui``: serves the web page."""

from __future__ import annotations

import argparse

from treasure.cli import where


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (this machine)")
    parser.add_argument("--port", type=int, default=8765, help="port to listen on (8765)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="name under which browsers may ask, besides localhost (needed with --host)",
    )  # fmt: skip
    parser.add_argument("--token", default="", help="token for changes (made up when not given)")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    import uvicorn

    from treasure.errors import UserError
    from treasure.web.app import LOCAL_HOSTS, make_app

    store = where.open_store(args)
    hosts = [*LOCAL_HOSTS, args.host, *args.allow_host]
    app = make_app(store, runs_dir=args.runs_dir, hosts=hosts, token=args.token)
    config = uvicorn.Config(app, args.host, args.port, log_level="warning")
    server = uvicorn.Server(config)
    try:
        socket = config.bind_socket()
    except (OSError, SystemExit):
        store.close()
        raise UserError(
            f"{args.host}:{args.port} cannot be listened on. Is another page served there?"
            " Choose another with --port."
        ) from None
    token = app.state.guard.token
    print(f"Treasure: http://{args.host}:{args.port}/#token={token}", flush=True)
    print("The token in the address allows changes; without it the page only shows.", flush=True)
    try:
        server.run(sockets=[socket])
    finally:
        store.close()
    return 0
