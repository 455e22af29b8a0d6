"""Builds a graph: from pages with targets marked, or backwards from the targets.

All ways end in the same step: the paragraphs of the pages at hand get their level from the links
between them (levels.py). They differ in which pages are read:

- ``top_down``: all pages of a data set (a web, a WARC, a folder).
- ``bottom_up``: only pages that lead to a target, found through back-links we hold.
- ``around``: what a bounded walk around example pages meets, on the live web or a virtual one.

From nothing is the fourth way; the watchdog does that during a crawl.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from treasure.errors import GraphError, UnreadablePageError
from treasure.pages import Link, Page
from treasure.tgraph.boundary import PARAGRAPH, Boundary
from treasure.tgraph.components import Places, by_place, places
from treasure.tgraph.graph import LEVELS, THRESHOLD, TGraph
from treasure.tgraph.levels import Spot, page_distances, paragraph_levels
from treasure.tgraph.nodes import Node
from treasure.topics import Topic
from treasure.urls import canonical

Fetch = Callable[[str], Page | None]
Progress = Callable[[str, int], None]
"""Told what is done and how much of it."""

MAX_NODES = 20_000
MAX_PAGES = 200
"""Pages that ``around`` fetches, unless told otherwise."""


@dataclass(frozen=True)
class Plan:
    """What kind of graph is wanted."""

    topic: Topic
    levels: int = LEVELS
    threshold: float = THRESHOLD
    max_nodes: int = MAX_NODES
    navigation: bool = False
    """Whether menus, headers and footers give nodes; they say little of what they lead to."""
    boundary: Boundary = PARAGRAPH
    random_seed: int = 0
    progress: Progress = lambda _what, _count: None


@dataclass(frozen=True)
class Built:
    """A graph and how it came about."""

    graph: TGraph
    pages: int
    """Pages read."""
    unreadable: int
    targets: int
    """Targets given."""
    linked: int
    """Targets that some paragraph read links to."""
    left_out: int
    """Paragraphs beyond the size wanted."""
    notes: tuple[str, ...] = ()


@dataclass
class Sample:
    """Pages read for a graph: what links to what, by paragraph."""

    fetch: Fetch
    navigation: bool = False
    boundary: Boundary = PARAGRAPH
    links: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    """Addresses that redirect, and where to."""
    unreadable: int = 0
    menus: set[str] = field(default_factory=set)
    """Destinations of navigation that was left out."""

    def read(self, url: str) -> Page | None:
        """Read a page and note its links; None when there is none."""
        try:
            page = self.fetch(url)
        except UnreadablePageError:
            page = None
        if page is None:
            self.unreadable += 1
            return None
        here = canonical(page.url) or page.url
        if here != url:
            self.moved[url] = here
        if here not in self.links:
            links = self._counted(page)
            groups = by_place(page, links)
            if self.boundary.per_link:
                groups = [[at] for group in groups for at in group]
            self.links[here] = [
                tuple(dict.fromkeys(canonical(links[at].url) for at in group)) for group in groups
            ]
        return page

    def places(self, page: Page) -> Places:
        """Return the paragraphs that may become nodes, always in the same order."""
        return places(page, self._counted(page), self.boundary)

    def _counted(self, page: Page) -> list[Link]:
        """Return the links that count; those of menus are only noted."""
        links = []
        for link in page.links:
            if self.navigation or not page.blocks[link.block].boilerplate:
                links.append(link)
            else:
                self.menus.add(canonical(link.url))
        return links

    def settled(self) -> dict[str, list[list[str]]]:
        """Return the links with redirects followed."""
        return {
            page: [[self.moved.get(url, url) for url in place] for place in paragraphs]
            for page, paragraphs in self.links.items()
        }


def top_down(plan: Plan, urls: Iterable[str], fetch: Fetch, targets: Collection[str]) -> Built:
    """Build from a data set of pages with *targets* among them."""
    wanted = _targets(targets)
    sample = _sample(plan, fetch)
    for count, url in enumerate(urls, 1):
        sample.read(canonical(url) or url)
        plan.progress("pages read", count)
    return assemble(plan, sample, wanted)


def bottom_up(
    plan: Plan,
    targets: Collection[str],
    referrers: Callable[[str], Iterable[str]],
    fetch: Fetch,
    *,
    max_pages: int = MAX_PAGES,
) -> Built:
    """Build backwards: who links to the targets, who links to those; *max_pages* a level."""
    wanted = _targets(targets)
    sample = _sample(plan, fetch)
    dice = random.Random(plan.random_seed)
    count, seen = 0, set(wanted)
    frontier = sorted(wanted)
    for _ in range(plan.levels):
        before = sorted({canonical(url) for page in frontier for url in referrers(page)} - {""})
        frontier = [url for url in before if url not in seen]
        if len(frontier) > max_pages:
            frontier = dice.sample(frontier, max_pages)
        seen.update(frontier)
        # Targets link to targets too: they are read as referrers where they are some.
        for url in [*frontier, *(url for url in before if url in wanted)]:
            if url not in sample.links:
                sample.read(url)
                count += 1
                plan.progress("pages read", count)
    return assemble(plan, sample, wanted)


def around(
    plan: Plan, examples: Collection[str], fetch: Fetch, *, max_pages: int = MAX_PAGES
) -> Built:
    """Build from a bounded walk around *examples*: what lies above them, then what they link to."""
    wanted = _targets(examples)
    kept: dict[str, Page | None] = {}

    def fetch_once(url: str) -> Page | None:
        if url not in kept:
            kept[url] = fetch(url)
        return kept[url]

    sample = _sample(plan, fetch_once)
    found = [url for url in sorted(wanted) if sample.read(url) is not None]
    if not found:
        raise GraphError(
            f"None of the {len(wanted)} example pages could be fetched (the first was"
            f" {min(wanted)}). Check the addresses, robots.txt and the network."
        )
    queue = deque(dict.fromkeys(above for url in found for above in _above(url)))
    queue.extend(url for page in found for url in _spread(sample, sample.moved.get(page, page)))
    seen = set(wanted)
    while queue and len(kept) < max_pages:
        url = queue.popleft()
        if url in seen:
            continue
        seen.add(url)
        page = sample.read(url)
        plan.progress("pages read", len(kept))
        if page is not None:
            queue.extend(_spread(sample, sample.moved.get(url, url)))
    return assemble(plan, sample, wanted)


def assemble(plan: Plan, sample: Sample, targets: Collection[str]) -> Built:
    """Make nodes of the sample's paragraphs from which a target can be reached."""
    links = sample.settled()
    wanted = {sample.moved.get(url, url) for url in targets}
    levels = paragraph_levels(links, wanted, plan.levels)
    if not levels:
        raise GraphError(_why_nothing(plan, sample, wanted))
    distances = page_distances(links, wanted, plan.levels)
    graph = TGraph.empty(plan.topic, plan.levels, threshold=plan.threshold, boundary=plan.boundary)
    chosen = _chosen(levels, links, plan)
    silent = 0
    for count, (url, indices) in enumerate(_by_page(chosen), 1):
        page = sample.fetch(url)
        spots = sample.places(page) if page is not None else []
        for index in indices:
            if index >= len(spots) or not len(spots[index].components.keys):
                silent += 1
                continue
            level = levels[url, index]
            nearer = [u for u in _at(links, (url, index)) if distances.get(u) == level - 1]
            graph.add(Node(url, level, spots[index].components, tuple(nearer)))
        plan.progress("pages turned into nodes", count)
    if not len(graph):
        raise GraphError("Links lead to the targets, but no paragraph with them has any words.")
    graph.refresh()
    linked = {url for page in links for place in links[page] for url in place if url != page}
    notes = [f"{silent} paragraphs without words were left out."] if silent else []
    if len(levels) > len(chosen):
        notes.append(f"{len(levels) - len(chosen)} paragraphs beyond {plan.max_nodes} left out.")
    unlinked = len(wanted - linked)
    if unlinked:
        notes.append(f"Nothing read links to {unlinked} of the {len(wanted)} targets.")
    return Built(
        graph=graph,
        pages=len(sample.links),
        unreadable=sample.unreadable,
        targets=len(wanted),
        linked=len(wanted & linked),
        left_out=len(levels) - len(chosen),
        notes=tuple(notes),
    )


def _sample(plan: Plan, fetch: Fetch) -> Sample:
    return Sample(fetch, plan.navigation, plan.boundary)


def _targets(targets: Collection[str]) -> set[str]:
    wanted = {canonical(url) for url in targets} - {""}
    if not wanted:
        given = f" None of the {len(targets)} given is an HTTP address." if targets else ""
        raise GraphError(f"A T-Graph needs targets: pages on topic.{given} Give some example URLs.")
    return wanted


def _chosen(
    levels: Mapping[Spot, int], links: Mapping[str, Sequence[Sequence[str]]], plan: Plan
) -> list[Spot]:
    """Return at most max_nodes paragraphs, the same number of every level where there are.

    Beyond level 1 only paragraphs that lead to a chosen one count, so that every way is whole.
    """
    dice = random.Random(plan.random_seed)
    chosen: list[Spot] = []
    reached: set[str] | None = None
    for level in range(1, plan.levels + 1):
        here = [
            spot
            for spot, found in levels.items()
            if found == level and (reached is None or reached.intersection(_at(links, spot)))
        ]
        room = (plan.max_nodes - len(chosen)) // (plan.levels + 1 - level)
        taken = here if len(here) <= room else dice.sample(here, room)
        reached = {url for url, _ in taken}
        chosen += taken
    return chosen


def _at(links: Mapping[str, Sequence[Sequence[str]]], spot: Spot) -> list[str]:
    """Return where the paragraph leads, other than to its own page."""
    url, index = spot
    return [destination for destination in links[url][index] if destination != url]


def _by_page(spots: Sequence[Spot]) -> Iterator[tuple[str, list[int]]]:
    pages: dict[str, list[int]] = {}
    for url, index in spots:
        pages.setdefault(url, []).append(index)
    return iter(pages.items())


def _above(url: str) -> list[str]:
    """Return the directories above *url*, nearest first, up to the home page of its host."""
    parts = urlsplit(url)
    steps = [step for step in parts.path.split("/") if step]
    origin = f"{parts.scheme}://{parts.netloc}/"
    paths = ["/".join(steps[:depth]) + "/" for depth in range(len(steps) - 1, 0, -1)]
    return [origin + path for path in paths] + [origin]


def _spread(sample: Sample, url: str) -> list[str]:
    return [link for place in sample.links.get(url, ()) for link in place]


def _why_nothing(plan: Plan, sample: Sample, targets: Collection[str]) -> str:
    read, found = len(sample.links), sum(url in sample.links for url in targets)
    head = f"Nothing in the {read} pages read links to the {len(targets)} targets"
    if read == 0:
        return f"None of the {sample.unreadable} pages could be read, so there is no T-Graph."
    if not plan.navigation and sample.menus & set(targets):
        return f"{head} but menus; --navigation makes nodes of menus too."
    if read == 1:
        return f"{head}: a T-Graph needs pages that lead there. Give more than one page."
    return (
        f"{head} ({found} of them were among the pages). Give pages that lead there, or leave"
        " TREASURE_TGRAPH empty and let the crawl grow a graph."
    )
