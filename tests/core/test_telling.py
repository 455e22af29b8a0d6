"""What a page tells, compiled and uncompiled."""

from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.core.tables import block_table
from treasure.pages import Block, Link, Span

MODULES = both("telling")
SPANS = st.tuples(st.integers(0, 50), st.integers(0, 9)).map(lambda s: Span(s[0], s[0] + s[1]))
BLOCKS = st.lists(
    st.builds(lambda span, menu: Block("paragraph", span, -1, menu, span), SPANS, st.booleans()),
    min_size=1,
    max_size=8,
)


@given(BLOCKS, st.lists(st.tuples(SPANS, st.integers(0, 7)), max_size=12), st.integers(0, 20))
def test_lists_of_links_are_left_out_where_enough_is_told_without_them(blocks, anchors, least):
    links = [Link("u", span, "", at % len(blocks), "", False, 0) for span, at in anchors]
    linked = [sum(len(range(*a)) for _, a, _, at, *_ in links if at == i) for i in range(8)]
    main = [block.span for block in blocks if not block.boilerplate]
    kept = [
        block.span
        for block, words in zip(blocks, linked, strict=False)
        if not block.boilerplate and words < 0.9 * len(range(*block.span))
    ]
    enough = sum(len(range(*span)) for span in kept) >= least
    table = block_table(blocks)
    for telling in MODULES:
        assert telling.told(table, links, 0.9, least) == (kept if enough else main)
        assert telling.own_words(table) == sum(len(range(*span)) for span in main)
