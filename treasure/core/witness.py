"""Writes down what a page says of its links: where they stand, and what stands around them.

Serves ``strategies.treasure`` and ``strategies.evidence``, whose columns these are, and
``strategies.queue_order``.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import sqrt as _sqrt

from treasure.core.features import LOWEST, PLACES, WITNESSES

NEVER = -1
"""Edition of a row whose features were never worked out."""
TEXTS = 4
"""Texts around a link: context, heading, main heading, block."""


def ahead(
    links: Any, keys: list, outcomes: list, dead: Any, known: dict[int, int]
) -> tuple[list[int], list[Any], list[int], list[int], list[Any]]:
    """Return which links have no outcome and are not *dead*: places, themselves, their keys.

    Then those among them that are not *known* yet: their places among them, and themselves.
    """
    places: list = []
    found: list = []
    kept: list = []
    new: list = []
    fresh: list = []
    i: cython.Py_ssize_t
    for i in range(len(keys)):
        key = keys[i]
        if outcomes[i] is None and key not in dead:
            if key not in known:
                new.append(len(kept))
                fresh.append(links[i])
            places.append(i)
            found.append(links[i])
            kept.append(key)
    return places, found, kept, new, fresh


def lists(
    links: Any,
    keys: list,
    outcomes: list,
    given: dict[int, float],
    blocks: cython.const[cython.int][:, :],
) -> tuple[Any, int, list[tuple[int, float]]]:
    """Return which list, or other whole, each block with links belongs to, and how many there are.

    Then the outcomes that are known of the links, or were *given*, each with its list. Blocks that
    belong to the same whole share a number; those without links have none, -1.
    """
    of_block = np.full(blocks.shape[0], -1, np.int32)
    numbers: cython.int[::1] = of_block
    wholes: dict = {}
    known: list = []
    i: cython.Py_ssize_t
    block: cython.Py_ssize_t
    for i in range(len(keys)):
        block = _block(links[i], blocks)
        if numbers[block] < 0:
            whole = blocks[block, 4], blocks[block, 5]
            numbers[block] = wholes.setdefault(whole, len(wholes))
        outcome = given.get(keys[i]) if outcomes[i] is None else outcomes[i]
        if outcome is not None:
            known.append((numbers[block], outcome))
    return of_block, len(wholes), known


def stand(
    links: Any,
    blocks: cython.const[cython.int][:, :],
    headings: Any,
    main: Any,
    paths: dict[str, int],
    page: cython.int,
    of_block: cython.int[:],
    lists: list[int],
    width: cython.int,
    size: cython.int,
) -> tuple[Any, Any, Any]:
    """Return where each link stands, whether that is boilerplate, and which spans speak of it.

    It stands at a path, on the *page* and in a list, each of which has a number; *of_block* tells
    which of *lists* a block belongs to. The spans are its anchor, its context, *width* words on
    each side within the block, the heading, the *main* heading, which does not speak twice, and the
    block. None ends beyond the *size* words of the page, whoever made it.
    """
    stands = np.empty((len(links), 3), np.int32)
    boilerplate = np.empty(len(links), np.uint8)
    spans = np.zeros((len(links), 2 * (1 + TEXTS)), np.int32)
    numbers: cython.int[:, ::1] = stands
    furniture: cython.uchar[::1] = boilerplate
    found: cython.int[:, ::1] = spans
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    block: cython.Py_ssize_t
    heading: cython.Py_ssize_t
    start: cython.int
    stop: cython.int
    main_start: cython.int
    main_stop: cython.int
    main_start, main_stop = _bounds(main)
    for i in range(len(links)):
        link = links[i]
        block = _block(link, blocks)
        numbers[i, 0] = paths[_part(link, 4)]
        numbers[i, 1] = page
        numbers[i, 2] = lists[of_block[block]]
        furniture[i] = 1 if blocks[block, 3] else 0
        start, stop = _bounds(_part(link, 1))
        found[i, 0], found[i, 1] = start, stop
        found[i, 2] = max(blocks[block, 0], start - width)
        found[i, 3] = min(blocks[block, 1], stop + width)
        heading = blocks[block, 2]
        if heading >= 0:
            start, stop = _bounds(_part(headings[heading], 1))
            if start != main_start or stop != main_stop:
                found[i, 4], found[i, 5] = start, stop
        found[i, 6], found[i, 7] = main_start, main_stop
        found[i, 8], found[i, 9] = blocks[block, 4], blocks[block, 5]
        for j in range(found.shape[1]):
            found[i, j] = min(max(found[i, j], 0), size)
    return stands, boilerplate, spans


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _block(link: object, blocks: cython.const[cython.int][:, :]) -> cython.Py_ssize_t:
    """Return which block a link stands in."""
    block: cython.Py_ssize_t = _part(link, 3)
    if not 0 <= block < blocks.shape[0]:
        raise IndexError(f"There is no block {block} of {blocks.shape[0]}.")
    return block


@cython.cfunc
@cython.inline
def _part(record: object, at: cython.Py_ssize_t) -> object:
    """Return a part of a named tuple: a tuple in fact, but not to ``record[at]`` when compiled."""
    if not isinstance(record, tuple) or len(record) <= at:
        raise TypeError(f"There is no part {at} of {record!r}.")
    return cython.cast(tuple, record)[at]


@cython.cfunc
@cython.inline
def _bounds(span: object) -> tuple[cython.int, cython.int]:
    return _part(span, 0), _part(span, 1)


def span_evidence(
    terms: cython.const[cython.int][:],
    spans: cython.int[:, :],
    models: list,
    found: cython.float[:, :],
):
    """Write to *found* what the texts around each link say, by the model that likes them most.

    A span's score is a quotient of two sums (``ddc.page_model``), of which those of all words
    before its end and before its start are at hand.
    """
    sums = np.zeros((len(terms) + 1, 2))
    before: cython.double[:, :] = sums
    table: cython.double[:, :]
    slope: cython.double
    centre: cython.double
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    term: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    new: cython.Py_ssize_t
    texts: cython.Py_ssize_t = TEXTS
    lowest: cython.double = LOWEST
    score: cython.double
    length: cython.double
    for i in range(spans.shape[0]):
        for j in range(texts):
            found[i, j] = lowest
    for table, slope, centre in models:
        new = table.shape[0] - 2
        for i in range(terms.shape[0]):
            before[i + 1, 0] = before[i, 0]
            before[i + 1, 1] = before[i, 1]
            term = terms[i]
            if term >= 0:
                term = min(term, new)
                before[i + 1, 0] += table[term, 0]
                before[i + 1, 1] += table[term, 1]
        for i in range(spans.shape[0]):
            for j in range(texts):
                start = spans[i, 2 * j + 2]
                stop = spans[i, 2 * j + 3]
                score = 0.0
                length = _sqrt(max(before[stop, 1] - before[start, 1], 0.0))
                if length > 1e-6:
                    score = (before[stop, 0] - before[start, 0]) / length
                score = min(max(slope * (score - centre) / 4.0, lowest), -lowest)
                found[i, j] = max(found[i, j], score)


def graph_evidence(
    places: list,
    new: list,
    osm: cython.double[:, :],
    node: cython.longlong[:],
    distance: cython.schar[:],
    success: cython.double[:],
    found: cython.float[:, :],
    nodes: cython.longlong[:],
):
    """Write to *found* how near to a target the T-Graph sees links, and how that went before.

    To *nodes* goes which node each link matched. The graph was asked about *new* links only, those
    ahead of us that no page has pointed to before; the others are nowhere, -1.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    place: cython.Py_ssize_t
    best: cython.double
    last: cython.Py_ssize_t = found.shape[1] - 1
    for i in range(nodes.shape[0]):
        nodes[i] = -1
    for i in range(len(new)):
        at = new[i]
        place = places[at]
        best = 0.0
        for j in range(osm.shape[1]):
            best = max(best, osm[i, j])
        nodes[place] = node[i]
        found[at, last - 1] = best / max(distance[i], 1)
        if node[i] >= 0:
            found[at, last] = success[i]


def begin(rows: list, keys: list, key_of: cython.longlong[:], alive: cython.uchar[:]):
    """Write down which URLs new rows are of."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    for i in range(len(rows)):
        row = rows[i]
        key_of[row] = keys[i]
        alive[row] = 1


def settle(
    rows: cython.longlong[:], score: cython.double[:], sent: cython.double[:], share: cython.double
) -> list[int]:
    """Return the rows whose score is another than was sent by more than a *share*: sent it is."""
    told: list = []
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        row = rows[i]
        if abs(score[row] - sent[row]) > share * max(score[row], sent[row]):
            sent[row] = score[row]
            told.append(row)
    return told


def hear(
    rows: cython.longlong[:],
    stands: cython.int[:, :],
    boilerplate: cython.uchar[:],
    values: cython.float[:, :],
    distance: cython.float,
    columns: tuple,
) -> list[int]:
    """Take in a page that links to *rows*; return each of them once.

    Where the page links to a URL several times, it stands where it is linked to last, the best of
    *values* counts, and of context and boilerplate the first.
    """
    kinds: cython.int[:, :] = columns[0]
    numbers: cython.float[:, :] = columns[1]
    editions: cython.int[:] = columns[4]
    witnesses: cython.Py_ssize_t = WITNESSES
    places: cython.Py_ssize_t = PLACES
    never: cython.int = NEVER
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    row: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    once: dict = {}
    for i in range(rows.shape[0]):
        row = rows[i]
        if row not in once:
            once[row] = None
            numbers[row, 0] += 1.0
            numbers[row, 1] = min(numbers[row, 1], distance)
            numbers[row, 2] += values[i, 0]
            numbers[row, 3] += boilerplate[i]
            editions[row] = never
        for j in range(values.shape[1]):
            numbers[row, 4 + j] = max(numbers[row, 4 + j], values[i, j])
        # It has been counted: the slot is that of the link before.
        slot = places + (cython.cast(cython.Py_ssize_t, numbers[row, 0]) - 1) % witnesses
        for j in range(stands.shape[1]):
            kinds[row, slot + j * witnesses] = stands[i, j]
    return list(once)


def add_anchors(
    rows: cython.longlong[:],
    spans: cython.int[:, :],
    terms: cython.const[cython.int][:],
    held: cython.int[:, :],
):
    """Add to each row the words of its anchor that it does not hold yet, while there is room."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    last: cython.Py_ssize_t = held.shape[1] - 1
    for i in range(rows.shape[0]):
        for j in range(spans[i, 0], spans[i, 1]):
            if held[rows[i], last] >= 0:
                break
            _add(held, rows[i], terms[j])


def add_terms(rows: list, texts: list, held: cython.int[:, :]):
    """Do the same with texts that are lists of words."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    term: cython.int
    for i in range(len(rows)):
        row = rows[i]
        for term in texts[i]:
            _add(held, row, term)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _add(held: cython.int[:, :], row: cython.Py_ssize_t, term: cython.int) -> cython.void:
    j: cython.Py_ssize_t
    if term >= 0:
        for j in range(held.shape[1]):
            if held[row, j] < 0:
                held[row, j] = term
            if held[row, j] == term:
                break
