"""HTML that would keep a parser busy for minutes, and HTML that only looks like it.

What hurts has to end within the seconds of a test, and with bounded memory: before, each of these
pages took minutes or all memory.
"""

import pytest

from treasure.extract import read_page
from treasure.parsable import (
    LARGE,
    MAX_ATTRIBUTES,
    MAX_NESTING,
    MAX_OPTIONS,
    MAX_SEARCHES,
    parsable,
)

FILLER = "<p>word</p>" * (LARGE // 10)
FONTS = "".join(f"<font size={number}>" for number in range(1_900))


def words_of(html):
    return set(read_page("http://host.test/", html).words)


def test_deep_nesting_is_cut_not_suffered():
    assert words_of("<p>top</p>" + "<div>" * 100_000 + "deep" + "</div>" * 100_000) == {"top"}
    assert words_of("<p>top</p>" + "<div>" * (MAX_NESTING - 1) + "deep") == {"top", "deep"}


def test_end_tags_of_other_names_do_not_hide_the_depth():
    assert words_of("<p>top</p>" + "<x></y>" * 600_000 + "deep") == {"top"}


def test_end_tags_that_close_nothing_are_not_looked_for_again_and_again():
    vain = MAX_SEARCHES // 100 + 2
    assert words_of("<p>top</p>" + "<x>" * 100 + "</y>" * vain + "deep") == {"top", "deep"}


def test_formatting_that_nobody_ends_does_not_multiply():
    page = f"<p>top</p><div>{FONTS}</div>" + "<div>x</div>" * 100_000
    assert len(parsable(page)) < 2 * len(page)
    assert words_of(page) >= {"top"}
    page = "<div><b><i><u><b><i><u></div>" + "<p>x" * 500_000 + "<p>end"
    assert words_of(page) == {"x"}, "cut by the limit of nodes"


def test_unended_formatting_in_cells_is_read_to_the_end():
    cells = "".join(f"<tr><td><font size={n}>cell</td>" for n in range(5_000))
    assert words_of(f"<table>{cells}</table><p>end</p>") == {"cell", "end"}


def test_a_list_of_very_many_options_costs_nothing():
    options = "<option>star" * 350_000
    assert words_of(f"<p>top <select>{options}</select>tail</p><p>end") == {"top", "tail", "end"}
    few = f"<select>{'<option>star' * MAX_OPTIONS}</select>" + "<br>" * 3_000
    assert parsable(few) == few


@pytest.mark.parametrize("attribute", [" a{}", " a{}=b", '\na{}="b > <p>"', "/a{} = '>'", ' "a{}'])
def test_a_tag_of_very_many_attributes_is_left_out(attribute):
    monster = "<div" + "".join(attribute.format(n) for n in range(400_000)) + ">"
    assert words_of(f"<p>top</p>{monster}deep") == {"top", "deep"}
    assert len(parsable(f"<p>top</p>{monster}deep")) < 100
    assert parsable(monster[:-1]) == ""


def test_few_attributes_of_any_size_stay():
    path = "<path d='" + "M 1 2 > 3 " * 20_000 + "'>"
    classes = '<div class="' + "a " * 50_000 + '" ' + "x " * (MAX_ATTRIBUTES - 5) + ">"
    html = FILLER + path + classes + "<p>end</p>"
    assert parsable(html) == html


def test_scripts_end_where_they_end():
    code = "for(i=0;i<n;){" + "i ++ ; " * 20_000
    assert words_of(f"{FILLER}<script>{code}</script><p>end</p>") == {"word", "end"}


def test_names_of_any_size_are_not_kept_with_every_link():
    links = "".join(f"<a href={number}>star</a>" for number in range(1_000))
    name = "x" * 1_000_000
    for begin in (f"<{name}>", f"<div id={name}>", f"<div class={name}>"):
        page = read_page("http://host.test/", f"{begin}<p>top</p>{links}")
        assert set(page.words) == {"top", "star"}
        assert len(page.links) == 1_000
        assert max(len(link.tag_path) for link in page.links) < 10_000


@pytest.mark.parametrize(
    "html", ["<" * 500_000, "</" * 500_000, "<a" * 500_000, "\x00<b>" * 50_000]
)
def test_rubbish_is_rubbish(html):
    read_page("http://host.test/", html)
