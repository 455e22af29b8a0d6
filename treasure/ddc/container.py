"""A file of named arrays that can be memory-mapped.

A line of JSON (what is where), then the arrays as they lie in memory, each on a multiple of 64
bytes. Nothing is decoded when it is opened, so opening costs the same for any size; and unlike
a pickle it cannot do anything.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.errors import LexiconError

MAGIC = b"TREASURE DDC 1\n"
_ALIGN = 64
_KINDS = {"|u1", "|i1", "<u2", "<i4", "<f2", "<f4"}


def dump(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> bytes:
    """Return *arrays* and *meta* as one string of bytes."""
    layout: dict[str, tuple[str, int, int]] = {}
    body = bytearray()
    for name, array in arrays.items():
        body.extend(b"\0" * (-len(body) % _ALIGN))
        array = np.ascontiguousarray(array)
        layout[name] = (array.dtype.str, len(body), array.size)
        body.extend(array.tobytes())
    head = json.dumps({"meta": dict(meta), "arrays": layout}, sort_keys=True).encode()
    start = len(MAGIC) + 8 + len(head)
    padding = b" " * (-start % _ALIGN)
    size = (len(head) + len(padding)).to_bytes(8, "little")
    return MAGIC + size + head + padding + bytes(body)


def replace(path: Path, data: bytes) -> None:
    """Write *data* to *path* at once: whoever has the old file mapped keeps the old one."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise LexiconError(f"{path} cannot be written: {error.strerror}.") from None


def open_file(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays, mapped and read-only, and the meta data of the file at *path*."""
    try:
        with path.open("rb") as file:
            buffer: mmap.mmap | bytes
            try:
                buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file cannot be mapped
                buffer = b""
    except OSError as error:
        raise LexiconError(f"The packed lexicon {path} cannot be read: {error.strerror}.") from None
    return load(buffer, str(path))


def load(buffer: bytes | mmap.mmap, source: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays, as views of *buffer*, and the meta data."""
    wrong = LexiconError(f"{source} is no packed lexicon. Make one with 'treasure ddc import'.")
    if buffer[: len(MAGIC)] != MAGIC:
        raise wrong
    try:
        start = len(MAGIC) + 8
        body = start + int.from_bytes(buffer[len(MAGIC) : start], "little")
        head = json.loads(bytes(buffer[start:body]))
        arrays = {
            name: np.frombuffer(buffer, np.dtype(kind), size, body + offset)
            for name, (kind, offset, size) in head["arrays"].items()
            if kind in _KINDS
        }
        return arrays, dict(head["meta"])
    except (ValueError, KeyError, TypeError):
        raise wrong from None


def pack_strings(strings: list[str]) -> NDArray[np.uint8]:
    """Return *strings*, none of which holds a line break, as one array."""
    return np.frombuffer("\n".join(strings).encode(), np.uint8)


def unpack_strings(array: NDArray[np.uint8]) -> list[str]:
    """Return what ``pack_strings`` packed."""
    return array.tobytes().decode().split("\n") if array.size else []
