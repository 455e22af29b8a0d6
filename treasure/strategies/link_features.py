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
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from treasure.core import addresses, outcomes
from treasure.core.features import PLACES, WITNESSES, Features
from treasure.ddc.judge import Judge
from treasure.strategies.evidence import URL_TERMS, Evidence
from treasure.strategies.rates import NamedTally, Tally, no_counts
from treasure.text import MARK, VOCABULARY, plain

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


_MEDIA = re.compile(r"\.(?:jpe?g|png|gif|svg|ogg|mp3|mp4|pdf|zip|gz|tar|exe|webp)\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FRONT = frozenset({"", "index", "home", "default", "main", "welcome", "contents"})
"""Names of pages that open a site or a section."""
_NOISE = frozenset("htm html shtml php asp aspx jsp cgi index default www com org net".split())
_FOLDERS = 4_096
"""Folders whose numbers and words are at hand."""
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


class _Folder(NamedTuple):
    """What all addresses in a folder have in common."""

    host: str
    host_number: int
    section: int
    number: int
    words: list[str]
    """The last words of its path."""


class Kinds:
    """Outcomes by kind of link.

    Counts lie in one table, so that those of all kinds of a link are looked up at once.
    """

    def __init__(self) -> None:
        ends = list(accumulate(limit + 1 for limit in _LIMITS.values()))
        counts, exits = no_counts(ends[-1]), no_counts(_WITNESS_LIMIT + 1)
        widths = [1] * PLACES + [WITNESSES] * 3
        starts = np.repeat([0, *ends[:-1]], widths)
        self._limits = np.repeat(list(_LIMITS.values()), widths)
        tables = dict(zip(_LIMITS, np.split(counts, ends[:-1]), strict=True))

        def named(kind: str) -> NamedTally:
            return NamedTally(_LIMITS[kind], tables[kind])

        self.shapes, self.hosts = named("shapes"), named("hosts")
        self.ways = Tally(_LIMITS["ways"], tables["ways"])
        """Links out of a host; numbered as ``hosts``."""
        self.sections, self.folders, self.paths = map(named, ("sections", "folders", "paths"))
        self.pages = Tally(_LIMITS["pages"], tables["pages"])
        self.lists = Tally(_LIMITS["lists"], tables["lists"])
        self.exits = Tally(_WITNESS_LIMIT, exits)
        """Links out of a host by the page they stand on, which has the same number in ``pages``."""
        self.promises = Tally(_LIMITS["hosts"])
        """Links whose anchors promised much, by the host they lead to; numbered as ``hosts``."""
        self.page_relevance = np.zeros(_WITNESS_LIMIT)
        total = no_counts(3)
        self.total = Tally(2, total)
        """All links, and those that lead out of a host."""
        self.total.several(2)
        self.tables = counts, starts, exits, self.page_relevance, total
        """What ``core`` reads and writes, in its order."""
        self._folders: dict[str, _Folder] = {}

    def tallies(self) -> dict[str, Tally]:
        """Return all tallies by name."""
        return {name: tally for name, tally in vars(self).items() if isinstance(tally, Tally)}

    def count(self, row: int, evidence: Evidence, relevance: float, *, alive: bool) -> None:
        """Count what became of the link at *row* for all kinds of links that it is one of."""
        outcomes.count(row, evidence.columns[0], self.tables, relevance, alive)
        self.ways.size = max(self.ways.size, int(evidence.column["way"][row]) + 1)

    def check(self, kinds: NDArray[np.int32]) -> None:
        """Take out of rows of kinds what can be none: compiled code would not look."""
        kinds[kinds >= self._limits] = -1

    def folder(self, address: str) -> _Folder:
        """Return what is known of the folder at *address*, which ends before a slash.

        Remembered, since most addresses lie in folders that others have just come from.
        """
        folder = self._folders.get(address)
        if folder is None:
            if len(self._folders) >= _FOLDERS:
                self._folders.clear()
            folder = self._folders[address] = self._new_folder(address)
        return folder

    def _new_folder(self, address: str) -> _Folder:
        _, _, host, *path = address.split("/", 3)
        names = "".join(path)
        return _Folder(
            host,
            self.hosts.number(host),
            self.sections.number(f"{host}/{names.split('/', 1)[0]}"),
            self.folders.number(f"{host}/{names}"),
            _words([names])[0][-URL_TERMS:],
        )

    def state(self) -> dict[str, Any]:
        """Return names and counts, ready for msgpack."""
        return {name: tally.state() for name, tally in self.tallies().items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        for name, tally in self.tallies().items():
            tally.restore(state[name])
        self._folders.clear()  # numbers may have changed


def place(evidence: Evidence, kinds: Kinds, rows: list[int], urls: list[str], source: str) -> None:
    """Write down what the addresses themselves say, and the host where they were found first."""
    names = kinds.folder, kinds.hosts.number, kinds.shapes.number, _is_media
    front = evidence.column["front"].view(np.uint8)
    above, rests = addresses.place(rows, urls, source, names, _FRONT, evidence.columns, front)
    texts = _words(rests)
    terms = addresses.numbers(above, texts, URL_TERMS, _NOISE, VOCABULARY.get, VOCABULARY.met)
    evidence.add_terms("url_terms", rows, terms)


@lru_cache(maxsize=4_096)
def _is_media(ending: str) -> bool:
    """Return whether an address that ends so names a picture or a file."""
    return _MEDIA.search(f".{ending}") is not None


def _words(paths: Sequence[str]) -> list[list[str]]:
    """Return the words of some parts of addresses, which are cut together."""
    joined = MARK.join([_written(path) if "%" in path else path for path in paths])
    cut = plain(joined if joined.islower() else _CAMEL.sub(" ", joined)).decode()
    return [text.split() for text in cut.split(MARK)]


def _written(path: str) -> str:
    """Return a part of an address without percent codes."""
    # Twice: archives of the web write %252C for a comma.
    return unquote(unquote(path, errors="replace"), errors="replace").replace(MARK, " ")


class Look(NamedTuple):
    """What is known of some links now; their features are in ``Evidence.column``."""

    chance: Floats
    """That each leads to a page on topic, if it leads to one."""
    life: Floats
    """The chance that each leads to a page at all."""


def look(rows: Rows, features: Features, judge: Judge, edition: int, weights: Floats) -> Look:
    """Work out the features of the links at *rows*, and return what they make together.

    *edition* is the number of the judge's models: what they told of a row is asked for once.
    """
    chance, life = np.empty((2, rows.size))
    features.look(rows, judge.tables, edition, weights, chance, life)
    return Look(chance, life)
