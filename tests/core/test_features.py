"""Features of links: compiled, uncompiled, and as one would work them out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.both import both
from treasure.strategies.evidence import URL_TERMS
from treasure.strategies.link_features import PRIOR
from treasure.text import NEW

INSTALLED, UNCOMPILED = both("features")
ROWS, KINDS, WORDS = 6, 9, 30
WITNESSES, ANCHOR_TERMS = INSTALLED.WITNESSES, INSTALLED.ANCHOR_TERMS
WIDTH = INSTALLED.PLACES + 3 * WITNESSES
EDITION = 3


class Tables:
    """Columns, counts and models as a crawl may leave them."""

    def __init__(self, seed, models=1):
        random = np.random.default_rng(seed)
        limits = [KINDS] * 8
        starts = np.repeat(np.cumsum([0, *limits[:-1]]), [1] * 5 + [WITNESSES] * 3)
        kinds = random.integers(-1, KINDS - 1, (ROWS, WIDTH)).astype(np.int32)
        kinds[0] = -1
        numbers = random.random((ROWS, 10)).astype(np.float32)
        numbers[:, 0] = random.integers(0, 12, ROWS)
        numbers[:, 1] = random.integers(0, 99, ROWS)
        words = [-1, -1, -1, 0, 1, WORDS - 1, WORDS, WORDS + 7, NEW, *range(WORDS)]
        terms = random.choice(words, (ROWS, ANCHOR_TERMS + URL_TERMS)).astype(np.int32)
        terms[1] = -1
        kept = random.random((ROWS, len(PRIOR))).astype(np.float32)
        editions = random.integers(EDITION - 1, EDITION + 1, ROWS).astype(np.int32)
        media = random.integers(0, 2, ROWS).astype(np.uint8)
        self.columns = kinds, numbers, terms, kept, editions, media
        counts = random.integers(1, 5, (sum(limits), 4)).astype(np.float32)
        counts[:, 1] -= random.random(len(counts)) > 0.5
        counts[:, 2] = counts[:, 1] * random.random(len(counts))
        exits = counts[:KINDS].copy()
        self.tallies = counts, starts, exits, random.random(KINDS), counts[:3].copy()
        self.models = [self._model(random) for _ in range(models)]
        dewey = random.random((WORDS + 1, 2))
        dewey[-1] = 0.0
        rarity = random.random(WORDS + 2)
        rarity[-1] = 0.0
        self.texts = self.models, dewey, rarity
        self.weights = random.normal(size=len(PRIOR))

    @staticmethod
    def _model(random):
        table = random.random((WORDS + 2, 2))
        table[-2, 0] = 0.0
        table[-1] = 0.0
        return table, 4.0 * random.random(), random.random()

    def look(self, module, rows):
        chance, life = np.empty((2, len(rows)))
        features = module.Features(self.columns, self.tallies)
        features.look(np.array(rows), self.texts, EDITION, self.weights, chance, life)
        return chance, life, self.columns[3]


def evidence(terms, models):
    """Return what a short text says, by the model that likes it most."""
    best = -1.5
    for table, slope, centre in models:
        parts = [table[min(term, WORDS)] for term in terms if term >= 0]
        gain, square = sum(p[0] for p in parts), sum(p[1] for p in parts)
        score = gain / math.sqrt(square) if square > 1e-12 else 0.0
        best = max(best, min(max(slope * (score - centre) / 4, -1.5), 1.5))
    return best


def log_odds(rate):
    rate = min(max(rate, 0.002), 0.998)
    return math.log(rate / (1 - rate))


def by_hand(tables, row):
    """Return features and chance of life of a row."""
    kinds, numbers, terms, _, _, media = (column[row].tolist() for column in tables.columns)
    counts, starts, exits, page_relevance, (all_links, outward, _) = tables.tallies
    expected = max(0.12, (float(all_links[2]) + 10.0 * 0.1) / (float(all_links[1]) + 10.0))
    living = (float(outward[1]) + 2.0 * 0.95) / (float(outward[0]) + 2.0)
    models, dewey, rarity = tables.texts
    names = ["shape", "way", "host", "section", "folder"]
    names += [name for name in ("path", "page", "list") for _ in range(WITNESSES)]

    def counted(of, table=counts):
        places = [
            kind + (start if table is counts else 0)
            for name, kind, start in zip(names, kinds, starts, strict=True)
            if name == of and kind >= 0
        ]
        return table[places].astype(float).sum(axis=0)

    def relevance(of, strength=2.0, drawn_to=expected):
        _, alive, total, _ = counted(of)
        return (total + strength * drawn_to) / (alive + strength)

    def alive(of, drawn_to, strength, table=counts):
        fetched, alive, *_ = counted(of, table)
        return (alive + strength * drawn_to) / (fetched + strength)

    pages = [kind for name, kind in zip(names, kinds, strict=True) if name == "page" and kind >= 0]
    parents = page_relevance[pages].tolist()
    in_links, distance, context_sum, boilerplate, *raised = numbers
    in_links = max(in_links, 1.0)
    words = [term for term in terms if term >= 0]
    mine, everything = sum((dewey[min(term, WORDS)] for term in words), np.zeros(2))
    anchor, url = terms[:ANCHOR_TERMS], terms[ANCHOR_TERMS:]
    hub = relevance("page", 3.0)
    found = {
        "bias": 1.0,
        "parents_mean": sum(parents) / (max(len(parents), 1) + 0.5),
        "parents_max": max(parents, default=0.0),
        "parents_sum": math.log(1 + sum(parents)),
        "in_links": math.log(in_links),
        "distance": min(distance, 5.0) / 2,
        "anchor": evidence(anchor, models),
        "url": evidence(url, models),
        "context_mean": context_sum / in_links,
        "dewey": mine / (everything + 3.0),
        "dewey_other": (everything - mine) / (everything + 3.0),
        "rarity": max((rarity[min(t, WORDS)] for t in anchor if t >= 0), default=0.0),
        "boilerplate": boilerplate / in_links,
        "hub": log_odds(hub) - log_odds(expected),
        "siblings": log_odds(relevance("list", drawn_to=hub)) - log_odds(expected),
    }
    for name in ("host", "section", "folder", "path"):
        found[name] = log_odds(relevance(name)) - log_odds(expected)
    names_raised = ("context", "heading", "main_heading", "block", "graph", "graph_success")
    found.update(zip(names_raised, raised, strict=True))
    life = min([alive(of, 0.95, 1.0) for of in ("shape", "section", "folder")])
    life = min(life, 0.5 if media else 0.95) ** 2 / 0.95
    if kinds[1] >= 0:
        life = min(life, alive("page", alive("way", living, 2.0), 2.0, exits))
    return [found[name] for name in PRIOR], life


TOLD = "parents_mean parents_max parents_sum anchor url dewey dewey_other rarity".split()


@pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_features_are_what_one_works_out_by_hand(module, seed, models):
    tables = Tables(seed, models)
    before, editions = tables.columns[3].copy(), tables.columns[4].copy()
    rows = [0, 1, 4, 5, 4]
    chance, life, kept = tables.look(module, rows)
    told = [name in TOLD for name in PRIOR]
    for at, row in enumerate(rows):
        features, alive = by_hand(tables, row)
        if editions[row] == EDITION:  # what the models told is not asked for again
            features = np.where(told, before[row], features)
        assert kept[row] == pytest.approx(features, abs=1e-5)
        assert life[at] == pytest.approx(alive)
        margin = float(tables.weights @ kept[row])
        assert chance[at] == pytest.approx(1 / (1 + math.exp(-margin)))
    assert np.array_equal(kept[[2, 3]], before[[2, 3]])
    assert tables.columns[4][rows].tolist() == [EDITION] * len(rows)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_compiled_and_uncompiled_find_the_same(seed):
    found = [Tables(seed, 2).look(module, range(ROWS)) for module in (INSTALLED, UNCOMPILED)]
    for one, other in zip(*found, strict=True):
        # Uncompiled, sums of single precision stay in it.
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
@given(st.integers(0, 10_000))
def test_words_of_the_topic(module, seed):
    tables = Tables(seed, 2)
    terms = tables.columns[2]
    found = np.empty(ROWS)
    module.topic_words(np.arange(ROWS), terms, tables.texts, found)
    for row in range(ROWS):
        anchor = terms[row, :ANCHOR_TERMS].tolist()
        mine = sum(tables.texts[1][min(term, WORDS)][0] for term in anchor if term >= 0)
        told = 1 / (1 + math.exp(-4 * evidence(anchor, tables.models)))
        assert found[row] == pytest.approx(max(mine / (mine + 3.0), told))


@pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
def test_scores_are_chances_times_life(module):
    chance, life = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.9, 0.9])
    scouts = np.array([0, 0, 1, 0, 0], np.uint8)
    module.weigh(np.array([4, 2, 0]), chance, life, scouts, 0.01)
    assert chance.tolist() == [0.25, 1.0, 0.01]
