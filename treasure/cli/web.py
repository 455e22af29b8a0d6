"""``treasure web``: builds, inspects, serves or generates virtual webs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from treasure.evaluation.archived import Response
    from treasure.evaluation.virtual_web import VirtualWeb, WebTopic

DEMO_FOLDER = "data/runs/demo"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    info = commands.add_parser("info", help="count what is in a web")
    info.add_argument("web", help="WARC file, or folder with web.warc.gz and topics.json")

    build = commands.add_parser(
        "build",
        help="make a web from HTML files, WARC files or our repository",
        description="Make a web.warc.gz and a topics.json. SOURCE is a folder of HTML files (its"
        " folders named after hosts, or one site with --base), any number of WARC files (the"
        " topics.json beside them are merged), or the SQLAlchemy URL of a repository.",
    )
    build.add_argument("source", nargs="+", metavar="SOURCE", help="folder, WARC files or database")
    build.add_argument("--out", required=True, metavar="DIR", help="folder to write to")
    build.add_argument("--labels", metavar="FILE", help="topics.json, or CSV with url and topic")
    build.add_argument("--base", default="", metavar="URL", help="address of a folder's top")
    build.add_argument("--job", default="", help="only what this crawl stored")

    serve = commands.add_parser(
        "serve",
        help="serve a web over HTTP on loopback",
        description="Serve a web as a forward proxy: a crawler with http_proxy=http://127.0.0.1:PORT"
        " sees its host names. Pages of https addresses are served as http, links rewritten.",
    )
    serve.add_argument("web", help="WARC file or folder")
    serve.add_argument("--port", type=int, default=8090, help="port (default 8090; 0 takes any)")
    serve.add_argument("--log", metavar="FILE", help="write each request there, a JSON line each")

    demo = commands.add_parser("demo", help="generate the embedded demo web")
    demo.add_argument("--out", default=DEMO_FOLDER, metavar="DIR", help=f"default: {DEMO_FOLDER}")
    demo.add_argument("--anew", action="store_true", help="generate it even when it is there")
    for command in (info, build, serve, demo):
        command.add_argument("--json", action="store_true", help="answer in JSON")


def run(args: argparse.Namespace) -> int:
    """Do what was asked."""
    actions = {"info": _info, "build": _build, "serve": _serve, "demo": _demo}
    return actions[args.action](args)


def _info(args: argparse.Namespace) -> int:
    from treasure.evaluation.web_info import describe

    web = describe(args.web)
    if args.json:
        print(json.dumps(web.as_dict(), indent=2, ensure_ascii=False))
        return 0
    print(f"{web.file}")
    print(
        f"{web.pages:,} pages, {web.responses:,} responses, {web.hosts:,} hosts,"
        f" {web.bytes / 1e6:.1f} MB"
    )
    print(f"statuses: {_counts(web.statuses)}")
    print(f"content:  {_counts(web.content_types)}")
    print(f"hosts:    {_counts(web.biggest_hosts)}")
    if web.damaged_bytes:
        print(f"damaged:  {web.damaged_bytes:,} bytes could not be read")
    for topic in web.topics:
        missing = f", {topic.missing_targets} of them missing" if topic.missing_targets else ""
        seeds = f", {topic.missing_seeds} seeds missing" if topic.missing_seeds else ""
        number = topic.ddc or "no number"
        print(f"topic:    {topic.name} ({number}), {topic.targets} targets{missing}{seeds}")
    return 0


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _build(args: argparse.Namespace) -> int:
    from treasure.evaluation import web_builder
    from treasure.evaluation.web_writer import WEB, write_web

    out = Path(args.out)
    responses, topics = _read_sources(args)
    known = [response.url for response in responses if response.status == 200]
    if args.labels:
        topics = web_builder.read_labels(Path(args.labels), known)
        topics = web_builder.landed(topics, responses)
    count = write_web(out, responses, topics)
    pages = set(known)
    missing = sum(url not in pages for topic in topics for url in topic.targets)
    answer = {
        "web": str(out / WEB),
        "responses": count,
        "topics": len(topics),
        "targets_without_page": missing,
    }
    note = f"; {missing} labelled pages are not in it" if missing else ""
    _answer(args, answer, f"{out / WEB}: {count:,} responses, {len(topics)} topics{note}.")
    return 0


def _read_sources(args: argparse.Namespace) -> tuple[list[Response], list[WebTopic]]:
    from treasure.errors import WebError
    from treasure.evaluation import web_builder

    sources: list[str] = args.source
    if len(sources) == 1 and "://" in sources[0]:
        from treasure.cli.where import existing
        from treasure.repository.store import Store

        store = Store.open(existing(sources[0]))
        try:
            responses = list(web_builder.from_repository(store, args.job))
            known = [response.url for response in responses]
            topics = web_builder.judged_topics(store, args.job, known)
        finally:
            store.close()
    elif len(sources) == 1 and Path(sources[0]).is_dir():
        responses = list(web_builder.from_folder(Path(sources[0]), args.base))
        topics = []
    else:
        paths = [Path(source) for source in sources]
        responses = list(web_builder.from_warcs(paths))
        topics = web_builder.merged_topics(paths)
    if not responses:
        raise WebError(f"There is no page in {', '.join(sources)}.")
    return responses, topics


def _serve(args: argparse.Namespace) -> int:
    import asyncio

    from treasure.errors import ConfigError
    from treasure.evaluation.virtual_web import VirtualWeb
    from treasure.evaluation.web_info import locate

    web = VirtualWeb.open(locate(args.web)[0])
    if not 0 <= args.port <= 65535:
        raise ConfigError(f"--port must be between 0 and 65535. Got {args.port} instead.")
    try:
        log = Path(args.log).open("a", 1, encoding="utf-8") if args.log else None  # noqa: SIM115
    except OSError as error:
        raise ConfigError(f"The log {args.log} cannot be written: {error.strerror}.") from None
    try:
        asyncio.run(_serve_until_stopped(args, web, log))
    finally:
        if log is not None:
            log.close()
    return 0


async def _serve_until_stopped(
    args: argparse.Namespace, web: VirtualWeb, log: TextIO | None
) -> None:
    import asyncio
    import signal

    from treasure.errors import ConfigError
    from treasure.evaluation.web_server import WebServer

    def note(url: str, status: int) -> None:
        if log is not None:
            log.write(json.dumps({"url": url, "status": status}) + "\n")

    server = WebServer(web, note)
    try:
        port = await server.start(port=args.port)
    except OSError as error:
        raise ConfigError(
            f"Port {args.port} cannot be used: {error.strerror}. Give another with --port."
        ) from None
    proxy = f"http://127.0.0.1:{port}"
    _answer(
        args,
        {"proxy": proxy, "responses": len(web)},
        f"{len(web):,} responses at {proxy} (a forward proxy; Ctrl-C ends it). For example:\n"
        f"  curl -x {proxy} {next(web.urls())}\n"
        f"  http_proxy={proxy} scrapy crawl treasure -a topic=... -a seeds=...",
    )
    sys.stdout.flush()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    await server.stop()


def _demo(args: argparse.Namespace) -> int:
    from treasure.evaluation.demo_web import ensure_demo_web
    from treasure.evaluation.web_writer import TOPICS, WEB

    folder = Path(args.out)
    written = ensure_demo_web(folder, anew=args.anew)
    answer = {"web": str(folder / WEB), "topics": str(folder / TOPICS), "written": written}
    _answer(args, answer, f"{folder / WEB}: {'written' if written else 'there and current'}.")
    return 0


def _answer(args: argparse.Namespace, answer: dict[str, Any], text: str) -> None:
    print(json.dumps(answer) if args.json else text)
