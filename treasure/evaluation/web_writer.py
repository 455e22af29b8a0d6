"""Writes virtual webs: ``web.warc.gz`` and ``topics.json``.

The same responses give the same bytes: record ids are made from the URL, and the date is fixed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from treasure.evaluation.archived import Response
from treasure.evaluation.virtual_web import WebTopic

WEB = "web.warc.gz"
TOPICS = "topics.json"
DATE = "2026-01-01T00:00:00Z"
_NAMESPACE = uuid.UUID("6f1c1d1e-7d0c-5c5e-9f3a-0a4c5f1f7a52")
_DROPPED = frozenset({"transfer-encoding", "content-length"})


def write_web(
    folder: Path, responses: Iterable[Response], topics: Sequence[WebTopic], *, date: str = DATE
) -> int:
    """Write a web into *folder*; return how many responses it has.

    Both files appear whole or not at all. A URL that comes twice keeps its first response.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / (WEB + ".part")
    seen: set[str] = set()
    try:
        with partial.open("wb") as file:
            _write_record(file, "warcinfo", "", b"software: treasure\r\n", date)
            for response in responses:
                if response.url not in seen:
                    seen.add(response.url)
                    _write_record(file, "response", response.url, http_bytes(response), date)
        (folder / TOPICS).write_text(topics_json(topics), encoding="utf-8")
        partial.replace(folder / WEB)
    finally:
        partial.unlink(missing_ok=True)
    return len(seen)


def http_bytes(response: Response) -> bytes:
    """Return the response as HTTP/1.1 writes it."""
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {response.status} {phrase}".rstrip()]
    lines += [f"{k}: {v}" for k, v in response.headers if k.lower() not in _DROPPED]
    lines.append(f"Content-Length: {len(response.body)}")
    return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + response.body


def topics_json(topics: Sequence[WebTopic]) -> str:
    """Return ``topics.json`` for *topics*, targets sorted."""
    rows = [
        {
            "name": topic.name,
            "ddc": topic.ddc,
            "description": topic.description,
            "seeds": list(topic.seeds),
            "on_topic_seeds": list(topic.on_topic_seeds),
            "targets": sorted(topic.targets),
        }
        for topic in topics
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def _write_record(file: BinaryIO, kind: str, url: str, payload: bytes, date: str) -> None:
    content = (
        "application/http; msgtype=response" if kind == "response" else "application/warc-fields"
    )
    digest = base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()
    head = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(_NAMESPACE, url)}>",
        f"WARC-Date: {date}",
        *([f"WARC-Target-URI: {url}"] if url else []),
        f"WARC-Block-Digest: sha1:{digest}",
        f"Content-Type: {content}",
        f"Content-Length: {len(payload)}",
    ]
    record = "\r\n".join(head).encode("utf-8") + b"\r\n\r\n" + payload + b"\r\n\r\n"
    file.write(gzip.compress(record, 6, mtime=0))
