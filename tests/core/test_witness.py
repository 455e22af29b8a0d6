"""What a page says of its links: compiled, uncompiled, and told plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.both import both
from treasure.core.tables import block_table
from treasure.pages import EMPTY, Block, Heading, Link, Span
from treasure.text import NEW

INSTALLED, UNCOMPILED = both("witness")
BOTH = pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
WIDTH = 5 + 3 * 8
WORDS = 20


def test_where_links_stand_and_what_speaks_of_them():
    headings = [Heading(1, Span(0, 2), "Birds"), Heading(2, Span(2, 5), "Owls")]
    blocks = [
        Block("paragraph", Span(5, 60), 0, False, Span(5, 60)),
        Block("item", Span(60, 70), 1, True, Span(60, 90)),
        Block("item", Span(70, 90), -1, True, Span(60, 90)),
    ]
    links = [
        Link("https://a.org/", Span(30, 32), "one", 0, "p/a", False, 1),
        Link("https://b.org/", Span(61, 62), "two", 1, "li/a", False, 2),
        Link("https://c.org/", Span(89, 90), "three", 2, "li/a", False, 3),
    ]
    table, paths = block_table(blocks), {"p/a": 7, "li/a": 8}
    for module in (INSTALLED, UNCOMPILED):
        of_block, count, _ = module.lists(links, [1, 2, 3], [None] * 3, {}, table)
        assert count == 2
        stands, boilerplate, spans = module.stand(
            links, table, headings, Span(0, 2), paths, 5, of_block, [40, 41], 12, 89
        )
        assert stands.tolist() == [[7, 5, 40], [8, 5, 41], [8, 5, 41]]
        assert boilerplate.tolist() == [0, 1, 1]
        assert spans.tolist() == [
            [30, 32, 18, 44, 0, 0, 0, 2, 5, 60],
            [61, 62, 60, 70, 2, 5, 0, 2, 60, 89],
            [89, 89, 77, 89, 0, 0, 0, 2, 60, 89],
        ]


@BOTH
def test_what_is_no_part_of_a_page_is_refused(module):
    table, of_block = block_table([Block("paragraph", EMPTY, -1, False, EMPTY)]), np.zeros(1, "i4")
    for link in (["", EMPTY, "", 0, ""], ("", EMPTY), ("", [0, 0], "", 0, "")):
        with pytest.raises(TypeError):
            module.stand([link], table, [], EMPTY, {"": 0}, 0, of_block, [0], 12, 9)
    for block in (-1, 1):
        link = Link("", EMPTY, "", block, "", False, 0)
        with pytest.raises(IndexError):
            module.stand([link], table, [], EMPTY, {"": 0}, 0, of_block, [0], 12, 9)
        with pytest.raises(IndexError):
            module.lists([link], [1], [None], {}, table)


@BOTH
@given(st.lists(st.integers(0, 9), max_size=20))
def test_links_ahead_are_those_without_an_outcome(module, keys):
    links = [f"link {at}" for at in range(len(keys))]
    done, dead, known = {1: 0.5, 2: 0.0}, {3: True}, {4: 0, 5: 1}
    outcomes = [done.get(key) for key in keys]
    places = [at for at, key in enumerate(keys) if key not in (1, 2, 3)]
    new = [at for at, place in enumerate(places) if keys[place] not in known]
    assert module.ahead(links, keys, outcomes, dead, known) == (
        places,
        [links[place] for place in places],
        [keys[place] for place in places],
        new,
        [links[places[at]] for at in new],
    )


@BOTH
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=20))
def test_outcomes_count_for_the_list_of_their_link(module, stands):
    wholes = [Span(0, 9), Span(9, 12), Span(0, 9), Span(0, 12)]
    blocks = [Block("item", Span(0, 1), -1, False, whole) for whole in wholes]
    links = [Link("", EMPTY, "", block, "", False, 0) for block, _ in stands]
    done, given_ = {1: 0.5, 2: 0.0}, {2: 1.0, 3: 0.25}
    outcomes = [done.get(key) for _, key in stands]
    found = module.lists(links, [key for _, key in stands], outcomes, given_, block_table(blocks))
    numbers = {whole: at for at, whole in enumerate(dict.fromkeys(wholes[b] for b, _ in stands))}
    used = {block for block, _ in stands}
    assert found[0].tolist() == [
        numbers[whole] if block in used else -1 for block, whole in enumerate(wholes)
    ]
    assert found[1] == len(numbers)
    outcome = {**given_, **done}
    assert found[2] == [(numbers[wholes[b]], outcome[key]) for b, key in stands if key in outcome]


@BOTH
def test_new_rows_begin(module):
    keys, alive = np.zeros(5, np.int64), np.zeros(5, np.uint8)
    module.begin([3, 1], [-(1 << 63), (1 << 63) - 1], keys, alive)
    assert keys.tolist() == [0, (1 << 63) - 1, 0, -(1 << 63), 0]
    assert alive.tolist() == [0, 1, 0, 1, 0]


@BOTH
@given(st.lists(st.sampled_from([0.0, 0.2, 0.209, 0.21, 0.22, 0.8]), min_size=8, max_size=8))
def test_scores_settle(module, values):
    score, sent = np.array(values).reshape(2, 4).copy()
    rows = np.array([3, 0, 2])
    moved = np.abs(score - sent) > 0.05 * np.maximum(score, sent)
    expected = sent.copy()
    expected[rows[moved[rows]]] = score[rows[moved[rows]]]
    assert module.settle(rows, score, sent, 0.05) == rows[moved[rows]].tolist()
    assert sent.tolist() == expected.tolist()


@BOTH
def test_what_the_graph_says_of_new_links(module):
    osm = np.array([[0.1, 0.6], [0.0, 0.0], [0.9, 0.3]])
    records = np.zeros(3, np.dtype([("number", np.int64), ("x", np.int8), ("distance", np.int8)]))
    records["number"], records["distance"] = [7, -1, 9], [2, 0, 3]
    success = np.array([0.25, 0.5, 0.75])
    found, nodes = np.zeros((5, 6), np.float32), np.empty(9, np.int64)
    module.graph_evidence(
        [0, 2, 4, 6, 8],
        [0, 3, 4],
        osm,
        records["number"],
        records["distance"],
        success,
        found,
        nodes,
    )
    nearness = np.array([0.6 / 2, 0, 0, 0.0, 0.9 / 3], np.float32)
    assert found[:, 4].tolist() == nearness.tolist()
    assert found[:, 5].tolist() == [0.25, 0, 0, 0, 0.75]
    assert not found[:, :4].any()
    assert nodes.tolist() == [7, -1, -1, -1, -1, -1, -1, -1, 9]


TERMS = st.lists(st.sampled_from([-1, 0, 1, WORDS - 1, WORDS, WORDS + 5, NEW]), max_size=30)


@BOTH
@settings(deadline=None)
@given(TERMS, st.integers(0, 10_000), st.integers(1, 3))
def test_the_model_that_likes_a_span_most_speaks(module, terms, seed, models):
    random = np.random.default_rng(seed)
    spans = random.integers(0, len(terms) + 1, (5, 10)).astype(np.int32)
    spans = np.sort(spans.reshape(5, 5, 2), axis=2).reshape(5, 10)
    tables = []
    for _ in range(models):
        table = random.random((WORDS + 2, 2))
        table[-2, 0] = 0.0
        table[-1] = 0.0
        tables.append((table, 8.0 * random.random(), random.random()))
    found = np.empty((5, 6), np.float32)
    module.span_evidence(np.array(terms, np.int32), spans, tables, found)
    for link in range(5):
        for text in range(4):
            start, stop = spans[link, 2 * text + 2 : 2 * text + 4]
            best = -1.5
            for table, slope, centre in tables:
                parts = [table[min(term, WORDS)] for term in terms[start:stop] if term >= 0]
                gain, square = sum(p[0] for p in parts), sum(p[1] for p in parts)
                score = gain / math.sqrt(square) if square > 1e-12 else 0.0
                best = max(best, min(max(slope * (score - centre) / 4, -1.5), 1.5))
            assert found[link, text] == pytest.approx(best, abs=1e-5)


@BOTH
@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 10_000))
def test_a_page_is_one_witness_however_often_it_links(module, rows, seed):
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 9, (5, WIDTH)).astype(np.int32)
    numbers = random.random((5, 10)).astype(np.float32)
    numbers[:, 0] = random.integers(0, 20, 5)
    editions = np.full(5, 3, np.int32)
    stands = random.integers(10, 99, (len(rows), 3)).astype(np.int32)
    boilerplate = random.integers(0, 2, len(rows)).astype(np.uint8)
    values = random.random((len(rows), 6)).astype(np.float32)
    before = kinds.copy(), numbers.copy()
    columns = kinds, numbers, None, None, editions, None
    once = module.hear(np.array(rows, np.int64), stands, boilerplate, values, 0.5, columns)
    assert once == list(dict.fromkeys(rows))
    for row in range(5):
        expected_kinds, expected = before[0][row], before[1][row]
        links = [at for at, own in enumerate(rows) if own == row]
        if links:
            slot = 5 + int(expected[0]) % 8
            expected_kinds[[slot, slot + 8, slot + 16]] = stands[links[-1]]
            expected[0] += 1
            expected[1] = min(expected[1], 0.5)
            expected[2] += values[links[0], 0]
            expected[3] += boilerplate[links[0]]
            expected[4:] = np.maximum(expected[4:], values[links].max(axis=0))
        assert kinds[row].tolist() == expected_kinds.tolist()
        assert numbers[row].tolist() == pytest.approx(expected.tolist())
        assert editions[row] == (module.NEVER if links else 3)


def added(held, terms):
    """Return what a row holds after some *terms* came."""
    for term in terms:
        if term >= 0 and term not in held and -1 in held:
            held[held.index(-1)] = term
    return held


@BOTH
@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(-1, 9), max_size=9)), max_size=9))
def test_words_are_added_once_while_there_is_room(module, texts):
    rows, lists = [row for row, _ in texts], [terms for _, terms in texts]
    expected = [[-1] * 4, [1, 2, -1, -1], [5, 6, 7, 8]]
    held = np.array(expected, np.int32)
    from_spans = held.copy()
    for row, terms in texts:
        added(expected[row], terms)
    module.add_terms(rows, lists, held)
    assert held.tolist() == expected
    stops = np.cumsum([0, *map(len, lists)])
    spans = np.stack([stops[:-1], stops[1:]], axis=1).astype(np.int32)
    joined = np.array([term for terms in lists for term in terms], np.int32)
    module.add_anchors(np.array(rows, np.int64), spans, joined, from_spans)
    assert from_spans.tolist() == expected
