"""Entries as bytes: msgpack, never pickles, the same in every home."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from treasure.frontier.base import Entry

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, float, int, str, str, str, dict[str, Any]]).decode


def pack(entry: Entry) -> bytes:
    """Return *entry* as bytes."""
    return _encode(
        (
            entry.url,
            entry.score,
            entry.depth,
            entry.referrer,
            entry.anchor,
            entry.context,
            entry.meta,
        )
    )


def unpack(raw: bytes) -> Entry:
    """Return what ``pack`` packed."""
    return Entry(*_decode(raw))


def finite(score: float) -> float:
    """Return *score*, or 0 for what is no number: such links wait at the end."""
    return float(score) if isfinite(score) else 0.0
