"""Strategies side by side: every trial in a process of its own choosing, results kept as they come.

A comparison that was stopped goes on where it was: results are appended to a file whose name says
what web was crawled by which code, and trials that are there are not run again.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import msgspec

import treasure
from treasure.errors import TreasureError
from treasure.evaluation.oracle import link_graph
from treasure.evaluation.parsed_web import CACHE_FOLDER, ParsedWeb
from treasure.evaluation.trial import Result, Trial, run
from treasure.evaluation.virtual_web import WebTopic, read_web_topics

GRAPHS = 2
"""Link graphs a process remembers."""
DECIDING = ("core", "strategies", "ddc", "tgraph", "frontier", "evaluation")
"""Packages on which the result of a trial depends, besides the modules beside them."""


def compare(
    web: Path,
    topics: Path,
    trials: Sequence[Trial],
    *,
    kept: Path,
    processes: int = 2,
    progress: Callable[[int, int, Trial], None] | None = None,
) -> list[Result]:
    """Run *trials* on *web* and return their results in the trials' order.

    Results are kept in the file *kept* as they come, and taken from it.
    """
    have = {_key(result.trial): result for result in read_results(kept)}
    missing = [trial for trial in trials if _key(trial) not in have]
    done = len(trials) - len(missing)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("ab") as file:
        for result in _run_all(web, topics, missing, processes):
            have[_key(result.trial)] = result
            file.write(msgspec.json.encode(result) + b"\n")
            file.flush()
            done += 1
            if progress is not None:
                progress(done, len(trials), result.trial)
    return [have[_key(trial)] for trial in trials]


def read_results(path: Path) -> Iterator[Result]:
    """Return the results kept in *path*; a last line that was cut off is left out."""
    if not path.exists():
        return
    decoder = msgspec.json.Decoder(Result)
    for line in path.read_bytes().split(b"\n"):
        try:
            if line:
                yield decoder.decode(line)
        except msgspec.DecodeError:
            continue


def results_file(web: Path, topics: Path, folder: Path = CACHE_FOLDER) -> Path:
    """Return where the results of this web and this code are kept."""
    digest = blake2b(digest_size=8)
    for path in (web, topics):
        stat = path.stat()
        digest.update(f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|".encode())
    root = Path(treasure.__file__).parent
    for source in sorted(root.glob("*.py")) + sorted(
        file
        for part in DECIDING
        for file in (root / part).rglob("*")
        if file.suffix in {".py", ".bin"}
    ):
        digest.update(source.read_bytes())
    return folder / f"results-{digest.hexdigest()}.jsonl"


def _key(trial: Trial) -> bytes:
    return msgspec.json.encode(trial, order="sorted")


def _run_all(web: Path, topics: Path, trials: Sequence[Trial], processes: int) -> Iterator[Result]:
    jobs = [(str(web), str(topics), trial) for trial in trials]
    if processes <= 1 or len(jobs) <= 1:
        yield from map(_run_one, jobs)
        return
    # Read the links once, before the processes part.
    _graph(str(web))
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    with context.Pool(min(processes, len(jobs))) as pool:
        for outcome in pool.imap_unordered(_guarded, jobs):
            if isinstance(outcome, TreasureError):
                raise outcome
            yield outcome


def _guarded(job: tuple[str, str, Trial]) -> Result | TreasureError:
    try:
        return _run_one(job)
    except TreasureError as error:
        return error


def _run_one(job: tuple[str, str, Trial]) -> Result:
    web, topics, trial = job
    topic = _topics(topics)[trial.topic]
    return run(_web(web, os.getpid()), _graph(web), topic, trial)


@lru_cache(maxsize=GRAPHS)
def _web(path: str, _process: int) -> ParsedWeb:
    """Return the web; every process opens its own, as SQLite asks."""
    return ParsedWeb.open(path)


@lru_cache(maxsize=GRAPHS)
def _graph(path: str) -> dict[str, list[str]]:
    return link_graph(_web(path, os.getpid()))


@lru_cache(maxsize=GRAPHS)
def _topics(path: str) -> dict[str, WebTopic]:
    return {topic.name: topic for topic in read_web_topics(path)}


def by_strategy(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results of each strategy, in the order they came."""
    answer: dict[str, list[Result]] = {}
    for result in results:
        answer.setdefault(result.trial.strategy, []).append(result)
    return answer
