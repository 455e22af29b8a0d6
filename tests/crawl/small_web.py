"""A web of a few served sites that link to each other, for tests that kill and share crawls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.crawl.sites import Site

STARS = (
    "The telescope shows stars, planets and galaxies. Astronomers measure the orbit of a comet "
    "around the sun, and the light of a distant supernova in the constellation of Orion. "
)


@contextmanager
def served(sites: int, pages: int) -> Iterator[dict[str, Site]]:
    """Serve *sites* of *pages* each, every page within reach of ``/0``; give them by address."""
    with ExitStack() as stack:
        web = [stack.enter_context(Site({})) for _ in range(sites)]
        draw = random.Random(1)
        for number, site in enumerate(web):
            site.pages["/robots.txt"] = (404, {}, b"")
            neighbour = web[(number + 1) % sites]
            for name in range(pages):
                below = [f"/{n}" for n in (2 * name + 1, 2 * name + 2) if n < pages]
                across = f"{draw.choice(web).url}/{draw.randrange(pages)}"
                links = [*below, across, f"{neighbour.url}/0"]
                anchors = "".join(
                    f'<p>{STARS}<a href="{a}">stars and planets</a></p>' for a in links
                )
                site.pages[f"/{name}"] = (
                    f"<html><head><title>Stars {number} {name}</title></head><body>"
                    f"<h1>Stars {number} {name}</h1><p>{STARS * 3}</p>{anchors}"
                )
        yield {site.url: site for site in web}


def addresses(web: dict[str, Site]) -> set[str]:
    """Return the addresses of all pages."""
    return {url + path for url, site in web.items() for path in site.pages if path[1:].isdigit()}


def visits(web: dict[str, Site]) -> list[tuple[float, str]]:
    """Return time and address of every visit to a page, in order."""
    return sorted(
        (visit.time, url + visit.path)
        for url, site in web.items()
        for visit in list(site.visits)
        if visit.path[1:].isdigit()
    )
