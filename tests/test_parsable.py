"""HTML that would keep a parser busy for minutes, and HTML that only looks like it."""

import pytest

from treasure.extract import read_page
from treasure.parsable import LARGE, MAX_ATTRIBUTES, MAX_NESTING, MAX_SEARCHES, parsable

FILLER = "<p>word</p>" * (LARGE // 10)


def words_of(html):
    return set(read_page("http://host.test/", html).words)


def test_deep_nesting_is_cut_not_suffered():
    assert words_of("<p>top</p>" + "<div>" * 100_000 + "deep" + "</div>" * 100_000) == {"top"}
    assert words_of("<p>top</p>" + "<div>" * (MAX_NESTING - 1) + "deep") == {"top", "deep"}


def test_end_tags_of_other_names_do_not_hide_the_depth():
    assert words_of("<p>top</p>" + "<x></y>" * 600_000 + "deep") == {"top"}


def test_end_tags_that_close_nothing_are_looked_for_so_often_and_no_more():
    vain = MAX_SEARCHES // 1_000 + 2
    assert words_of("<p>top</p>" + "<x>" * 1_000 + "</y>" * vain + "deep") == {"top"}
    assert words_of("<p>top</p>" + "</y>" * vain + "more") == {"top", "more"}


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
