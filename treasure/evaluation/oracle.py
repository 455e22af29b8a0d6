"""The oracle: how many targets could have been found, had one known where they are.

It fetches a target whenever it knows a link to one, in order of arrival, and otherwise walks a
shortest way to the nearest target, counted in pages. No crawler that starts from the same seeds can
be expected to do better; its hits after n pages are what ours are measured against. Pages that were
given as examples are at hand: their links count as found as soon as a link to them is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from treasure.evaluation.parsed_web import ParsedWeb
from treasure.urls import canonical

Graph = Mapping[str, Sequence[str]]
"""Where the links of each page lead; redirects are resolved, dead links left out."""


def link_graph(web: ParsedWeb) -> dict[str, list[str]]:
    """Return the link graph of *web*, read once."""
    redirects: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    for url in web.web.urls():
        answer = web.answer(url)
        if answer.location:
            redirects[canonical(url)] = answer.location
        elif answer.page is not None:
            links[answer.page.url] = [link.url for link in answer.page.links]

    known = {canonical(url): url for url in links}

    def landing(url: str) -> str:
        for _ in range(6):
            if url in known:
                return known[url]
            url = redirects.get(url, "")
        return ""

    graph: dict[str, list[str]] = {}
    for url, found in links.items():
        landed = dict.fromkeys(landing(link) for link in found)
        landed.pop("", None)
        graph[url] = list(landed)
    return graph


def landings(web: ParsedWeb, seeds: Iterable[str]) -> list[str]:
    """Return the pages that *seeds* lead to, redirects followed."""
    return [page.url for seed in seeds if (page := web.page(seed)) is not None]


def oracle_hits(
    graph: Graph,
    seeds: Iterable[str],
    targets: frozenset[str],
    budget: int,
    given: frozenset[str] = frozenset(),
) -> list[int]:
    """Return the number of targets found after 1, 2, ... *budget* pages."""
    walk = _Walk(graph, targets, given)
    for seed in seeds:
        if seed in graph and len(walk.hits) < budget:
            walk.fetch(seed)
    while len(walk.hits) < budget:
        target = walk.known_target()
        way = [target] if target else walk.shortest_way()
        if not way:
            break
        for url in way:
            walk.fetch(url)
    hits = walk.hits[:budget]
    last = hits[-1] if hits else 0
    return hits + [last] * (budget - len(hits))


class _Walk:
    def __init__(self, graph: Graph, targets: frozenset[str], given: frozenset[str]) -> None:
        self.graph = graph
        self.targets = targets
        self.given = given
        self.fetched: set[str] = set()
        self.known: dict[str, None] = {}
        self.waiting: deque[str] = deque()
        self.hits: list[int] = []

    def fetch(self, url: str) -> None:
        """Fetch *url* and take its links in."""
        if url in self.fetched:
            return
        self.fetched.add(url)
        if url not in self.given:
            self.hits.append((self.hits[-1] if self.hits else 0) + (url in self.targets))
        for link in self.graph[url]:
            if link not in self.known and link not in self.fetched:
                self.known[link] = None
                if link in self.given:
                    self.fetch(link)
                elif link in self.targets:
                    self.waiting.append(link)

    def known_target(self) -> str:
        """Return a target that some fetched page links to."""
        while self.waiting:
            url = self.waiting.popleft()
            if url not in self.fetched:
                return url
        return ""

    def shortest_way(self) -> list[str]:
        """Return the pages to fetch in order to hold the nearest target, which comes last."""
        came: dict[str, str] = {url: "" for url in self.known if url not in self.fetched}
        queue = deque(came)
        while queue:
            url = queue.popleft()
            if url in self.targets:
                way = []
                while url:
                    way.append(url)
                    url = came[url]
                return way[::-1]
            for link in self.graph[url]:
                if link not in came and link not in self.fetched:
                    came[link] = url
                    queue.append(link)
        return []
