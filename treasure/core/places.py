"""Packs the rows of a page's links at once, and finds the links whose score is another now.

Serves ``frontier.rows``, which says what stands in the rows and what for. The rows of a link are
four pieces of bytes: key and row in ``states``, key and row in ``links``.
"""

from __future__ import annotations

import struct

import cython

if cython.compiled:
    from cython.cimports.libc.string import memcpy

_DOUBLE = struct.Struct("d")
_BITS = struct.Struct("Q")
_STATE_BYTES = 36


@cython.cfunc
@cython.exceptval(check=False)
def _bits(number: cython.double) -> cython.ulonglong:
    bits: cython.ulonglong = 0
    if cython.compiled:
        memcpy(cython.address(bits), cython.address(number), 8)
    else:
        bits = _BITS.unpack(_DOUBLE.pack(number))[0]
    return bits


@cython.cfunc
@cython.exceptval(check=False)
def _finite(score: cython.double) -> cython.double:
    """Return *score*, or 0 for what is no number: such links wait at the end."""
    return score + 0.0 if score - score == 0.0 else 0.0  # no negative zero


@cython.cfunc
@cython.exceptval(check=False)
def _read(row: cython.p_uchar, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.ulonglong:
    value: cython.ulonglong = 0
    i: cython.Py_ssize_t
    for i in range(at, at + size):
        value = (value << 8) | row[i]
    return value


@cython.cfunc
@cython.exceptval(check=False)
def _write(
    row: cython.p_uchar, at: cython.Py_ssize_t, size: cython.Py_ssize_t, value: cython.longlong
) -> cython.void:
    """Write *value* with its highest byte first: so bytes sort as the numbers do."""
    i: cython.Py_ssize_t
    for i in range(at + size - 1, at - 1, -1):
        row[i] = value & 255
        value >>= 8


@cython.cfunc
def _cut(row: cython.p_uchar, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
    return row[begin:end] if cython.compiled else bytes(row[begin:end])


@cython.cfunc
def _rows(
    row: cython.p_uchar,
    number: cython.longlong,
    key: cython.longlong,
    score: cython.double,
    sequence: cython.longlong,
    arrival: cython.longlong,
    rate: cython.double,
) -> tuple:
    order: cython.ulonglong = _bits(rate * sequence - score + 0.0)
    _write(row, 0, 4, number)
    _write(row, 4, 8, ~order if order >> 63 else order)
    if not order >> 63:  # positive numbers sort behind negative ones
        row[4] |= 128
    _write(row, 12, 8, arrival)
    _write(row, 20, 8, _bits(score))
    _write(row, 28, 8, sequence)
    _write(row, 36, 8, key)
    _write(row, 44, 8, _bits(score))
    _write(row, 52, 8, sequence)
    return _cut(row, 36, 44), _cut(row, 0, 36), _cut(row, 0, 20), _cut(row, 36, 60)


def added(
    numbers: list,
    keys: list,
    scores: list,
    sequence: cython.longlong,
    arrival: cython.longlong,
    rate: cython.double,
) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """Return the rows of new links: of hosts with these *numbers*, of URLs with these *keys*."""
    data = bytearray(60)
    found = []
    i: cython.Py_ssize_t
    for i in range(len(keys)):
        score: cython.double = _finite(scores[i])
        found.append(_rows(data, numbers[i], keys[i], score, sequence, arrival + i, rate))
    return found


def moved(
    states: list, keys: list, scores: list, rate: cython.double
) -> list[tuple[int, int, tuple[bytes, bytes, bytes, bytes]]]:
    """Return of each link that waits with another score: which it is, its host, its rows now.

    *states* are rows; None for links that are unknown, nothing for those that are done.
    """
    data = bytearray(60)
    found = []
    size: cython.Py_ssize_t = _STATE_BYTES
    i: cython.Py_ssize_t
    for i in range(len(keys)):
        state: bytes = states[i]
        if not state:
            continue
        if len(state) != size:
            raise ValueError(f"This is no state of a link: {state!r}")
        score: cython.double = _finite(scores[i])
        row: cython.p_uchar = state
        if _read(row, 20, 8) != _bits(score):
            number: cython.longlong = _read(row, 0, 4)
            sequence: cython.longlong = _read(row, 28, 8)
            arrival: cython.longlong = _read(row, 12, 8)
            rows = _rows(data, number, keys[i], score, sequence, arrival, rate)
            found.append((i, number, rows))
    return found
