"""``treasure steer``: changes a running crawl."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
import time
from typing import TYPE_CHECKING

from treasure.cli import where

if TYPE_CHECKING:
    from treasure.repository.jobs import Order
    from treasure.repository.store import Store

NEEDS_CRAWL = ("stop", "checkpoint")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from treasure.orders import COMMANDS

    lines = [f"  {name:<11} {meaning}" for name, meaning in COMMANDS.items()]
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "orders:\n" + "\n".join(lines) + "\n  log         show what was ordered so far"
    parser.add_argument("job", help="name of the job, or `latest`")
    parser.add_argument("order", help="what to do, see below")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="what the order is about")
    parser.add_argument("--author", default="", help="who says so (default: your login)")
    parser.add_argument(
        "--wait", type=float, default=10.0, metavar="S", help="seconds to wait for the answer"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    where.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order and wait for what comes of it."""
    from treasure.orders import OrderError, payload_of
    from treasure.repository.jobs import running

    store = where.open_store(args)
    try:
        row = where.job_of(store, args.job)
        job = row["job"]
        if args.order == "log":
            _show(store.orders_since(job), args.json)
            return 0
        payload = payload_of(args.order, args.arguments)
        alive = bool(running(store.statuses(job), row["stopped"]))
        if not alive and args.order in NEEDS_CRAWL:
            raise OrderError(f"The job {job} does not run, so there is nothing to {args.order}.")
        number = store.order(job, args.order, payload, args.author or _login())
        if not alive:
            _tell(args, {"order": number, "applied": False, "answer": ""}, job)
            return 0
        return _answer(args, store, job, number)
    finally:
        store.close()


def _answer(args: argparse.Namespace, store: Store, job: str, number: int) -> int:
    deadline = time.monotonic() + args.wait
    while True:
        order = next(order for order in store.orders(job) if order.id == number)
        if order.applied_at is not None or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    applied = order.applied_at is not None
    _tell(args, {"order": number, "applied": applied, "answer": order.answer}, job)
    return 1 if order.answer.startswith("not done") else 0


def _tell(args: argparse.Namespace, told: dict[str, object], job: str) -> None:
    if args.json:
        print(json.dumps({"job": job, **told}))
    elif told["applied"]:
        print(f"{job}: {told['answer']}")
    else:
        print(f"{job}: noted; it will be done when the crawl runs again.")


def _show(orders: list[Order], as_json: bool) -> None:
    for order in orders:
        if as_json:
            print(json.dumps(order._asdict()))
            continue
        then = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(order.time))
        details = " ".join(f"{key}={value}" for key, value in order.payload.items())
        print(f"{then}  {order.author:<12} {order.command} {details}")
        print(f"{'':21}{order.answer or 'not carried out yet'}")
    sys.stdout.flush()


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
