import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tgraph.webs import WORDS
from treasure.extract import read_page
from treasure.text import VOCABULARY
from treasure.tgraph.components import DC, ISH, MH, SH, Components, cosine, places

MESSY = """
<title>Birds of Europe - Site</title>
<nav><a href="/about">About us</a></nav>
<h1>Birds of Europe</h1>
<h2>Raptors</h2><h4>Eagles</h4>
<p>Golden eagles nest on <a href="/cliffs">cliffs</a> and in <a href="/trees">trees</a>.</p>
<div role="heading" aria-level="2">Owls</div>
<ul><li><a href="/barn">barn owl</a></li><li>the rare <a href="/snowy">snowy owl</a></li></ul>
"""


def stems(text: str) -> set[str]:
    return {VOCABULARY.stem(t) for t in VOCABULARY.ids(text.split()).tolist() if t >= 0}


def test_components_follow_the_headings_of_a_messy_page() -> None:
    page = read_page("http://web.example/", MESSY)
    about, eagles, owls = places(page, page.links)
    assert about.block.boilerplate
    assert not eagles.block.boilerplate
    ish, sh, mh, dc = eagles.components.stems()
    assert set(ish) == stems("eagles")
    assert set(sh) == stems("raptors")
    assert set(mh) == stems("birds europe")
    assert dc["eagl"] == 1
    assert "nest" in dc
    assert [link.anchor_text for link in eagles.links] == ["cliffs", "trees"]
    ish, sh, _, dc = owls.components.stems()
    assert set(ish) == stems("owls")
    assert sh == {}
    assert dc["owl"] == 2, "the whole list is one place"
    assert len(owls.links) == 2


def test_title_stands_in_for_a_missing_main_heading() -> None:
    page = read_page("http://web.example/", '<title>Planets</title><p>See <a href="/x">it</a>')
    assert places(page, page.links)[0].components.stems()[MH] == {"planet": 1}


def test_a_page_without_words_gives_places_without_words() -> None:
    page = read_page("http://web.example/", '<a href="/x"><img src="y.png"></a>')
    (place,) = places(page, page.links)
    assert len(place.components.keys) == 0
    assert place.components.mask == 0


texts = st.lists(st.sampled_from(WORDS), max_size=12)


@given(texts, texts, texts, texts)
def test_stems_and_back_is_the_same(
    ish: list[str], sh: list[str], mh: list[str], dc: list[str]
) -> None:
    components = Components.of_terms(*(VOCABULARY.ids(words) for words in (ish, sh, mh, dc)))
    again = Components.of_stems(components.stems())
    assert np.array_equal(components.keys, again.keys)
    assert np.array_equal(components.counts, again.counts)
    assert components.mask == sum(bool(w) << i for i, w in enumerate((ish, sh, mh, dc)))


@given(texts, texts)
def test_cosine_is_that_of_the_definition(one: list[str], other: list[str]) -> None:
    none = VOCABULARY.ids([])
    a = Components.of_terms(none, none, none, VOCABULARY.ids(one))
    b = Components.of_terms(none, none, none, VOCABULARY.ids(other))
    dot = sum(one.count(word) * other.count(word) for word in set(one))
    norms = sum(one.count(w) ** 2 for w in set(one)) * sum(other.count(w) ** 2 for w in set(other))
    expected = dot / norms**0.5 if norms else 0.0
    assert cosine(a, b, DC) == pytest.approx(expected)
    assert cosine(a, b, ISH) == cosine(a, b, SH) == 0


def test_a_list_whose_items_have_headings_is_not_counted_once_for_each():
    items = "".join(f"<li><h3>head {n}</h3><a href=p{n}>words of item {n}</a>" for n in range(300))
    page = read_page("http://host.test/", f"<h1>Main</h1><ul>{items}</ul>")
    found = places(page, page.links)
    assert len(found) == 300
    assert found.texts.keys.size < 300 * 10
