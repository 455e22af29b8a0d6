"""Works out the features of waiting links from what was written down of them, row by row.

Serves ``strategies.link_features``, which says what each feature is for; a row of features is in
the order of its ``PRIOR``. The columns are those of ``strategies.evidence``, words are judged by
the tables of ``ddc.judge``.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import exp, log, log1p, sqrt

PLACES = 5
"""Kinds that a link's address tells: shape, way, host, section, folder."""
WITNESSES = 8
"""Linking pages kept for a URL; each tells three more kinds: path, page and list."""
ANCHOR_TERMS = 12
"""Words of a row's anchors; those of its address follow."""
LIFE = 0.95
"""Share of links that lead to a page, before anything is known."""
MEDIA_LIFE = 0.5
"""The same for addresses that name a picture or a file: they are often no pages of their own."""
DEWEY_DOUBT = 3.0
"""Weight of doubt in what a short text's D-numbers say; a telling word weighs about 8."""
FARTHEST = 5.0
"""Pages off topic on the way to a link, beyond which it makes no difference."""
LOWEST = -1.5
"""As low as evidence gets; 1.5 is as high."""


def look(
    rows: cython.longlong[:],
    columns: tuple,
    tallies: tuple,
    texts: tuple,
    edition: cython.int,
    expected: cython.double,
    living: cython.double,
    found: cython.double[:, :],
    life: cython.double[:],
):
    """Work out the features of *rows*, keep them, and write them to *found*.

    To *life* goes the chance that each leads to a page at all. *expected* is the relevance behind
    a kind nobody knows, *living* the share of links out of a host that lead to a page.
    """
    kinds: cython.int[:, :] = columns[0]
    numbers: cython.float[:, :] = columns[1]
    kept: cython.float[:, :] = columns[3]
    editions: cython.int[:] = columns[4]
    media: cython.uchar[:] = columns[5]
    counts: cython.float[:, :] = tallies[0]
    starts: cython.longlong[:] = tallies[1]
    exits: cython.float[:, :] = tallies[2]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    row: cython.Py_ssize_t
    paths: cython.Py_ssize_t = PLACES
    pages: cython.Py_ssize_t = paths + WITNESSES
    lists: cython.Py_ssize_t = pages + WITNESSES
    end: cython.Py_ssize_t = lists + WITNESSES
    farthest: cython.double = FARTHEST
    usual: cython.double = LIFE
    usual_media: cython.double = MEDIA_LIFE
    no_news: cython.double = _log_odds(expected)
    rate: cython.double
    alive: cython.double
    in_links: cython.double
    _tell(rows, columns, tallies[3], texts, edition)
    for i in range(rows.shape[0]):
        row = rows[i]
        editions[row] = edition
        in_links = max(numbers[row, 0], 1.0)
        kept[row, 0] = 1.0  # bias
        kept[row, 4] = log(in_links)
        kept[row, 5] = min(numbers[row, 1], farthest) / 2.0  # distance
        kept[row, 8] = numbers[row, 4]  # context
        kept[row, 9] = numbers[row, 2] / in_links  # context_mean
        kept[row, 10] = numbers[row, 5]  # heading
        kept[row, 11] = numbers[row, 6]  # main_heading
        kept[row, 12] = numbers[row, 7]  # block
        for j in range(2, paths):  # host, section, folder
            rate = _mean(counts, starts[j], kinds, row, j, j + 1, 2, expected, 2.0)
            kept[row, 14 + j] = _log_odds(rate) - no_news
        rate = _mean(counts, starts[paths], kinds, row, paths, pages, 2, expected, 2.0)
        kept[row, 19] = _log_odds(rate) - no_news  # path
        rate = _mean(counts, starts[pages], kinds, row, pages, lists, 2, expected, 3.0)
        kept[row, 20] = _log_odds(rate) - no_news  # hub
        rate = _mean(counts, starts[lists], kinds, row, lists, end, 2, rate, 2.0)
        kept[row, 21] = _log_odds(rate) - no_news  # siblings
        kept[row, 22] = numbers[row, 3] / in_links  # boilerplate
        kept[row, 23] = numbers[row, 8]  # graph
        kept[row, 24] = numbers[row, 9]  # graph_success
        for j in range(kept.shape[1]):
            found[i, j] = kept[row, j]
        alive = usual_media if media[row] else usual
        alive = min(alive, _mean(counts, starts[0], kinds, row, 0, 1, 1, usual, 1.0))
        alive = min(alive, _mean(counts, starts[3], kinds, row, 3, 4, 1, usual, 1.0))
        alive = min(alive, _mean(counts, starts[4], kinds, row, 4, 5, 1, usual, 1.0))
        # Squared, as dead links come in kinds: one of them tells more about the next than chance.
        alive = alive * alive / usual
        if kinds[row, 1] >= 0:
            # Links out of a host live as the others out of it on their page do; of a page nobody
            # knows, as those of its host; of a host nobody knows, as all that lead out of one.
            rate = _mean(counts, starts[1], kinds, row, 1, 2, 1, living, 2.0)
            alive = min(alive, _mean(exits, 0, kinds, row, pages, lists, 1, rate, 2.0))
        life[i] = alive


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _mean(
    counts: cython.float[:, :],
    start: cython.Py_ssize_t,
    kinds: cython.int[:, :],
    row: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    which: cython.Py_ssize_t,
    expected: cython.double,
    strength: cython.double,
) -> cython.double:
    """Return a rate of some of a row's kinds together, drawn to what is *expected*.

    *which* is 2 for the relevance of pages that live, 1 for the share of fetches that gave a page
    (``strategies.rates``). -1 is no kind.
    """
    j: cython.Py_ssize_t
    kind: cython.Py_ssize_t
    total: cython.double = strength * expected
    weight: cython.double = strength
    for j in range(first, last):
        kind = kinds[row, j]
        if kind >= 0:
            total += counts[start + kind, which]
            weight += counts[start + kind, which - 1]
    return total / weight


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _log_odds(rate: cython.double) -> cython.double:
    rate = min(max(rate, 0.002), 0.998)
    return log(rate / (1.0 - rate))


@cython.cfunc
def _tell(
    rows: cython.longlong[:],
    columns: tuple,
    page_relevance: cython.double[:],
    texts: tuple,
    edition: cython.int,
):
    """Work out what only a new witness or a new model changes, where that is of another edition."""
    kinds: cython.int[:, :] = columns[0]
    terms: cython.int[:, :] = columns[2]
    kept: cython.float[:, :] = columns[3]
    editions: cython.int[:] = columns[4]
    dewey: cython.double[:, :] = texts[1]
    rarity: cython.double[:] = texts[2]
    table: cython.double[:, :]
    slope: cython.double
    centre: cython.double
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    row: cython.Py_ssize_t
    term: cython.Py_ssize_t
    first_page: cython.Py_ssize_t = PLACES + WITNESSES
    after_pages: cython.Py_ssize_t = first_page + WITNESSES
    anchors: cython.Py_ssize_t = ANCHOR_TERMS
    width: cython.Py_ssize_t = terms.shape[1]
    lowest: cython.double = LOWEST
    doubt: cython.double = DEWEY_DOUBT
    seen: cython.Py_ssize_t
    relevance: cython.double
    total: cython.double
    best: cython.double
    mine: cython.double
    everything: cython.double
    rarest: cython.double
    for i in range(rows.shape[0]):
        row = rows[i]
        if editions[row] == edition:
            continue
        seen = 0
        total = best = 0.0
        for j in range(first_page, after_pages):
            if kinds[row, j] >= 0:
                relevance = page_relevance[kinds[row, j]]
                seen += 1
                total += relevance
                best = max(best, relevance)
        kept[row, 1] = total / (max(seen, 1) + 0.5)  # parents_mean
        kept[row, 2] = best  # parents_max
        kept[row, 3] = log1p(total)  # parents_sum
        kept[row, 6] = kept[row, 7] = lowest  # anchor and url, raised below
        mine = everything = rarest = 0.0
        for j in range(width):
            term = terms[row, j]
            if term >= 0:
                if j < anchors:
                    rarest = max(rarest, rarity[min(term, rarity.shape[0] - 2)])
                term = min(term, dewey.shape[0] - 1)
                mine += dewey[term, 0]
                everything += dewey[term, 1]
        kept[row, 13] = mine / (everything + doubt)  # dewey
        kept[row, 14] = (everything - mine) / (everything + doubt)  # dewey_other
        kept[row, 15] = rarest  # rarity
    for table, slope, centre in texts[0]:
        for i in range(rows.shape[0]):
            row = rows[i]
            if editions[row] != edition:
                best = _evidence(terms, row, 0, anchors, table, slope, centre)
                kept[row, 6] = max(kept[row, 6], best)
                best = _evidence(terms, row, anchors, width, table, slope, centre)
                kept[row, 7] = max(kept[row, 7], best)


def topic_words(
    rows: cython.longlong[:], terms: cython.int[:, :], texts: tuple, found: cython.double[:]
):
    """Write to *found* how far the anchors of *rows* are in the topic's words, 0 to 1."""
    dewey: cython.double[:, :] = texts[1]
    table: cython.double[:, :]
    slope: cython.double
    centre: cython.double
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    term: cython.Py_ssize_t
    anchors: cython.Py_ssize_t = ANCHOR_TERMS
    doubt: cython.double = DEWEY_DOUBT
    mine: cython.double
    told: cython.double
    for i in range(rows.shape[0]):
        # A page is called by several names: what the plain ones say takes nothing from the others.
        mine = 0.0
        for j in range(anchors):
            term = terms[rows[i], j]
            if term >= 0:
                mine += dewey[min(term, dewey.shape[0] - 1), 0]
        found[i] = mine / (mine + doubt)
    for table, slope, centre in texts[0]:
        for i in range(rows.shape[0]):
            told = _evidence(terms, rows[i], 0, anchors, table, slope, centre)
            found[i] = max(found[i], 1.0 / (1.0 + exp(-4.0 * told)))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _evidence(
    terms: cython.int[:, :],
    row: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    table: cython.double[:, :],
    slope: cython.double,
    centre: cython.double,
) -> cython.double:
    """Return what the words of a short text say, by one model (``ddc.page_model``)."""
    j: cython.Py_ssize_t
    term: cython.Py_ssize_t
    new: cython.Py_ssize_t = table.shape[0] - 2
    gain: cython.double = 0.0
    square: cython.double = 0.0
    score: cython.double = 0.0
    for j in range(first, last):
        term = terms[row, j]
        if term >= 0:
            term = min(term, new)
            gain += table[term, 0]
            square += table[term, 1]
    square = sqrt(square)
    if square > 1e-6:
        score = gain / square
    return min(max(slope * (score - centre) / 4.0, -1.5), 1.5)
