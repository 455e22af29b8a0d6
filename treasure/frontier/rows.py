"""The rows of an embedded frontier: what stands in its tables, byte by byte.

A *place* is where a link waits: the number of its host, then its rank (order and arrival), as
bytes that sort alike. It is the key of the link's row in ``links`` and the beginning of its row in
``states``, so each of the two rows leads to the other, and either tells all that ranks the link.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import msgspec

_KEY = struct.Struct(">q")
_NUMBER = struct.Struct(">I")
_UNSIGNED = struct.Struct(">Q")
_DOUBLE = struct.Struct(">d")
_PLACE = struct.Struct(">IQQ")
_STATE = struct.Struct(">20sdQ")
_LINK = struct.Struct(">qdQ")
_TRIED = struct.Struct(">Id")
_COUNTERS = struct.Struct(">QQQd")
_SIGN = 1 << 63

LAST_RANK = b"\xff" * 16
KEY_BYTES = _KEY.size

pack_key = _KEY.pack
pack_number = _NUMBER.pack
pack_arrival = _UNSIGNED.pack


LinkRows = tuple[bytes, bytes, bytes, bytes]
"""Of a link its key and row in ``states``, and its key, the place, and row in ``links``. They are
packed by ``core.places``, those of a whole page at once."""


class State(NamedTuple):
    """Where a link stands that is not done."""

    place: bytes
    score: float
    sequence: int
    """Takes of the job before it was queued."""

    @property
    def number(self) -> int:
        """Return the number of its host."""
        return number_of(self.place)

    @property
    def rank(self) -> bytes:
        """The lowest of a host is next."""
        return self.place[4:]

    @property
    def arrival(self) -> bytes:
        """Key of its row in ``entries``."""
        return self.place[12:]


class Tried(NamedTuple):
    """A row of ``tried``: what is known of a link that was taken and is not done."""

    attempts: int
    not_before: float = 0.0
    """When its retry is due, in wall-clock time; 0 when it need not wait."""


class HostRow(NamedTuple):
    """A row of ``hosts``."""

    name: str
    delay: float
    allowed_at: float
    """In wall-clock time."""
    links: int
    first: bytes
    """Rank of its best link; empty when there is none."""
    arrivals: int
    """Links that arrived at this number or later are not counted yet."""


class Counters(NamedTuple):
    """What is counted over the life of the job."""

    sequence: int = 0
    arrivals: int = 0
    done: int = 0
    rate: float = 0.0


def place_of(number: int, order: float, arrival: int) -> bytes:
    """Return the place of a link; *order* is ``rate * sequence - score``."""
    (bits,) = _KEY.unpack(_DOUBLE.pack(order + 0.0))  # no negative zero
    return _PLACE.pack(number, ~bits if bits < 0 else bits + _SIGN, arrival)


def order_of(rank: bytes) -> float:
    """Return the first part of *rank* as a number."""
    (bits,) = _UNSIGNED.unpack(rank[:8])
    number: float = _DOUBLE.unpack(_KEY.pack(bits - _SIGN if bits & _SIGN else ~bits))[0]
    return number


def number_of(place: bytes) -> int:
    """Return the number of the host in *place*."""
    number: int = _NUMBER.unpack(place[:4])[0]
    return number


def arrival_of(key: bytes) -> int:
    """Return the number of arrival in the key of a row of ``entries``."""
    arrival: int = _UNSIGNED.unpack(key)[0]
    return arrival


def unpack_key(raw: bytes) -> int:
    """Return the key of a URL."""
    key: int = _KEY.unpack(raw)[0]
    return key


def unpack_state(raw: bytes) -> State:
    """Return the state in a row of ``states``."""
    return State(*_STATE.unpack(raw))


def unpack_link(place: bytes, raw: bytes) -> tuple[int, State]:
    """Return the key of the URL and the state in a row of ``links``."""
    key, score, sequence = _LINK.unpack(raw)
    return key, State(place, score, sequence)


def pack_tried(tried: Tried) -> bytes:
    """Return a row of ``tried``."""
    return _TRIED.pack(*tried)


def unpack_tried(raw: bytes) -> Tried:
    """Return what ``pack_tried`` packed."""
    return Tried(*_TRIED.unpack(raw))


def pack_counters(counters: Counters) -> bytes:
    """Return the counters as bytes."""
    return _COUNTERS.pack(*counters)


def unpack_counters(raw: bytes) -> Counters:
    """Return what ``pack_counters`` packed."""
    return Counters(*_COUNTERS.unpack(raw))


pack_host = msgspec.msgpack.Encoder().encode
unpack_host = msgspec.msgpack.Decoder(HostRow).decode
