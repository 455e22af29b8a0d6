from __future__ import annotations

from functools import cache

import pytest

from treasure.ddc.galaxy import PlainGalaxy
from treasure.ddc.lexicon import Lexicon
from treasure.extract import read_page
from treasure.pages import Page, Span
from treasure.text import VOCABULARY
from treasure.tgraph.boundary import PARAGRAPH, GalaxyBoundary
from treasure.tgraph.components import DC, places


@cache
def boundary() -> GalaxyBoundary:
    return GalaxyBoundary(PlainGalaxy(Lexicon.load()))


def read(html: str) -> Page:
    return read_page("http://web.example/", html)


def around_first_link(page: Page) -> tuple[Span, Span]:
    """Return the paragraph of the first link, and the break points found around it."""
    link = page.links[0]
    block = page.blocks[link.block]
    return block.whole, boundary().around(page, block.whole, [link.anchor]).span


STARS = "<p>Planets and stars of the galaxy: <a href='/x'>astronomy of planets</a>.</p>"


def test_break_points_move_out_while_the_galaxy_is_dense() -> None:
    page = read(f"<h2>Sky</h2><p>Comets and planets.</p>{STARS}<p>Stars and telescopes.</p>")
    before, wide = around_first_link(page)
    assert wide.start < before.start
    assert wide.stop > before.stop


def test_break_points_never_cross_a_heading() -> None:
    page = read(f"<p>Comets.</p><h2>Sky</h2>{STARS}<h2>Music</h2><p>Planets.</p>")
    before, wide = around_first_link(page)
    assert wide == before


def test_break_points_stay_where_the_anchor_is_about_something_else() -> None:
    text = "Violins, operas and symphonies; orchestras, sonatas and concertos; see"
    page = read(f"<p>Comets.</p><p>{text} <a href='/x'>comet</a>.</p><p>Planets.</p>")
    before, wide = around_first_link(page)
    assert wide == before


def test_break_points_do_not_move_to_another_topic() -> None:
    page = read(f"{STARS}<p>Violins, operas, symphonies and sonatas of orchestras.</p>")
    before, wide = around_first_link(page)
    assert wide == before


def test_outliers_are_cut() -> None:
    page = read(
        "<p>Comets, planets, stars, galaxies and telescopes of astronomy, once seen near a violin:"
        " <a href='/x'>planets</a></p>"
    )
    link = page.links[0]
    kept = {
        VOCABULARY.stem(t)
        for t in boundary().terms(page, page.blocks[link.block].whole, [link.anchor]).tolist()
        if t >= 0
    }
    assert "planet" in kept
    assert "violin" not in kept


def test_a_text_without_known_words_keeps_all() -> None:
    page = read("<p>Xyzzy plugh <a href='/x'>qwertz</a></p>")
    link = page.links[0]
    span = page.blocks[link.block].whole
    kept = boundary().terms(page, span, [link.anchor])
    assert kept.tolist() == page.terms[span.start : span.stop].tolist()


@pytest.mark.parametrize("html", ["<a href='/x'></a>", "<p><a href='/x'>the</a></p>"])
def test_next_to_no_words(html: str) -> None:
    page = read(html)
    (place,) = places(page, page.links, boundary())
    assert place.components.stems()[DC] == {}


def test_links_of_one_list_have_boundaries_of_their_own() -> None:
    page = read("<ul><li><a href='/x'>planets</a><li><a href='/y'>violins</a></ul>")
    assert len(places(page, page.links, boundary())) == 2
    assert len(places(page, page.links, PARAGRAPH)) == 1
