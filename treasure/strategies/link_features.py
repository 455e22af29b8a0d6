"""What the default strategy looks at: one number per feature and link, gathered for many at once.

Texts are on the judge's scale (0 at the line between on and off topic, 1 well inside); rates are
log-odds against what is expected of a kind nobody knows, so that 0 means "no news". The prior
weights are the opinion before the first outcome. They were fitted to links of half of the topics of
both webs, rounded, and made alike where the webs disagreed (docs/focus.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.judge import Judge
from treasure.strategies.evidence import Evidence
from treasure.strategies.rates import NamedTally, Tally
from treasure.text import VOCABULARY, words
from treasure.urls import host_of

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

_MEDIA = re.compile(r"\.(?:jpe?g|png|gif|svg|ogg|mp3|mp4|pdf|zip|gz|tar|exe|webp)\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOISE = frozenset("htm html shtml php asp aspx jsp cgi index default www com org net".split())
_WITNESS_LIMIT = 1 << 18
_LIST_LIMIT = 1 << 20


@dataclass
class Kinds:
    """Outcomes by kind of link."""

    hosts: NamedTally = field(default_factory=lambda: NamedTally(100_000))
    sections: NamedTally = field(default_factory=lambda: NamedTally(200_000))
    folders: NamedTally = field(default_factory=lambda: NamedTally(200_000))
    shapes: NamedTally = field(default_factory=lambda: NamedTally(50_000))
    ways: NamedTally = field(default_factory=lambda: NamedTally(100_000))
    """Links out of a host."""
    paths: NamedTally = field(default_factory=lambda: NamedTally(200_000))
    pages: Tally = field(default_factory=lambda: Tally(_WITNESS_LIMIT))
    lists: Tally = field(default_factory=lambda: Tally(_LIST_LIMIT))
    page_relevance: Floats = field(default_factory=lambda: np.zeros(_WITNESS_LIMIT))
    total: Tally = field(default_factory=lambda: Tally(1))

    def tallies(self) -> dict[str, Tally]:
        """Return all tallies by name."""
        return {name: tally for name, tally in vars(self).items() if isinstance(tally, Tally)}

    @property
    def expected(self) -> float:
        """Mean relevance of the crawl so far."""
        zero = np.zeros(1, np.int32)
        return float(self.total.relevance(zero, 0.1, 10.0)[0])


def place(evidence: Evidence, kinds: Kinds, row: int, url: str, source: str) -> None:
    """Write down what the address itself says, and the host where it was found first."""
    host = host_of(url)
    path = url.split("/", 3)[3] if url.count("/") > 2 else ""
    folder, _, last = path.partition("?")[0].rpartition("/")
    column = evidence.column
    column["host"][row] = kinds.hosts.number(host)
    if host != source:
        column["way"][row] = kinds.ways.number(source)
    column["section"][row] = kinds.sections.number(f"{host}/{folder.split('/', 1)[0]}")
    column["folder"][row] = kinds.folders.number(f"{host}/{folder}")
    column["media"][row] = _MEDIA.search(last) is not None
    column["shape"][row] = kinds.shapes.number(f"{host} {last.partition('.')[2][-12:]}")
    # Twice: archives of the web write %252C for a comma.
    plain = unquote(unquote(path, errors="replace"), errors="replace") if "%" in path else path
    spelled = words(_CAMEL.sub(" ", plain))
    terms = [VOCABULARY[word] for word in spelled[-8:] if word not in _NOISE]
    evidence.add_terms("url_terms", row, terms)


def features(rows: Rows, evidence: Evidence, kinds: Kinds, judge: Judge) -> Floats:
    """Return a row of features, in the order of ``PRIOR``, for each of *rows*."""
    column = evidence.column
    pages = column["pages"][rows]
    seen = pages >= 0
    relevance = np.where(seen, kinds.page_relevance[pages], 0.0)
    total = relevance.sum(axis=1)
    in_links = np.maximum(column["in_links"][rows], 1.0)
    expected = max(LEAST_EXPECTED, kinds.expected)
    zero = _log_odds(np.array(expected))
    named = np.concatenate([column["anchor_terms"][rows], column["url_terms"][rows]], axis=1)
    dewey, dewey_other = judge.dewey_evidence(named)
    hub = kinds.pages.relevance(pages, expected, 3.0)
    values = {
        "bias": 1.0,
        "parents_mean": total / (np.maximum(seen.sum(axis=1), 1) + 0.5),
        "parents_max": relevance.max(axis=1),
        "parents_sum": np.log1p(total),
        "in_links": np.log(in_links),
        "distance": np.minimum(column["distance"][rows], FARTHEST) / 2,
        "anchor": judge.terms_evidence(column["anchor_terms"][rows]),
        "url": judge.terms_evidence(column["url_terms"][rows]),
        "context": column["context"][rows],
        "context_mean": column["context_sum"][rows] / in_links,
        "heading": column["heading"][rows],
        "main_heading": column["main_heading"][rows],
        "block": column["block"][rows],
        "dewey": dewey,
        "dewey_other": dewey_other,
        "rarity": judge.rarity(column["anchor_terms"][rows]),
        "host": _log_odds(kinds.hosts.relevance(column["host"][rows], expected, 2.0)) - zero,
        "section": _log_odds(kinds.sections.relevance(column["section"][rows], expected, 2.0))
        - zero,
        "folder": _log_odds(kinds.folders.relevance(column["folder"][rows], expected, 2.0)) - zero,
        "path": _log_odds(kinds.paths.relevance(column["paths"][rows], expected, 2.0)) - zero,
        "hub": _log_odds(hub) - zero,
        "siblings": _log_odds(kinds.lists.relevance(column["lists"][rows], hub, 2.0)) - zero,
        "boilerplate": column["boilerplate"][rows] / in_links,
        "graph": column["graph"][rows],
        "graph_success": column["graph_success"][rows],
    }
    matrix = np.empty((rows.size, len(PRIOR)))
    for place_, name in enumerate(PRIOR):
        matrix[:, place_] = values[name]
    return matrix


def life(rows: Rows, evidence: Evidence, kinds: Kinds) -> Floats:
    """Return the chance that each link leads to a page at all."""
    column = evidence.column
    chance = np.where(column["media"][rows], MEDIA_LIFE, LIFE)
    for tally, name in (
        (kinds.sections, "section"),
        (kinds.folders, "folder"),
        (kinds.shapes, "shape"),
        (kinds.ways, "way"),
    ):
        chance = np.minimum(chance, tally.life(column[name][rows], LIFE, 1.0))
    # Squared, as dead links come in kinds: one of them tells more about the next than chance does.
    sharpened: Floats = chance * chance / LIFE
    return sharpened


def _log_odds(rate: Floats) -> Floats:
    bounded = np.clip(rate, 0.002, 0.998)
    odds: Floats = np.log(bounded / (1.0 - bounded))
    return odds
