"""Entries as bytes: msgpack, never pickles, the same in every home."""

from __future__ import annotations

from math import isfinite

import msgspec

from treasure.frontier.base import Entry

pack = msgspec.msgpack.Encoder().encode
"""Return an entry as bytes."""
unpack = msgspec.msgpack.Decoder(Entry).decode
"""Return what ``pack`` packed."""


def finite(score: float) -> float:
    """Return *score*, or 0 for what is no number: such links wait at the end."""
    return float(score) if isfinite(score) else 0.0
