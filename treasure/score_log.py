"""ScoreLog: every score that a link was ever given, so that each can be explained afterwards.

A page gives fifty links their scores; a row in a database for each would cost more than the crawl.
The log is a file of blocks instead: columns of numpy arrays, packed with zstd, appended and never
changed. Writing costs a few microseconds a link. Reading scans the file, for the one link that
somebody asks about.

A block holds what happened in some hundred pages: which pages scored links, the links' keys,
scores and anchors, their features (half precision) with the weights of the moment, changed scores
of queued links, refusals, and takes with the frontier's reasons. The last block may be cut off by a
crash; whatever is whole before it counts.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from treasure.crawl import Decision
from treasure.frontier.base import Lease
from treasure.pages import Link, Page
from treasure.strategies.base import Measured
from treasure.urls import url_key

FILE = "scores.log"
BLOCK_PAGES = 200
ANCHOR_CHARACTERS = 100
LEVEL = 1
_HEAD = struct.Struct("<4sI")
_MAGIC = b"TSL1"
_SEPARATOR = "\x1f"


class Block(msgspec.Struct):
    """What happened in some pages. Bytes are numpy columns."""

    pages: list[tuple[str, float, float, int]] = []
    """URL, relevance, time, and number of the page in the crawl."""
    page_of: bytes = b""
    keys: bytes = b""
    scores: bytes = b""
    anchors: str = ""
    nodes: bytes = b""
    """T-Graph node of each link; -1 where none matched."""
    refused_page_of: bytes = b""
    refused_keys: bytes = b""
    refused_nofollow: bytes = b""
    names: list[str] = []
    weights: bytes = b""
    """One row of weights per page that measured features."""
    measured_page: list[int] = []
    measured_count: list[int] = []
    measured_keys: bytes = b""
    features: bytes = b""
    changed_keys: bytes = b""
    changed_scores: bytes = b""
    changed_page_of: bytes = b""
    taken: list[tuple[int, float, float, bool, int, float]] = []
    """Key, score, ageing, explored, passed over, time."""
    explained: list[tuple[int, float, bytes]] = []
    """Key, time, and what the strategy said of a link that was fetched, as JSON."""


@dataclass(slots=True)
class _Open:
    """The block that is being filled."""

    block: Block = field(default_factory=Block)
    counts: list[int] = field(default_factory=list)
    """Links that each page scored; theirs are the next so many keys, scores, anchors and nodes."""
    keys: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("f"))
    anchors: list[str] = field(default_factory=list)
    nodes: list[NDArray[np.int64]] = field(default_factory=list)
    refused: list[tuple[int, int, bool]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    changed: list[tuple[int, Mapping[int, float]]] = field(default_factory=list)


class ScoreLog:
    """Writes the log of one process of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        _mend(path)
        self._open = _Open()
        self._number = 0

    def scored(
        self,
        page: Page,
        offered: Sequence[Link],
        decision: Decision,
        measured: Measured | None,
        now: float,
    ) -> None:
        """Take in what the links of *page* were given; *offered* are all it had."""
        opened = self._open
        place = len(opened.block.pages)
        opened.block.pages.append((page.url, decision.verdict.relevance, now, self._number))
        self._number += 1
        links = decision.links
        opened.counts.append(len(links))
        opened.keys.extend([link.key for link in links])
        opened.scores.extend(decision.scores)
        opened.anchors += [link.anchor_text for link in links]
        nodes = measured.nodes if measured is not None else None
        if nodes is None or len(nodes) != len(links):
            nodes = np.full(len(links), -1)
        opened.nodes.append(nodes)
        if len(links) < len(offered):
            admitted = {link.url for link in links}
            opened.refused += [
                (place, link.key, link.nofollow) for link in offered if link.url not in admitted
            ]
        if measured is not None:
            opened.measured.append(measured)
            opened.block.measured_page.append(place)
        if decision.rescored:
            opened.changed.append((place, decision.rescored))

    def taken(self, lease: Lease, now: float) -> None:
        """Take in that a link left the queue, and why it was its turn."""
        self._open.block.taken.append(
            (lease.key, lease.score, lease.ageing, lease.explored, lease.passed_over, now)
        )

    def explained(self, key: int, explanation: Mapping[str, Any], now: float) -> None:
        """Take in what the strategy says of a link that is fetched."""
        if explanation:
            self._open.block.explained.append((key, now, msgspec.json.encode(explanation)))

    @property
    def full(self) -> bool:
        """Whether there is enough for a block."""
        return len(self._open.block.pages) >= BLOCK_PAGES

    def cut(self) -> _Open | None:
        """Begin a new block; return the old one for ``write``, None when it holds nothing."""
        opened = self._open
        if not opened.block.pages and not opened.block.taken:
            return None
        self._open = _Open()
        return opened

    def write(self, opened: _Open) -> None:
        """Append a block to the file; may run in any thread, one at a time."""
        packed = zstandard.compress(msgspec.msgpack.encode(_closed(opened)), LEVEL)
        try:
            with self.path.open("ab") as file:
                file.write(_HEAD.pack(_MAGIC, len(packed)) + packed)
        except OSError:
            _mend(self.path)
            raise

    def close(self) -> None:
        """Write what is left."""
        if (opened := self.cut()) is not None:
            self.write(opened)


def _closed(opened: _Open) -> Block:
    block = opened.block
    counts = opened.counts
    block.page_of = np.repeat(np.arange(len(counts), dtype=np.int32), counts).tobytes()
    block.keys = opened.keys.tobytes()
    block.scores = opened.scores.tobytes()
    block.anchors = _SEPARATOR.join(
        anchor[:ANCHOR_CHARACTERS].replace(_SEPARATOR, " ").encode("utf-8", "replace").decode()
        for anchor in opened.anchors
    )
    block.nodes = b"".join(nodes.astype(np.int32).tobytes() for nodes in opened.nodes)
    refused = list(zip(*opened.refused, strict=True)) or [(), (), ()]
    block.refused_page_of = np.array(refused[0], np.int32).tobytes()
    block.refused_keys = np.array(refused[1], np.int64).tobytes()
    block.refused_nofollow = np.array(refused[2], np.bool_).tobytes()
    if opened.measured:
        block.names = list(opened.measured[0].names)
        block.measured_count = [len(measured.keys) for measured in opened.measured]
        with np.errstate(over="ignore"):
            columns = [measured.values.astype(np.float16) for measured in opened.measured]
            weights = [measured.weights.astype(np.float16) for measured in opened.measured]
        block.features = b"".join(column.tobytes() for column in columns)
        block.weights = b"".join(weight.tobytes() for weight in weights)
        block.measured_keys = b"".join(
            measured.keys.astype(np.int64).tobytes() for measured in opened.measured
        )
    counts = [len(changed) for _, changed in opened.changed]
    places = np.array([place for place, _ in opened.changed], np.int32)
    block.changed_page_of = np.repeat(places, counts).tobytes()
    keys = [key for _, changed in opened.changed for key in changed]
    scores = [score for _, changed in opened.changed for score in changed.values()]
    block.changed_keys = np.array(keys, np.int64).tobytes()
    block.changed_scores = np.array(scores, np.float32).tobytes()
    return block


def blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a log; stop at one that was cut off."""
    decoder = msgspec.msgpack.Decoder(Block)
    unpack = zstandard.ZstdDecompressor()
    if not path.is_file():
        return
    with path.open("rb") as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, size = _HEAD.unpack(head)
            packed = file.read(size)
            if magic != _MAGIC or len(packed) < size:
                return
            yield decoder.decode(unpack.decompress(packed, max_output_size=1 << 30))


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """One event in the life of a link."""

    kind: str
    """``scored``, ``changed``, ``refused``, ``taken`` or ``explained``."""
    time: float
    page: str
    """The page that scored it, or whose arrival changed the score."""
    score: float = 0.0
    relevance: float = 0.0
    """Of the page."""
    anchor: str = ""
    node: int = -1
    """The T-Graph node that matched best; -1 when none did."""
    rule: str = ""
    features: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Value and weight of each feature."""
    details: Mapping[str, Any] = field(default_factory=dict)


def history(path: Path, url: str) -> list[LinkEvent]:
    """Return everything that happened to the canonical *url*, oldest first."""
    key = url_key(url)
    found: list[LinkEvent] = []
    for block in blocks(path):
        found += _events(block, key)
    return sorted(found, key=lambda event: event.time)


def _events(block: Block, key: int) -> Iterator[LinkEvent]:
    yield from _scored(block, key)
    yield from _changed(block, key)
    yield from _refused(block, key)
    for taken, score, ageing, explored, passed_over, then in block.taken:
        if taken == key:
            details = {"ageing": ageing, "explored": explored, "passed_over": passed_over}
            yield LinkEvent("taken", then, "", score, details=details)
    for taken, then, told in block.explained:
        if taken == key:
            explained = {"explanation": msgspec.json.decode(told)}
            yield LinkEvent("explained", then, "", details=explained)


def _scored(block: Block, key: int) -> Iterator[LinkEvent]:
    rows = np.flatnonzero(np.frombuffer(block.keys, np.int64) == key)
    if not rows.size:
        return
    page_of = np.frombuffer(block.page_of, np.int32)
    scores = np.frombuffer(block.scores, np.float32)
    anchors = block.anchors.split(_SEPARATOR)
    nodes = np.frombuffer(block.nodes, np.int32)
    for row in rows.tolist():
        place = int(page_of[row])
        url, relevance, then, _ = block.pages[place]
        yield LinkEvent(
            "scored",
            then,
            url,
            round(float(scores[row]), 6),
            relevance,
            anchors[row],
            int(nodes[row]) if nodes.size else -1,
            features=_features(block, place, key),
        )


def _changed(block: Block, key: int) -> Iterator[LinkEvent]:
    page_of = np.frombuffer(block.changed_page_of, np.int32)
    scores = np.frombuffer(block.changed_scores, np.float32)
    for row in np.flatnonzero(np.frombuffer(block.changed_keys, np.int64) == key).tolist():
        url, _, then, _ = block.pages[page_of[row]]
        yield LinkEvent("changed", then, url, round(float(scores[row]), 6))


def _refused(block: Block, key: int) -> Iterator[LinkEvent]:
    page_of = np.frombuffer(block.refused_page_of, np.int32)
    nofollow = np.frombuffer(block.refused_nofollow, np.bool_)
    for row in np.flatnonzero(np.frombuffer(block.refused_keys, np.int64) == key).tolist():
        url, relevance, then, _ = block.pages[page_of[row]]
        rule = "nofollow" if nofollow[row] else ""
        yield LinkEvent("refused", then, url, 0.0, relevance, rule=rule)


def _features(block: Block, place: int, key: int) -> dict[str, tuple[float, float]]:
    """Return the features with which *key* was scored on the page at *place*."""
    if place not in block.measured_page:
        return {}
    index = block.measured_page.index(place)
    start, count = sum(block.measured_count[:index]), block.measured_count[index]
    keys = np.frombuffer(block.measured_keys, np.int64)[start : start + count]
    rows = np.flatnonzero(keys == key)
    if not rows.size:
        return {}
    width = len(block.names)
    values = np.frombuffer(block.features, np.float16).reshape(-1, width)[start + int(rows[0])]
    weights = np.frombuffer(block.weights, np.float16).reshape(-1, width)[index]
    return {
        name: (round(float(value), 4), round(float(weight), 4))
        for name, value, weight in zip(block.names, values, weights, strict=True)
    }


def _mend(path: Path) -> None:
    """Cut off half a block that a crash or a full disk left: new ones must be found behind it."""
    if not path.is_file():
        return
    whole = 0
    with path.open("r+b") as file:
        size = path.stat().st_size
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            magic, length = _HEAD.unpack(head)
            if magic != _MAGIC or file.tell() + length > size:
                break
            whole = file.seek(length, 1)
        file.truncate(whole)
