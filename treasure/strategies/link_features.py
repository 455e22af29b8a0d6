"""What the default strategy looks at: one number per feature and link, gathered for many at once.

Texts are on the judge's scale (0 at the line between on and off topic, 1 well inside); rates are
log-odds against what is expected of a kind nobody knows, so that 0 means "no news". The prior
weights are the opinion before the first outcome. They were fitted to links of half of the topics of
both webs, rounded, and made alike where the webs disagreed (docs/focus.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.judge import Judge
from treasure.strategies.evidence import (
    ANCHOR_TERMS,
    PLACES,
    RAISED,
    URL_TERMS,
    WITNESSES,
    Evidence,
)
from treasure.strategies.rates import (
    Counts,
    Ids,
    NamedTally,
    Tally,
    counts_of_each,
    mean_life,
    mean_relevance,
    no_counts,
)
from treasure.text import VOCABULARY, words

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

PRIOR = {
    "bias": -2.0,
    # the pages that link to it
    "parents_mean": 1.1,
    "parents_max": 0.7,
    "parents_sum": 0.5,
    "in_links": -0.5,
    "distance": -0.6,
    # words
    "anchor": 0.8,
    "url": 1.1,
    "context": 0.05,
    "context_mean": 0.3,
    "heading": 0.35,
    "main_heading": 0.05,
    "block": 0.1,
    "dewey": 1.3,
    "dewey_other": -1.1,
    "rarity": 0.7,
    # what became of links of the same kind
    "host": 0.9,
    "section": 0.9,
    "folder": 0.1,
    "path": 0.1,
    "hub": 0.1,
    "siblings": 0.4,
    "boilerplate": -0.1,
    # the T-Graph
    "graph": 0.2,
    "graph_success": 0.2,
}
"""Every feature with its weight before anything is learned."""
GROUPS = {
    "tgraph": ("graph", "graph_success"),
    "statistics": ("host", "section", "folder", "path"),
    "outcomes": ("hub", "siblings"),
    "dewey": ("dewey", "dewey_other"),
    "words": ("anchor", "url", "context", "context_mean", "heading", "main_heading", "block"),
}
"""Names of several features, for ablations."""

LEAST_EXPECTED = 0.12
"""Relevance expected behind a kind nobody knows, at least: the unknown is worth a look."""
LIFE = 0.95
"""Share of links that lead to a page, before anything is known."""
MEDIA_LIFE = 0.5
"""The same for addresses that name a picture or a file: they are often no pages of their own."""
FARTHEST = 5.0
ALL, OUTWARD = 0, 1
"""Places in the tally of everything: all links, and those that lead out of a host."""

_MEDIA = re.compile(r"\.(?:jpe?g|png|gif|svg|ogg|mp3|mp4|pdf|zip|gz|tar|exe|webp)\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FRONT = frozenset({"", "index", "home", "default", "main", "welcome", "contents"})
"""Names of pages that open a site or a section."""
_NOISE = frozenset("htm html shtml php asp aspx jsp cgi index default www com org net".split())
_WITNESS_LIMIT = 1 << 18
_LIMITS = {
    "shapes": 50_000,
    "ways": 100_000,
    "hosts": 100_000,
    "sections": 200_000,
    "folders": 200_000,
    "paths": 200_000,
    "pages": _WITNESS_LIMIT,
    "lists": 1 << 20,
}
"""Kinds that are remembered, in the order of a row's kinds (``evidence.GROUPS``)."""
_SHAPE, _WAY, _HOST, _SECTION, _FOLDER, _PATHS, _PAGES, _LISTS = range(len(_LIMITS))
_RATED = slice(_HOST, _LISTS)
_LIVING = [_SHAPE, _SECTION, _FOLDER]
_LINKING = slice(PLACES + WITNESSES, PLACES + 2 * WITNESSES)
"""Where the pages that link are among a row's kinds."""
_STRENGTHS = np.array([[2.0], [2.0], [2.0], [2.0], [3.0]], np.float32)
"""What is expected of host, section, folder, path and page weighs as much as so many outcomes."""


class Kinds:
    """Outcomes by kind of link.

    Counts lie in one table, so that those of all kinds of many links are looked up at once.
    """

    def __init__(self) -> None:
        # Every kind ends in a place that stays empty: -1 of the next one takes that.
        ends = list(accumulate(limit + 1 for limit in _LIMITS.values()))
        self._counts = no_counts(ends[-1])
        self._starts = np.repeat([0, *ends[:-1]], [1] * PLACES + [WITNESSES] * 3)
        tables = dict(zip(_LIMITS, np.split(self._counts, ends[:-1]), strict=True))

        def named(kind: str) -> NamedTally:
            return NamedTally(_LIMITS[kind], tables[kind])

        self.shapes, self.hosts = named("shapes"), named("hosts")
        self.ways = Tally(_LIMITS["ways"], tables["ways"])
        """Links out of a host; numbered as ``hosts``."""
        self.sections, self.folders, self.paths = map(named, ("sections", "folders", "paths"))
        self.pages = Tally(_LIMITS["pages"], tables["pages"])
        self.lists = Tally(_LIMITS["lists"], tables["lists"])
        self.exits = Tally(_WITNESS_LIMIT)
        """Links out of a host by the page they stand on, which has the same number in ``pages``."""
        self.promises = Tally(_LIMITS["hosts"])
        """Links whose anchors promised much, by the host they lead to; numbered as ``hosts``."""
        self.page_relevance = np.zeros(_WITNESS_LIMIT)
        self.total = Tally(2)
        self.total.several(2)  # ALL and OUTWARD

    def tallies(self) -> dict[str, Tally]:
        """Return all tallies by name."""
        return {name: tally for name, tally in vars(self).items() if isinstance(tally, Tally)}

    @property
    def expected(self) -> float:
        """Mean relevance of the crawl so far."""
        return float(mean_relevance(self.total.counts_of(ALL), 0.1, 10.0))

    def counts(self, kinds: Ids) -> Counts:
        """Return the counts behind some links' *kinds*, of all witnesses together.

        The axes are which count, which kind and which link.
        """
        found = counts_of_each(self._counts, (kinds + self._starts).T)
        of_witnesses = found[PLACES:].reshape(-1, WITNESSES, *found.shape[1:]).sum(axis=1)
        return np.concatenate([found[:PLACES], of_witnesses]).transpose(2, 0, 1)


def place(
    evidence: Evidence, kinds: Kinds, rows: Sequence[int], urls: Sequence[str], source: str
) -> None:
    """Write down what the addresses themselves say, and the host where they were found first."""
    column = evidence.column
    numbers, media, fronts, paths = [], [], [], []
    folders: dict[tuple[str, str], tuple[int, int, int, int]] = {}
    for url in urls:
        _, _, host, path = url.split("/", 3)
        folder, _, last = path.partition("?")[0].rpartition("/")
        of_folder = folders.get((host, folder))
        if of_folder is None:
            of_folder = folders[host, folder] = (
                kinds.hosts.number(source) if host != source else -1,
                kinds.hosts.number(host),
                kinds.sections.number(f"{host}/{folder.split('/', 1)[0]}"),
                kinds.folders.number(f"{host}/{folder}"),
            )
        name, _, ending = last.partition(".")
        numbers.append((kinds.shapes.number(f"{host} {ending[-12:]}"), *of_folder))
        media.append(bool(ending) and _is_media(ending))
        fronts.append(name.lower() in _FRONT)
        paths.append(path)
    at = np.array(rows)
    column["kinds"][at, :PLACES] = numbers
    column["media"][at] = media
    column["front"][at] = fronts
    evidence.add_terms("url_terms", rows, _path_terms(paths))


@lru_cache(maxsize=4_096)
def _is_media(ending: str) -> bool:
    """Return whether an address that ends so names a picture or a file."""
    return _MEDIA.search(f".{ending}") is not None


def _path_terms(paths: Sequence[str]) -> list[list[int]]:
    """Return the last words of some addresses."""
    # Twice: archives of the web write %252C for a comma.
    plain = [
        unquote(unquote(p, errors="replace"), errors="replace") if "%" in p else p for p in paths
    ]
    spelled = [words(p if p.islower() else _CAMEL.sub(" ", p)) for p in plain]
    met = VOCABULARY.met
    return [[met(word) for word in text[-URL_TERMS:] if word not in _NOISE] for text in spelled]


class Look(NamedTuple):
    """What is known of some links now."""

    features: Floats
    """A row each, in the order of ``PRIOR``."""
    life: Floats
    """The chance that each leads to a page at all."""


def look(rows: Rows, evidence: Evidence, kinds: Kinds, judge: Judge, edition: int) -> Look:
    """Return what is known of the links at *rows*.

    *edition* is the number of the judge's model: what it told of a row is asked for once.
    """
    column = evidence.column
    kept = column["features"]
    stale = rows[column["edition"].take(rows) != edition]
    if stale.size:
        kept[stale[:, None], _TOLD] = _told(stale, evidence, kinds, judge)
        column["edition"][stale] = edition
    table = kept.take(rows, axis=0).T.astype(np.float64)
    in_links, distance, context_sum, boilerplate, *raised = column["numbers"].take(rows, 0).T
    in_links = np.maximum(in_links, 1.0)
    rates, life = _outcomes(rows, evidence, kinds)
    values = (
        1.0,
        np.log(in_links),
        np.minimum(distance, FARTHEST) / 2,
        context_sum / in_links,
        boilerplate / in_links,
        *raised,
    )
    for place_, value in zip(_CHANGING, values, strict=True):
        table[place_] = value
    table[_RATES] = rates
    kept[rows] = table.T
    return Look(table.T, life)


TOLD = (
    "parents_mean",
    "parents_max",
    "parents_sum",
    "anchor",
    "url",
    "dewey",
    "dewey_other",
    "rarity",
)
"""Features that only a new witness or a new model of the judge changes."""
RATES = ("host", "section", "folder", "path", "hub", "siblings")
"""Features that any outcome may change."""
_COUNTED = ("bias", "in_links", "distance", "context_mean", "boilerplate")
_PLACES = {name: place for place, name in enumerate(PRIOR)}
_TOLD = [_PLACES[name] for name in TOLD]
_CHANGING = [_PLACES[name] for name in (*_COUNTED, *RAISED)]
_RATES = slice(_PLACES[RATES[0]], _PLACES[RATES[-1]] + 1)


def _told(rows: Rows, evidence: Evidence, kinds: Kinds, judge: Judge) -> Floats:
    """Return the features called ``TOLD``, worked out anew."""
    column = evidence.column
    pages = column["kinds"].take(rows, axis=0)[:, _LINKING]
    seen = pages >= 0
    relevance = np.where(seen, kinds.page_relevance.take(pages, mode="wrap"), 0.0)
    total = relevance @ np.ones(pages.shape[1])
    terms = column["terms"].take(rows, axis=0)
    dewey, dewey_other = judge.dewey_evidence(terms)
    return np.stack(
        [
            total / (np.maximum(seen.sum(axis=1), 1) + 0.5),
            relevance.max(axis=1),
            np.log1p(total),
            *judge.terms_evidence(terms, (0, ANCHOR_TERMS)).T,
            dewey,
            dewey_other,
            judge.rarity(terms[:, :ANCHOR_TERMS]),
        ],
        axis=1,
    )


def _outcomes(rows: Rows, evidence: Evidence, kinds: Kinds) -> tuple[Floats, Floats]:
    """Return the features called ``RATES``, a row each, and the chance that links are alive."""
    kinds_of = evidence.column["kinds"].take(rows, axis=0)
    counts = kinds.counts(kinds_of)
    expected = max(LEAST_EXPECTED, kinds.expected)
    rates = np.empty((len(RATES), rows.size))
    rates[:-1] = mean_relevance(counts[:, _RATED], expected, _STRENGTHS)
    hub = rates[-2]
    rates[-1] = mean_relevance(counts[:, _LISTS], hub, 2.0)
    alive = mean_life(counts[:, _LIVING], LIFE, 1.0).min(axis=0)
    chance = np.minimum(alive, np.where(evidence.column["media"].take(rows), MEDIA_LIFE, LIFE))
    # Squared, as dead links come in kinds: one of them tells more about the next than chance does.
    life: Floats = chance * chance / LIFE
    # Links out of a host live as the others out of it on their page do; of a page nobody knows, as
    # those of its host; of a host nobody knows, as all that lead out of one.
    leaving = np.flatnonzero(kinds_of[:, _WAY] >= 0)
    if leaving.size:
        of_all = mean_life(kinds.total.counts_of(OUTWARD), LIFE, 2.0)
        of_host = mean_life(counts[:, _WAY, leaving], of_all, 2.0)
        of_page = kinds.exits.life(kinds_of[leaving, _LINKING], of_host, 2.0)
        life[leaving] = np.minimum(life[leaving], of_page)
    return _log_odds(rates) - _log_odds(expected), life


def _log_odds(rate: Floats | float) -> Floats:
    bounded = np.clip(rate, 0.002, 0.998)
    odds: Floats = np.log(bounded / (1.0 - bounded))
    return odds
