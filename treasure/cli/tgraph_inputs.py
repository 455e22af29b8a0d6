"""What the user of ``treasure tgraph`` names: graphs, topics, targets, pages and their sources."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treasure.errors import GraphError

if TYPE_CHECKING:
    from treasure.evaluation.virtual_web import WebTopic
    from treasure.pages import Page
    from treasure.repository.store import Store
    from treasure.tgraph.build import Sample
    from treasure.tgraph.graph import TGraph
    from treasure.tgraph.sources import Source
    from treasure.topics import Topic


def load_graph(args: argparse.Namespace) -> TGraph:
    """Return the graph that was named: a file, or one of the repository."""
    from treasure.tgraph.graph import TGraph
    from treasure.tgraph.store import is_file_name

    if is_file_name(args.graph):
        return TGraph.load(args.graph)
    with repository(args.repository) as store:
        return TGraph.load(args.graph, repository=store)


@contextmanager
def repository(url: str | None, *, must_exist: bool = True) -> Iterator[Store]:
    """Open the repository at *url*, or that of the environment."""
    from treasure.cli.where import default_url, existing
    from treasure.repository.store import Store

    store = Store.open(existing(url or default_url(), must_exist))
    try:
        yield store
    finally:
        store.close()


def read_topic(args: argparse.Namespace) -> tuple[Topic, list[str]]:
    """Return the topic, and its targets when the web's own list of topics has it."""
    from treasure.ddc.numbers import normal
    from treasure.topic_reader import read_topics
    from treasure.topics import Topic, merge

    known = _web_topic(args.web, args.topic)
    if known is not None:
        numbers = (normal(known.ddc),) if known.ddc else ()
        return Topic(known.name, known.description, numbers), sorted(known.targets)
    return merge(read_topics(args.topic)), []


def web_targets(web: Path | None, topic: str) -> list[str]:
    """Return the targets that the web's own list of topics has."""
    known = _web_topic(web, topic)
    return sorted(known.targets) if known is not None else []


def _web_topic(web: Path | None, name: str) -> WebTopic | None:
    """Return the topic called *name* of the list beside the web, if there is one."""
    from treasure.evaluation.virtual_web import read_web_topics
    from treasure.evaluation.web_info import locate

    if web is None:
        return None
    if not web.exists():
        raise GraphError(f"The web {web} cannot be read: there is no such file or folder.")
    beside = locate(web)[1]
    topics = read_web_topics(beside) if beside.is_file() else []
    return next((one for one in topics if one.name.casefold() == name.casefold()), None)


def read_targets(args: argparse.Namespace, known: Sequence[str]) -> list[str]:
    """Return the targets given, as URLs or in files; else the *known* ones."""
    targets: list[str] = []
    for given in getattr(args, "around", None) or args.targets:
        if given.startswith(("http://", "https://")):
            targets.append(given)
            continue
        try:
            lines = Path(given).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise GraphError(
                f"The targets {given!r} cannot be read: {reason}. Expected URLs, or a file with one"
                " URL a line."
            ) from None
        targets += [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    targets = targets or list(known)
    if not targets and not args.repository:
        raise GraphError(
            "No targets. Give URLs of pages on topic, a file with one URL a line, or a --web whose"
            f" topics.json has the topic {args.topic!r}."
        )
    wanted = getattr(args, "examples", None)
    if wanted and wanted < len(targets):
        import random

        targets = random.Random(args.seed).sample(sorted(targets), wanted)
    return targets


def source_of(args: argparse.Namespace, closing: ExitStack) -> Source:
    """Return where the pages are; *closing* lets go of it in the end."""
    from treasure.tgraph.sources import FolderWeb, RepositoryWeb

    if args.folder:
        return FolderWeb(args.folder, args.base_url)
    if args.repository:
        return RepositoryWeb(closing.enter_context(repository(args.repository)), args.job)
    return _web(args.web)


def _web(path: Path) -> Source:
    from treasure.evaluation.virtual_web import VirtualWeb

    if path.is_dir():
        files = sorted([*path.glob("*.warc.gz"), *path.glob("*.warc")])
        if not files:
            raise GraphError(f"{path} holds no .warc or .warc.gz file.")
        path = files[0]
    return VirtualWeb.open(path)


def sample_of(source: Source, *, navigation: bool) -> Sample:
    """Read all pages of the source: distances are true only when no way is missing."""
    from treasure.tgraph.build import Sample

    sample, progress = Sample(source.page, navigation), Progress()
    for count, url in enumerate(source.urls(), 1):
        sample.read(url)
        progress("pages read", count)
    return sample


def read_one(given: str, web: Path | None) -> Page:
    """Return one page: of a web, a file, or the live web."""
    from treasure.extract import read_page
    from treasure.fetch import fetch_page

    if web is not None:
        page = _web(web).page(given)
        if page is None:
            raise GraphError(f"The web {web} has no page {given}.")
        return page
    if given.startswith(("http://", "https://")):
        return fetch_page(given)
    try:
        return read_page("http://file.example/" + Path(given).name, Path(given).read_bytes())
    except OSError as error:
        raise GraphError(f"The page {given!r} cannot be read: {error.strerror}.") from None


class Progress:
    """Counts on stderr, a few times a second, when somebody looks."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def __call__(self, what: str, count: int) -> None:
        """Show that *count* were done."""
        now = time.monotonic()
        if self._visible and now - self._shown > 0.2:
            self._shown = now
            print(f"\r{count:,} {what}\x1b[K", end="\r", file=sys.stderr, flush=True)
