"""Small webs for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from treasure.extract import read_page
from treasure.pages import Page, Verdict
from treasure.strategies.base import Arrival
from treasure.topics import Topic

BIRDS = Topic("Birds", numbers=("598",))
HOST = "http://web.example/"
WORDS = "eagle hawk river castle engine planet violin harvest tiger granite".split()


def url(name: object) -> str:
    return f"{HOST}{name}"


def html(paragraphs: Sequence[tuple[str, Sequence[object]]], title: str = "A page") -> str:
    """Return a page of paragraphs, each with a text and links."""
    body = "".join(
        f"<p>{text} " + " ".join(f'<a href="{url(to)}">to {to}</a>' for to in links) + "</p>"
        for text, links in paragraphs
    )
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def page(name: object, *paragraphs: tuple[str, Sequence[object]], title: str = "A page") -> Page:
    return read_page(url(name), html(paragraphs, title))


Web = dict[str, Page]


def web_of(links: Mapping[object, Sequence[Sequence[object]]]) -> Web:
    """Return pages with a paragraph of words for each group of links."""
    pages = {}
    for number, (name, groups) in enumerate(links.items()):
        paragraphs = [
            (f"{WORDS[(number + i) % len(WORDS)]} {WORDS[(3 * number + i) % len(WORDS)]}", group)
            for i, group in enumerate(groups)
        ]
        pages[url(name)] = page(name, *paragraphs)
    return pages


def arrival(page: Page, relevance: float) -> Arrival:
    return Arrival(page.url, page, Verdict(relevance, relevance >= 0.5))


@st.composite
def random_links(draw: st.DrawFn) -> tuple[dict[str, list[list[str]]], set[str]]:
    """Draw a web as links by paragraph, cycles and self-links included, and its targets."""
    names = [f"p{i}" for i in range(draw(st.integers(1, 12)))]
    to = st.sampled_from([*names, "missing"])
    paragraphs = st.lists(st.lists(to, min_size=1, max_size=4), max_size=4)
    links = {name: draw(paragraphs) for name in names}
    targets = draw(st.sets(st.sampled_from(names), min_size=1, max_size=3))
    return links, targets
