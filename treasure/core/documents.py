"""Counts the words of a text, and judges a text by its counts.

Serves ``ddc.page_model`` and ``ddc.judge``.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import log as _log
from cython.cimports.libc.math import sqrt as _sqrt


def counted(numbers: cython.const[cython.int][::1], spans: list) -> tuple[Any, Any]:
    """Return the distinct numbers of *spans*, in the order in which they come, and their counts.

    Spans may overlap, and what two of them share counts twice. Numbers below 0 are left out.
    """
    size: cython.Py_ssize_t = numbers.shape[0]
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    most: cython.Py_ssize_t = 0
    for start, stop in spans:
        most += max(0, min(stop, size) - max(start, 0))
    # A table of places with room to spare: a number's place is looked for from its hash on.
    # Its memory is this call's own, since texts are counted in several threads.
    bits: cython.int = 4
    while (1 << bits) < 2 * most:
        bits += 1
    mask: cython.Py_ssize_t = (1 << bits) - 1
    table = np.zeros(mask + 1, np.int32)
    found = np.empty(most, np.int32)
    counts = np.empty(most)
    place_of: cython.int[::1] = table
    number_of: cython.int[::1] = found
    count_of: cython.double[::1] = counts
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    number: cython.longlong
    mix: cython.longlong = 2654435761  # neighbours end up far from each other (Knuth's method)
    for start, stop in spans:
        for i in range(max(start, 0), min(stop, size)):
            number = cython.cast(cython.longlong, numbers[i])
            if number < 0:
                continue
            slot = ((number * mix) >> (32 - bits)) & mask
            while place_of[slot] and number_of[place_of[slot] - 1] != number:
                slot = (slot + 1) & mask
            if place_of[slot]:
                count_of[place_of[slot] - 1] += 1.0
            else:
                number_of[count] = number
                count_of[count] = 1.0
                count += 1
                place_of[slot] = count
    return found[:count], counts[:count]


def margin(
    terms: cython.const[cython.int][::1],
    counts: cython.const[cython.double][::1],
    table: cython.const[cython.double][:, ::1],
) -> float:
    """Return the product of a text's unit vector with a model's weights.

    A row of *table* is a term's idf x weight, and its idf squared. The last row but one is for all
    terms beyond, the last for those below 0.
    """
    new: cython.Py_ssize_t = table.shape[0] - 2
    gain: cython.double = 0.0
    square: cython.double = 0.0
    often: cython.double
    i: cython.Py_ssize_t
    term: cython.Py_ssize_t
    for i in range(terms.shape[0]):
        term = min(terms[i], new) if terms[i] >= 0 else new + 1
        often = 1.0 if counts[i] == 1.0 else 1.0 + _log(counts[i])
        gain += often * table[term, 0]
        square += often * often * table[term, 1]
    return gain / _sqrt(square) if square > 0.0 else 0.0


def add(sums: cython.double[::1], terms: cython.const[cython.int][::1]) -> None:
    """Add one to the sum of each of distinct *terms*; those beyond the last have none."""
    size: cython.Py_ssize_t = sums.shape[0]
    i: cython.Py_ssize_t
    for i in range(terms.shape[0]):
        if 0 <= terms[i] < size:
            sums[terms[i]] += 1.0
