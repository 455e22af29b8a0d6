"""Works out the features of waiting links from what was written down of them, row by row.

Serves ``strategies.link_features``, which says what each feature is for; a row of features is in
the order of its ``PRIOR``. The columns are those of ``strategies.evidence``, the counts those of
``strategies.rates``, and words are judged by the tables of ``ddc.judge``.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.libc.math import exp as _exp
from cython.cimports.libc.math import log as _log
from cython.cimports.libc.math import log1p as _log1p
from cython.cimports.libc.math import sqrt as _sqrt

PLACES = 5
"""Kinds that a link's address tells: shape, way, host, section, folder."""
WITNESSES = 8
"""Linking pages kept for a URL; each tells three more kinds: path, page and list."""
ANCHOR_TERMS = 12
"""Words of a row's anchors; those of its address follow."""
LEAST_EXPECTED = 0.12
"""Relevance expected behind a kind nobody knows, at least: the unknown is worth a look."""
LIFE = 0.95
"""Share of links that lead to a page, before anything is known."""
MEDIA_LIFE = 0.5
"""The same for addresses that name a picture or a file: they are often no pages of their own."""
DEWEY_DOUBT = 3.0
"""Weight of doubt in what a short text's D-numbers say; a telling word weighs about 8."""
FARTHEST = 5.0
"""Pages off topic on the way to a link, beyond which it makes no difference."""
LOWEST = -1.5
"""As low as evidence gets, as that of a text that is not there; the same above 0 is as high."""

# The same for compiled code, which would have to ask Python for those above.
_SHAPE = cython.declare(cython.Py_ssize_t, 0)
_WAY = cython.declare(cython.Py_ssize_t, 1)
_HOST = cython.declare(cython.Py_ssize_t, 2)
_SECTION = cython.declare(cython.Py_ssize_t, 3)
_FOLDER = cython.declare(cython.Py_ssize_t, 4)
_PATHS = cython.declare(cython.Py_ssize_t, PLACES)
_PAGES = cython.declare(cython.Py_ssize_t, PLACES + WITNESSES)
_LISTS = cython.declare(cython.Py_ssize_t, PLACES + 2 * WITNESSES)
_END = cython.declare(cython.Py_ssize_t, PLACES + 3 * WITNESSES)
_ANCHORS = cython.declare(cython.Py_ssize_t, ANCHOR_TERMS)
_LEAST_EXPECTED = cython.declare(cython.double, LEAST_EXPECTED)
_LIFE = cython.declare(cython.double, LIFE)
_MEDIA_LIFE = cython.declare(cython.double, MEDIA_LIFE)
_DOUBT = cython.declare(cython.double, DEWEY_DOUBT)
_FARTHEST = cython.declare(cython.double, FARTHEST)
_LOWEST = cython.declare(cython.double, LOWEST)


@cython.cclass
class Features:
    """The columns of all links and the counts of their kinds: tables that stay where they are."""

    kinds: cython.int[:, ::1]
    numbers: cython.float[:, ::1]
    terms: cython.int[:, ::1]
    kept: cython.float[:, ::1]
    editions: cython.int[::1]
    media: cython.uchar[::1]
    counts: cython.float[:, ::1]
    starts: cython.longlong[::1]
    exits: cython.float[:, ::1]
    page_relevance: cython.double[::1]
    total: cython.float[:, ::1]

    def __init__(self, columns: tuple[Any, ...], tallies: tuple[Any, ...]):
        self.kinds, self.numbers, self.terms, self.kept, self.editions, self.media = columns
        self.counts, self.starts, self.exits, self.page_relevance, self.total = tallies

    def look(
        self,
        rows: cython.longlong[:],
        texts: tuple[Any, ...],
        edition: cython.int,
        weights: cython.double[:],
        chance: cython.double[:],
        life: cython.double[:],
    ):
        """Work out the features of *rows* and keep them; write down what they make together.

        To *chance* goes the chance that each leads to a page on topic, by the *weights* of a
        logistic regression; to *life* the chance that it leads to a page at all. *edition* is the
        number of the judge's models: what they tell of a row is asked for once.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        row: cython.Py_ssize_t
        margin: cython.double
        # What became of all links, and of those that lead out of a host.
        expected: cython.double = _drawn(self.total[0, 2], self.total[0, 1], 0.1, 10.0)
        living: cython.double = _drawn(self.total[1, 1], self.total[1, 0], _LIFE, 2.0)
        no_news: cython.double
        expected = max(expected, _LEAST_EXPECTED)
        no_news = _log_odds(expected)
        self._tell(rows, texts, edition)
        for i in range(rows.shape[0]):
            row = rows[i]
            self.editions[row] = edition
            self._hear(row)
            self._rate(row, expected, no_news)
            margin = 0.0
            for j in range(weights.shape[0]):
                margin += weights[j] * self.kept[row, j]
            chance[i] = 1.0 / (1.0 + _exp(-min(max(margin, -30.0), 30.0)))
            life[i] = self._chance_of_life(row, living)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hear(self, row: cython.Py_ssize_t) -> cython.void:
        """Work out what any witness may change."""
        in_links: cython.double = max(self.numbers[row, 0], 1.0)
        self.kept[row, 0] = 1.0  # bias
        self.kept[row, 4] = _log(in_links)
        self.kept[row, 5] = min(self.numbers[row, 1], _FARTHEST) / 2.0  # distance
        self.kept[row, 8] = self.numbers[row, 4]  # context
        self.kept[row, 9] = self.numbers[row, 2] / in_links  # context_mean
        self.kept[row, 10] = self.numbers[row, 5]  # heading
        self.kept[row, 11] = self.numbers[row, 6]  # main_heading
        self.kept[row, 12] = self.numbers[row, 7]  # block
        self.kept[row, 22] = self.numbers[row, 3] / in_links  # boilerplate
        self.kept[row, 23] = self.numbers[row, 8]  # graph
        self.kept[row, 24] = self.numbers[row, 9]  # graph_success

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rate(
        self, row: cython.Py_ssize_t, expected: cython.double, no_news: cython.double
    ) -> cython.void:
        """Work out what any outcome may change: rates, against what is expected."""
        host: cython.double = self._relevance(row, _HOST, _SECTION, expected, 2.0)
        section: cython.double = self._relevance(row, _SECTION, _FOLDER, expected, 2.0)
        folder: cython.double = self._relevance(row, _FOLDER, _PATHS, expected, 2.0)
        path: cython.double = self._relevance(row, _PATHS, _PAGES, expected, 2.0)
        hub: cython.double = self._relevance(row, _PAGES, _LISTS, expected, 3.0)
        siblings: cython.double = self._relevance(row, _LISTS, _END, hub, 2.0)
        self.kept[row, 16] = _log_odds(host) - no_news
        self.kept[row, 17] = _log_odds(section) - no_news
        self.kept[row, 18] = _log_odds(folder) - no_news
        self.kept[row, 19] = _log_odds(path) - no_news
        self.kept[row, 20] = _log_odds(hub) - no_news
        self.kept[row, 21] = _log_odds(siblings) - no_news

    @cython.cfunc
    @cython.exceptval(check=False)
    def _relevance(
        self,
        row: cython.Py_ssize_t,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        expected: cython.double,
        strength: cython.double,
    ) -> cython.double:
        """Return the mean relevance behind some of a row's kinds, drawn to what is *expected*."""
        j: cython.Py_ssize_t
        place: cython.Py_ssize_t
        relevance: cython.double = 0.0
        pages: cython.double = 0.0
        for j in range(first, last):
            if self.kinds[row, j] >= 0:
                place = self.starts[j] + self.kinds[row, j]
                relevance += self.counts[place, 2]
                pages += self.counts[place, 1]
        return _drawn(relevance, pages, expected, strength)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _chance_of_life(self, row: cython.Py_ssize_t, living: cython.double) -> cython.double:
        """Return the chance that a link leads to a page at all."""
        j: cython.Py_ssize_t
        page: cython.Py_ssize_t
        alive: cython.double = _MEDIA_LIFE if self.media[row] else _LIFE
        pages: cython.double = 0.0
        fetched: cython.double = 0.0
        alive = min(alive, self._life(row, _SHAPE, _LIFE, 1.0))
        alive = min(alive, self._life(row, _SECTION, _LIFE, 1.0))
        alive = min(alive, self._life(row, _FOLDER, _LIFE, 1.0))
        # Squared, as dead links come in kinds: one of them tells more about the next than chance.
        alive = alive * alive / _LIFE
        if self.kinds[row, _WAY] >= 0:
            # Links out of a host live as the others out of it on their page do; of a page nobody
            # knows, as those of its host; of a host nobody knows, as all that lead out of one.
            for j in range(_PAGES, _LISTS):
                page = self.kinds[row, j]
                if page >= 0:
                    pages += self.exits[page, 1]
                    fetched += self.exits[page, 0]
            living = self._life(row, _WAY, living, 2.0)
            alive = min(alive, _drawn(pages, fetched, living, 2.0))
        return alive

    @cython.cfunc
    @cython.exceptval(check=False)
    def _life(
        self,
        row: cython.Py_ssize_t,
        which: cython.Py_ssize_t,
        expected: cython.double,
        strength: cython.double,
    ) -> cython.double:
        """Return the share of fetches that gave a page, of links of one of a row's kinds."""
        place: cython.Py_ssize_t
        if self.kinds[row, which] < 0:
            return expected
        place = self.starts[which] + self.kinds[row, which]
        return _drawn(self.counts[place, 1], self.counts[place, 0], expected, strength)

    @cython.cfunc
    def _tell(self, rows: cython.longlong[:], texts: tuple[Any, ...], edition: cython.int):
        """Work out what only a new witness or a new model changes, where it is out of date."""
        dewey: cython.double[:, ::1] = texts[1]
        rarity: cython.double[::1] = texts[2]
        table: cython.double[:, ::1]
        slope: cython.double
        centre: cython.double
        told: cython.double
        i: cython.Py_ssize_t
        row: cython.Py_ssize_t
        for i in range(rows.shape[0]):
            row = rows[i]
            if self.editions[row] != edition:
                self._ask_parents(row)
                self._ask_lexicon(row, dewey, rarity)
                self.kept[row, 6] = self.kept[row, 7] = _LOWEST
        for table, slope, centre in texts[0]:
            for i in range(rows.shape[0]):
                row = rows[i]
                if self.editions[row] != edition:
                    told = _evidence(self.terms[row, :_ANCHORS], table, slope, centre)
                    self.kept[row, 6] = max(self.kept[row, 6], told)  # anchor
                    told = _evidence(self.terms[row, _ANCHORS:], table, slope, centre)
                    self.kept[row, 7] = max(self.kept[row, 7], told)  # url

    @cython.cfunc
    @cython.exceptval(check=False)
    def _ask_parents(self, row: cython.Py_ssize_t) -> cython.void:
        j: cython.Py_ssize_t
        seen: cython.Py_ssize_t = 0
        relevance: cython.double
        total: cython.double = 0.0
        best: cython.double = 0.0
        for j in range(_PAGES, _LISTS):
            if self.kinds[row, j] >= 0:
                relevance = self.page_relevance[self.kinds[row, j]]
                seen += 1
                total += relevance
                best = max(best, relevance)
        self.kept[row, 1] = total / (max(seen, 1) + 0.5)  # parents_mean
        self.kept[row, 2] = best  # parents_max
        self.kept[row, 3] = _log1p(total)  # parents_sum

    @cython.cfunc
    @cython.exceptval(check=False)
    def _ask_lexicon(
        self, row: cython.Py_ssize_t, dewey: cython.double[:, ::1], rarity: cython.double[::1]
    ) -> cython.void:
        j: cython.Py_ssize_t
        term: cython.Py_ssize_t
        mine: cython.double = 0.0
        everything: cython.double = 0.0
        rarest: cython.double = 0.0
        for j in range(self.terms.shape[1]):
            term = self.terms[row, j]
            if term >= 0:
                if j < _ANCHORS:
                    rarest = max(rarest, rarity[min(term, rarity.shape[0] - 2)])
                term = min(term, dewey.shape[0] - 1)
                mine += dewey[term, 0]
                everything += dewey[term, 1]
        self.kept[row, 13] = mine / (everything + _DOUBT)  # dewey
        self.kept[row, 14] = (everything - mine) / (everything + _DOUBT)  # dewey_other
        self.kept[row, 15] = rarest  # rarity


def weigh(
    rows: cython.longlong[:],
    chance: cython.double[:],
    life: cython.double[:],
    scouts: cython.uchar[:],
    least: cython.double,
):
    """Make of the *chance* of a page on topic and of *life* the score of each row, in *chance*.

    No score is lower than *least*; scouts go first.
    """
    i: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        chance[i] = 1.0 if scouts[rows[i]] else max(chance[i] * life[i], least)


def topic_words(
    rows: cython.longlong[:],
    terms: cython.int[:, ::1],
    texts: tuple[Any, ...],
    found: cython.double[:],
):
    """Write to *found* how far the anchors of *rows* are in the topic's words, 0 to 1."""
    dewey: cython.double[:, ::1] = texts[1]
    table: cython.double[:, ::1]
    slope: cython.double
    centre: cython.double
    told: cython.double
    mine: cython.double
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    term: cython.Py_ssize_t
    for i in range(rows.shape[0]):
        # Of the names that a page is called by, the plain ones take nothing from the others.
        mine = 0.0
        for j in range(_ANCHORS):
            term = terms[rows[i], j]
            if term >= 0:
                mine += dewey[min(term, dewey.shape[0] - 1), 0]
        found[i] = mine / (mine + _DOUBT)
    for table, slope, centre in texts[0]:
        for i in range(rows.shape[0]):
            told = _evidence(terms[rows[i], :_ANCHORS], table, slope, centre)
            found[i] = max(found[i], 1.0 / (1.0 + _exp(-4.0 * told)))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _drawn(
    total: cython.double, count: cython.double, expected: cython.double, strength: cython.double
) -> cython.double:
    """Return a mean that is drawn to what is *expected* as if by so many outcomes."""
    return (total + strength * expected) / (count + strength)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _log_odds(rate: cython.double) -> cython.double:
    rate = min(max(rate, 0.002), 0.998)
    return _log(rate / (1.0 - rate))


@cython.cfunc
@cython.exceptval(check=False)
def _evidence(
    terms: cython.int[::1],
    table: cython.double[:, ::1],
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
    for j in range(terms.shape[0]):
        term = terms[j]
        if term >= 0:
            term = min(term, new)
            gain += table[term, 0]
            square += table[term, 1]
    square = _sqrt(square)
    if square > 1e-6:
        score = gain / square
    return min(max(slope * (score - centre) / 4.0, _LOWEST), -_LOWEST)
