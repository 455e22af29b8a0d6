"""Texts as they are shown, compiled and uncompiled."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.both import both
from treasure.extract import read_page
from treasure.pages import Page

MODULES = both("written")
SPACES = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
TEXTS = st.lists(
    st.one_of(st.sampled_from([*SPACES, "\x01", "word", "é", "\u200b", "日"]), st.text(max_size=3))
).map("".join)
HTML = (
    "<nav><a href=m>menu</a></nav><h1>Head</h1><p>one<a href=x>\u2003two</a><p>&nbsp;<p>"
    "<ul><li>x <a href=a>one</a> y z<li><a href=e></a></ul><p>" + "wörd " * 20 + "<a href=b>b"
)


@given(TEXTS | st.text(alphabet="a  \t\n\u3000\x85") | st.text())
@example("one  two")
@example(" one")
@example("one ")
@example("one\xa0two")
def test_one_space_stands_between_words_and_no_mark(text):
    data = text.encode("utf-8", "replace")
    simple = " ".join(data.decode().replace("\x01", "").split())
    for written in MODULES:
        assert written.shown(b"x " + data + b" y", 1, len(data) + 3) == simple


@given(st.binary(max_size=40))
def test_no_bytes_lead_beyond_the_end(data):
    shown = [written.shown(data, 0, len(data)) for written in MODULES]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("width", [0, 2, 12])
def test_contexts_are_those_of_one_link_each(width):
    page = read_page("http://host.test/", HTML)
    simple = [page.text(page.context(link, width)) for link in page.links]
    for written in MODULES:
        assert written.contexts(*page._cut, page.block_table, page.links, width) == simple
    assert page.contexts(page.links, width) == simple
    assert read_page("http://host.test/", "<a href=x></a>").contexts(page.links[:1]) == [""]


def test_a_block_that_is_not_there_is_no_memory_to_read():
    page = read_page("http://host.test/", HTML)
    for written in MODULES:
        with pytest.raises(IndexError):
            written.contexts(*page._cut, page.block_table[:1], page.links, 3)


def test_main_text_is_that_of_the_blocks_one_by_one():
    page = read_page("http://host.test/", HTML)
    assert page.block_texts[2] == "one two"
    given = {name: getattr(page, name) for name in Page.__dataclass_fields__}
    simple = Page(**{**given, "blocks": list(page.blocks), "block_texts": list(page.block_texts)})
    assert page.main_text == simple.main_text
    assert page.main_text.startswith("Head\none two\nx one y z\nwörd")
    assert np.array_equal(page.block_table, simple.block_table)
