"""``treasure ui``: serves the web page."""

from __future__ import annotations

import argparse
import re
import socket

from treasure.cli import where
from treasure.errors import UserError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (this machine)")
    parser.add_argument(
        "--port", type=int, default=8765, help="port to listen on (8765); 0 takes a free one"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="name under which browsers may ask, besides localhost (needed with --host)",
    )  # fmt: skip
    parser.add_argument("--token", default="", help="token for changes (made up when not given)")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    import uvicorn

    from treasure.web.app import LOCAL_HOSTS, make_app

    if not re.fullmatch(r"[\w-]{0,200}", args.token, re.ASCII):
        raise UserError("A token is made of letters, digits, '-' and '_'.")
    listening = _listen(args.host, args.port)
    with listening:
        store = where.open_store(args)
        try:
            hosts = [*LOCAL_HOSTS, args.host, *args.allow_host]
            app = make_app(store, runs_dir=args.runs_dir, hosts=hosts, token=args.token)
            _greet(listening, app.state.guard.token)
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # how one leaves
        finally:
            store.close()
    return 0


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UserError(f"A port is a number from 0 to 65535. Got {port} instead.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be listened on: {error.strerror}. Choose another with --port or"
            " --host."
        ) from None


def _greet(listening: socket.socket, token: str) -> None:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"Treasure: http://{shown}:{port}/#token={token}", flush=True)
    print("The token in the address allows changes; without it the page only shows.", flush=True)
    if not host.startswith("127.") and host != "::1":
        print("Whoever reaches this address can read everything that is stored.", flush=True)
