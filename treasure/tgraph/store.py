"""Graphs kept and shared: as JSON, as Parquet, and as bytes for the repository.

Stems are written, not numbers of this process. JSON holds columns: key ``4 * stem + component``,
where *stem* counts in ``stems`` and the components are ISH, SH, MH, DC; docs/tgraph.md shows one.
The journal travels along. A file is replaced in one step, so a crash leaves the old one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from treasure.errors import GraphError, did_you_mean
from treasure.text import VOCABULARY
from treasure.tgraph.components import NAMES, Components
from treasure.tgraph.graph import TGraph
from treasure.tgraph.journal import Action, Entry
from treasure.tgraph.nodes import Node

if TYPE_CHECKING:
    from treasure.repository.jobs import JobStore

FORMAT = "treasure-tgraph"
VERSION = 1
STATE_GRAPH = "tgraph"
"""Under this name a job keeps its graph among its states."""
MAX_UNPACKED_BYTES = 1_000_000_000
"""What a damaged file claims beyond this is not believed."""
_COLUMNS = ("number", "distance", "fetches", "hits", "used", "dead")


def to_dict(graph: TGraph, *, nodes: bool = True) -> dict[str, Any]:
    """Return the graph as plain data; without *nodes*, all but them."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "topic": graph.topic,
        "numbers": list(graph.numbers),
        "levels": graph.levels,
        "threshold": graph.threshold,
        "weights": graph.weights.tolist(),
        "changes": graph.version,
        "fetches": graph.fetches,
        "relevance": graph.relevance,
        "journal": {
            "dropped": graph.journal.dropped,
            "entries": [_entry_row(entry) for entry in graph.journal.entries],
        },
    }
    if nodes:
        sizes, keys, counts = graph.words()
        terms, places = np.unique(keys >> 2, return_inverse=True)
        data["stems"] = [VOCABULARY.stem(term) for term in terms.tolist()]
        data["nodes"] = {name: graph.column(name).tolist() for name in _COLUMNS} | {
            "source": graph.sources(),
            "destinations": graph.destinations(),
            "words": sizes.tolist(),
            "keys": (places * 4 + (keys & 3)).tolist(),
            "counts": counts.tolist(),
        }
    return data


def from_dict(data: Any, origin: str = "The data") -> TGraph:
    """Return the graph that ``to_dict`` wrote; raise GraphError that says what is wrong."""
    graph = _header(data, origin)
    try:
        for node in _nodes(data["nodes"], data["stems"]):
            graph.add(node)
        _finish(graph, data)
    except GraphError as error:
        raise GraphError(f"{origin} is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise GraphError(
            f"{origin} is damaged ({type(error).__name__}: {error}). Build or export it again."
        ) from None
    return graph


def to_bytes(graph: TGraph) -> bytes:
    """Return the graph as compressed JSON."""
    return zstandard.ZstdCompressor(level=3).compress(msgspec.json.encode(to_dict(graph)))


def from_bytes(data: bytes, origin: str = "The stored T-Graph") -> TGraph:
    """Return the graph that ``to_bytes`` wrote."""
    try:
        if zstandard.frame_content_size(data) > MAX_UNPACKED_BYTES:
            raise zstandard.ZstdError(
                f"it says that it is larger than {MAX_UNPACKED_BYTES:,} bytes"
            )
        plain = zstandard.ZstdDecompressor().decompress(data)
        content = msgspec.json.decode(plain)
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GraphError(f"{origin} cannot be read: {error}. Build or export it again.") from None
    return from_dict(content, origin)


def save(graph: TGraph, path: Path) -> None:
    """Write the graph to a .json or .parquet file."""
    suffix = _suffix(path)
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == ".parquet":
            _write_parquet(graph, partial)
        else:
            partial.write_bytes(msgspec.json.encode(to_dict(graph)))
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise GraphError(f"The T-Graph {path} cannot be written: {error.strerror}.") from None


def load(path: Path) -> TGraph:
    """Read a .json or .parquet file."""
    suffix = _suffix(path)
    try:
        if suffix == ".parquet":
            return _read_parquet(path)
        return from_dict(msgspec.json.decode(path.read_bytes()), str(path))
    except OSError as error:
        reason = error.strerror or str(error)
        raise GraphError(
            f"The T-Graph {path} cannot be read: {reason}. Build one with `treasure tgraph build`."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GraphError(f"{path} is no JSON: {error}.") from None


def is_file_name(text: str | Path) -> bool:
    """Return whether *text* names a file; else it is the name of a graph in a repository."""
    return Path(text).suffix.lower() in (".json", ".parquet")


def keep(graph: TGraph, repository: JobStore, name: str) -> int:
    """Keep the graph in a repository as the next version of *name*; return the version."""
    if not name or is_file_name(name):
        raise GraphError(f"A graph's name in a repository is no file name. Got {name!r} instead.")
    journal = [_entry_row(entry) for entry in graph.journal.entries]
    return repository.save_tgraph(name, graph.topic, to_bytes(graph), journal)


def find(repository: JobStore, name: str) -> TGraph:
    """Return the latest graph called *name*, or the one that the job of that name has grown."""
    stored = repository.load_tgraph(name)
    payload = stored.payload if stored is not None else repository.load_state(name, STATE_GRAPH)
    if payload:
        return from_bytes(payload, f"The T-Graph {name!r}")
    known = sorted(
        {row[0] for row in repository.tgraphs()} | {job["job"] for job in repository.jobs()}
    )
    listed = f" Known: {', '.join(known[:20])}." if known else " It holds none yet."
    raise GraphError(
        f"The repository has no T-Graph and no job with one called {name!r}."
        f"{did_you_mean(name, known)}{listed} A file ends in .json or .parquet."
    )


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".json", ".parquet"):
        raise GraphError(f"A T-Graph file ends in .json or .parquet. Got {str(path)!r} instead.")
    return suffix


# -- parts


def _header(data: Any, origin: str) -> TGraph:
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise GraphError(f"{origin} is no T-Graph. Expected a file that `treasure tgraph` wrote.")
    if data.get("version") != VERSION:
        raise GraphError(
            f"{origin} has version {data.get('version')!r}; this Treasure reads version {VERSION}."
            " Export it again with the Treasure that wrote it, or update this one."
        )
    try:
        graph = TGraph(
            str(data["topic"]),
            [str(number) for number in data["numbers"]],
            levels=int(data["levels"]),
            threshold=float(data["threshold"]),
            weights=[float(weight) for weight in data["weights"]],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise GraphError(f"The head of {origin} is damaged ({error!r}). Build it again.") from None
    return graph


def _finish(graph: TGraph, data: Mapping[str, Any]) -> None:
    graph.journal.dropped = int(data["journal"]["dropped"])
    graph.journal.entries = [_entry(row) for row in data["journal"]["entries"]]
    graph.version = int(data["changes"])
    graph.fetches = int(data["fetches"])
    graph.relevance = float(data["relevance"])
    graph.refresh()


def _nodes(columns: Mapping[str, Sequence[Any]], stems: Sequence[str]) -> list[Node]:
    terms = np.array([VOCABULARY.id_of_stem(stem) for stem in stems], dtype=np.int64)
    keys = np.array(columns["keys"], dtype=np.int64)
    counts = np.array(columns["counts"], dtype=np.int64)
    sizes = np.array(columns["words"], dtype=np.int64)
    if len(keys) != len(counts) or sizes.sum() != len(keys) or (sizes < 0).any():
        raise ValueError("keys, counts and words do not fit together")
    if len(keys) and (keys.min() < 0 or counts.min() < 1 or counts.max() > np.iinfo(np.uint16).max):
        raise ValueError("keys and counts must be positive")
    known = terms[keys >> 2] * 4 + (keys & 3)
    rows = zip(
        *(columns[name] for name in _COLUMNS),
        columns["source"],
        columns["destinations"],
        _cut(known, counts, sizes),
        strict=True,
    )
    return [
        Node(
            source=str(source),
            distance=int(distance),
            components=components,
            destinations=tuple(map(str, destinations)),
            fetches=int(fetches),
            hits=float(hits),
            used=int(used),
            dead=bool(dead),
            number=int(number),
        )
        for number, distance, fetches, hits, used, dead, source, destinations, components in rows
    ]


def _cut(
    keys: NDArray[np.int64], counts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[Components]:
    """Return the components of each node; their keys are in order again."""
    answer = []
    stop = 0
    for size in sizes.tolist():
        start, stop = stop, stop + size
        order = np.argsort(keys[start:stop])
        kept = order[keys[start:stop][order] >= 0]
        answer.append(
            Components(
                keys[start:stop][kept].astype(np.int32), counts[start:stop][kept].astype(np.uint16)
            )
        )
    return answer


def _entry_row(entry: Entry) -> list[Any]:
    before, after = (
        _node_row(value) if isinstance(value, Node) else value
        for value in (entry.before, entry.after)
    )
    return [entry.page, entry.action, entry.node, before, after, entry.reason]


def _entry(row: Sequence[Any]) -> Entry:
    page, action, node, before, after, reason = row
    if action not in get_args(Action):
        raise ValueError(f"unknown action {action!r} in the journal")
    if action in ("add", "forget"):
        before, after = before and _row_node(before), after and _row_node(after)
    elif action == "destinations":
        before, after = tuple(before), tuple(after)
    return Entry(int(page), action, int(node), before, after, str(reason))


def _node_row(node: Node) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source": node.source,
        "destinations": list(node.destinations),
        "components": node.components.stems(),
    }
    return row | {name: getattr(node, name) for name in _COLUMNS}


def _row_node(row: Mapping[str, Any]) -> Node:
    return Node(
        source=row["source"],
        destinations=tuple(row["destinations"]),
        components=Components.of_stems(row["components"]),
        **{name: row[name] for name in _COLUMNS},
    )


# -- Parquet


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise GraphError(
            "Parquet needs pyarrow: pip install 'treasure-crawler[parquet]', or use .json."
        ) from None
    return pyarrow


def _write_parquet(graph: TGraph, path: Path) -> None:
    arrow = _pyarrow()
    rows = [_node_row(node) for node in graph.nodes()]
    for row in rows:
        parts = row.pop("components")
        row.update(zip(NAMES, (list(part.items()) for part in parts), strict=True))
    words = arrow.map_(arrow.string(), arrow.int32())
    kinds = {
        "number": arrow.int64(),
        "source": arrow.string(),
        "distance": arrow.int8(),
        "destinations": arrow.list_(arrow.string()),
        "fetches": arrow.int32(),
        "hits": arrow.float64(),
        "used": arrow.int32(),
        "dead": arrow.bool_(),
        **dict.fromkeys(NAMES, words),
    }
    head = msgspec.json.encode(to_dict(graph, nodes=False))
    schema = arrow.schema(list(kinds.items()), metadata={FORMAT: head})
    arrow.parquet.write_table(arrow.Table.from_pylist(rows, schema), path, compression="zstd")


def _read_parquet(path: Path) -> TGraph:
    arrow = _pyarrow()
    try:
        table = arrow.parquet.read_table(path)
        head = (table.schema.metadata or {}).get(FORMAT.encode(), b"null")
        data = msgspec.json.decode(head)
        rows = table.to_pylist()
    except (arrow.ArrowInvalid, msgspec.DecodeError) as error:
        raise GraphError(f"{path} is no Parquet file of a T-Graph: {error}.") from None
    graph = _header(data, str(path))
    try:
        for row in rows:
            parts = [dict(row.pop(name)) for name in NAMES]
            graph.add(_row_node({**row, "components": parts}))
        _finish(graph, data)
    except (KeyError, TypeError, ValueError) as error:
        raise GraphError(f"{path} is damaged ({error!r}). Export it again.") from None
    return graph
