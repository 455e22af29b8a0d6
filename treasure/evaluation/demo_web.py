"""The demo web: about 3,000 pages on 41 hosts, 12 topics, and what makes focused crawling hard.

Each topic has a site in the open and an *island*: a site that only off-topic pages link to, two
or three of them in a row. Encyclopedia, news, blogs and forum hold pages of all topics; other
sites only sound like one. There are link farms, a calendar that goes on for thirty years,
redirects, errors, broken HTML and three more languages. Hosts end in ``.example``, which no
network resolves. The web is drawn from ``SEED`` and is the same, byte by byte, at every run.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from treasure.evaluation.archived import Response
from treasure.evaluation.demo_sentences import Subject, read_languages, read_subjects, titles
from treasure.evaluation.demo_site import BROKEN, LAYOUTS, Anchor, DemoPage, render
from treasure.evaluation.virtual_web import WebTopic
from treasure.evaluation.web_writer import TOPICS, WEB, write_web

SEED = 1
OPEN_PAGES, ISLAND_PAGES = 58, 44
OTHER_PAGES, FOREIGN_PAGES = 44, 16
ENCYCLOPEDIA_PAGES, NEWS_PAGES, BLOG_PAGES, FORUM_PAGES, SHOP_PAGES = 6, 8, 9, 4, 3
"""Pages a subject has on each of the sites that hold all subjects."""
LISTED = 12
"""Pages that an index shows before it goes on to the next."""
FARM_PAGES = 48
CALENDAR_YEARS = range(1996, 2026)
BROKEN_SHARE, DEAD_LINK_SHARE, ERROR_SHARE = 0.04, 0.06, 0.03

DIRECTORY, ENCYCLOPEDIA = "http://directory.example", "https://encyclopedia.example"
NEWS, BLOGS, FORUM = "http://news.example", "http://blogs.example", "http://forum.example"
FARMS = ("http://best-links.example", "http://top-sites.example")
SEEDS = (DIRECTORY + "/", "http://www.townhall.example/", "http://www.twosuitcases.example/")
EVENTS = "/events/"
_HTML = "text/html"


@dataclass
class Site:
    """A host of the demo web."""

    base: str
    name: str
    layout: str
    pages: list[DemoPage] = field(default_factory=list)
    home: DemoPage = field(init=False)
    moved: set[str] = field(default_factory=set)
    """Pages that somebody still links to by their old address."""

    @property
    def articles(self) -> list[DemoPage]:
        """Its pages that are no index."""
        return [page for page in self.pages if not page.listed and page is not self.home]


class DemoWeb:
    """All pages of the demo web, linked."""

    def __init__(self, seed: int = SEED) -> None:
        self.seed = seed
        self.subjects = read_subjects()
        self.sites: dict[str, Site] = {}
        self._titles = {
            key: iter(titles(subject, self._random("titles", key)))
            for key, subject in self.subjects.items()
        }
        self._own_sites()
        self._shared_sites()
        self._directory()
        self._farms()
        self._calendar()
        self._link_sites()
        self._bridges()
        self._damage()

    # -- what comes out

    def topics(self) -> list[WebTopic]:
        """Return the labelled topics."""
        found = []
        for subject in self._topics:
            targets = [page.url for page in self.pages() if page.topic == subject.key]
            opening = self.sites[subject.hosts[0]]
            found.append(
                WebTopic(
                    name=subject.name.lower(),
                    ddc=subject.ddc,
                    description=subject.description,
                    seeds=SEEDS,
                    on_topic_seeds=tuple(page.url for page in opening.articles[:3]),
                    targets=frozenset(targets),
                )
            )
        return found

    def pages(self) -> Iterator[DemoPage]:
        """Return every page that answers 200."""
        for site in self.sites.values():
            yield from site.pages

    def responses(self) -> Iterator[Response]:
        """Return everything the hosts answer, host by host."""
        for site in self.sites.values():
            for page in site.pages:
                body = render(page, self._random("text", page.url))
                yield _response(page.url, body, f"{_HTML}; charset={page.encoding}")
            yield from _rest(site)

    # -- how it is planned

    def _random(self, *purpose: str) -> Random:
        return Random(f"{self.seed}:{':'.join(purpose)}")

    @property
    def _topics(self) -> list[Subject]:
        return [subject for subject in self.subjects.values() if subject.ddc]

    @property
    def _english(self) -> list[Subject]:
        """Subjects that sites of all subjects write about: the topics, and five others."""
        apart = {"town", "shop"}
        return [s for s in self.subjects.values() if s.language == "en" and s.key not in apart]

    def _site(self, base: str, name: str) -> Site:
        layout = LAYOUTS[len(self.sites) % len(LAYOUTS)]
        site = self.sites[base] = Site(base, name, layout)
        return site

    def _page(
        self, site: Site, path: str, title: str, subject: Subject, about: str, words: int
    ) -> DemoPage:
        page = DemoPage(site.base + path, title, subject, about, words, subject.topic, site.name)
        page.layout = site.layout
        if not site.pages:
            site.home = page
        site.pages.append(page)
        return page

    def _articles(self, site: Site, folder: str, subject: Subject, count: int) -> list[DemoPage]:
        """Add *count* pages about *subject*, each with a title of its own."""
        found = []
        for title, about in islice(self._titles[subject.key], count):
            words = self._random("words", site.base, title).randint(150, 400)
            path = f"{folder}{_slug(title)}.html"
            found.append(self._page(site, path, title, subject, about, words))
        return found

    def _index(self, site: Site, folder: str, title: str, listed: Sequence[DemoPage]) -> DemoPage:
        """Add the pages that list *listed*, LISTED at a time, each leading to the next."""
        subject = listed[0].subject
        chunks = [listed[start : start + LISTED] for start in range(0, len(listed), LISTED)]
        first: DemoPage | None = None
        before: DemoPage | None = None
        for number, chunk in enumerate(chunks, 1):
            path = folder if number == 1 else f"{folder}page-{number}.html"
            page = self._page(site, path, title, subject, subject.name.lower(), 60)
            page.listed = [article.anchor for article in chunk]
            if before is not None:
                following = read_languages()[subject.language].next
                before.listed.append(Anchor(page.url, following))
            first, before = first or page, page
        assert first is not None
        return first

    def _own_sites(self) -> None:
        for subject in self.subjects.values():
            open_pages = OPEN_PAGES if subject.ddc else OTHER_PAGES
            counts = (FOREIGN_PAGES,) if subject.language != "en" else (open_pages, ISLAND_PAGES)
            for host, count in zip(subject.hosts, counts, strict=False):
                self._own_site(subject, host, count)

    def _own_site(self, subject: Subject, host: str, count: int) -> None:
        site = self._site(host, f"{subject.name} at {urlsplit(host).hostname}")
        home = self._page(site, "/", subject.name, subject, subject.name.lower(), 150)
        nav = [Anchor(home.url, read_languages()[subject.language].home)]
        share = count // len(subject.sections)
        for section in subject.sections:
            articles = self._articles(site, f"/{section}/", subject, share)
            label = section.replace("-", " ").capitalize()
            index = self._index(site, f"/{section}/", f"{label}: {subject.name}", articles)
            nav.append(Anchor(index.url, label))
            home.listed.append(index.anchor)
        nav.append(Anchor(f"{host}/contact.html", read_languages()[subject.language].contact))
        for page in site.pages:
            page.nav = nav
            if subject.language == "de":
                page.encoding = "iso-8859-1"

    def _shared_sites(self) -> None:
        everything = self._english
        town = self.subjects["town"]
        encyclopedia = self._site(ENCYCLOPEDIA, "The Small Encyclopedia")
        self._page(encyclopedia, "/", "The Small Encyclopedia", town, "the encyclopedia", 60)
        news = self._site(NEWS, "The Daily Lantern")
        self._page(news, "/", "The Daily Lantern", town, "today's news", 120)
        forum = self._site(FORUM, "Ask Anybody")
        self._page(forum, "/", "Ask Anybody", self.subjects["school"], "questions", 80)
        for subject in everything:
            for site, count in (
                (encyclopedia, ENCYCLOPEDIA_PAGES), (news, NEWS_PAGES), (forum, FORUM_PAGES),
            ):  # fmt: skip
                articles = self._articles(site, f"/{subject.key}/", subject, count)
                index = self._index(site, f"/{subject.key}/", subject.name, articles)
                site.home.listed.append(index.anchor)
                for page in [*articles, index]:
                    page.nav = [Anchor(site.home.url, site.name), index.anchor]
        self._shop(everything)
        self._blogs(everything)
        for site in (encyclopedia, news, forum):
            site.home.topic = ""

    def _shop(self, everything: Sequence[Subject]) -> None:
        """Let the shop sell what topics speak of: off topic, whatever the titles say."""
        shop, seller = self.sites[self.subjects["shop"].hosts[0]], self.subjects["shop"]
        for subject in everything:
            for thing in subject.things[:SHOP_PAGES]:
                path = f"/{subject.key}/{_slug(thing)}.html"
                page = self._page(shop, path, f"Buy {thing} online", seller, thing, 120)
                page.nav = shop.home.nav
                shop.home.listed.append(page.anchor)

    def _blogs(self, everything: Sequence[Subject]) -> None:
        """Add three diaries, whose entries follow each other whatever they are about."""
        blogs = self._site(BLOGS, "Blogs of Harbour Lane")
        home = self._page(blogs, "/", "Blogs of Harbour Lane", self.subjects["travel"], "us", 60)
        for number, author in enumerate(("anna", "bruno", "clara")):
            posts = []
            for subject in everything:
                posts += self._articles(blogs, f"/~{author}/", subject, BLOG_PAGES // 3)
            self._random("blog", author).shuffle(posts)
            index = self._index(blogs, f"/~{author}/", f"The diary of {author}", posts)
            for page in [index, *(p for p in blogs.pages if "page-" in p.url)]:
                page.subject, page.topic, page.about = self.subjects["travel"], "", "this diary"
            for post, following in pairwise(posts):
                post.nav = [Anchor(home.url, "Blogs"), index.anchor]
                post.related.append(following.anchor)
            home.listed.append(index.anchor)
            home.layout = LAYOUTS[number]

    def _directory(self) -> None:
        site = self._site(DIRECTORY, "The Directory")
        town = self.subjects["town"]
        home = self._page(site, "/", "The Directory of Everything", town, "this directory", 80)
        shelves: dict[str, DemoPage] = {}
        for number, subject in enumerate(self._english):
            shelf_name = f"Shelf {'ABCDEF'[number % 6]}"
            shelf = shelves.get(shelf_name)
            if shelf is None:
                path = f"/{_slug(shelf_name)}/"
                shelf = shelves[shelf_name] = self._page(
                    site, path, shelf_name, town, "shelves", 60
                )
                home.listed.append(shelf.anchor)
            path = f"/{_slug(shelf_name)}/{subject.key}.html"
            entry = self._page(site, path, f"Sites: {subject.name}", town, "listed sites", 40)
            shelf.listed.append(entry.anchor)
            bare = subject.hosts[0].replace("://www.", "://")
            entry.listed = [
                Anchor(bare + "/", f"{subject.name}, the site"),
                Anchor(f"{NEWS}/{subject.key}/", f"{subject.name} in the news"),
                Anchor(f"{FARMS[number % 2]}/{subject.key}-1.html", f"Best {subject.name} links"),
            ]
        foreign = [s for s in self.subjects.values() if s.language != "en"]
        home.listed += [Anchor(s.hosts[0] + "/", s.name) for s in foreign]
        home.listed += [self.sites[base].home.anchor for base in (ENCYCLOPEDIA, BLOGS, FORUM)]
        for page in site.pages:
            page.nav = [Anchor(home.url, "Directory")]

    def _farms(self) -> None:
        """Add two hosts whose pages name every topic and hold nothing but links to each other."""
        shop = self.subjects["shop"]
        everything = self._english
        for base in FARMS:
            random = self._random("farm", base)
            farm = self._site(base, "Best links")
            for number in range(FARM_PAGES):
                subject = everything[number % len(everything)]
                title = f"Best {subject.name} links {number // len(everything) + 1}"
                path = f"/{subject.key}-{number // len(everything) + 1}.html"
                page = self._page(farm, path, title, shop, subject.name.lower(), 50)
                words = random.sample(subject.things, 10)
                page.related = [Anchor(page.url, " ".join(words))]
            for page in farm.pages:
                page.listed = [other.anchor for other in random.sample(farm.pages, 30)]

    def _calendar(self) -> None:
        """Add the town's calendar: a page a month, each leading to the months around it."""
        town = self.subjects["town"]
        site = self.sites[town.hosts[0]]
        months = [(year, month) for year in CALENDAR_YEARS for month in range(1, 13)]
        pages = [
            self._page(site, f"{EVENTS}{y}-{m:02}.html", f"What is on, {m}/{y}", town, "events", 25)
            for y, m in months
        ]
        for before, page in pairwise(pages):
            before.listed.append(Anchor(page.url, "Next month"))
            page.listed.append(Anchor(before.url, "Previous month"))
        for page in pages[12:]:
            page.listed.append(Anchor(pages[pages.index(page) - 12].url, "A year earlier"))
        middle = pages[len(pages) // 2]
        for page in site.pages:
            page.nav = [*(page.nav or site.home.nav), Anchor(middle.url, "What is on")]

    # -- links between pages and between sites

    def _link_sites(self) -> None:
        islands = {subject.hosts[1] for subject in self._topics}
        reachable = [
            page
            for site in self.sites.values()
            if site.base not in islands and site.base not in FARMS
            for page in site.articles
            if EVENTS not in page.url
        ]
        by_topic: dict[str, list[DemoPage]] = {}
        for page in reachable:
            by_topic.setdefault(page.topic, []).append(page)
        for site in self.sites.values():
            if site.base in FARMS or site.base == DIRECTORY:
                continue
            siblings = site.articles
            for page in siblings:
                if EVENTS in page.url:
                    continue
                random = self._random("links", page.url)
                own = [other for other in siblings if other.subject is page.subject]
                near = random.sample(own, min(len(own), random.randint(2, 4)))
                page.related += [other.anchor for other in near if other is not page]
                if random.random() < 0.4:
                    page.elsewhere.append(random.choice(by_topic[page.topic]).anchor)
                if random.random() < 0.4:
                    page.elsewhere.append(random.choice(reachable).anchor)
                if random.random() < 0.04:
                    farm = random.choice(self.sites[random.choice(FARMS)].pages)
                    page.elsewhere.append(farm.anchor)

    def _bridges(self) -> None:
        """Lead to each island over off-topic pages: two at the school, three of a travel diary.

        The pages on the way are about something else; only the words of the links give a hint.
        """
        school, travel = (
            iter(self.sites[self.subjects[key].hosts[0]].articles) for key in ("school", "travel")
        )
        for subject in self._topics:
            opening, island = (self.sites[host] for host in subject.hosts)
            random = self._random("bridges", subject.key)
            for stones in (list(islice(school, 2)), list(islice(travel, 3))):
                start, end = random.choice(opening.articles), random.choice(island.articles)
                for here, there in pairwise([start, *stones, end]):
                    hint = f"{random.choice(subject.who)}, {random.choice(subject.where)}"
                    here.related.insert(0, Anchor(there.url, hint))

    def _damage(self) -> None:
        """Let some pages be broken, and some links lead to errors or nowhere."""
        for page in list(self.pages()):
            random = self._random("damage", page.url)
            base = page.url[: page.url.index("/", 8)]
            if random.random() < BROKEN_SHARE and page.encoding == "utf-8":
                page.layout = BROKEN
            if random.random() < DEAD_LINK_SHARE:
                page.elsewhere.append(Anchor(f"{base}/gone/{_slug(page.title)}.html", page.title))
            if random.random() < ERROR_SHARE:
                page.elsewhere.append(Anchor(f"{base}/cgi-bin/counter", "Visitors so far"))
                page.elsewhere.append(Anchor(f"{base}/loop", "Round and round"))
            if random.random() < ERROR_SHARE:
                page.elsewhere.append(Anchor(f"{base}/private/drafts.html", "Drafts"))
            if page.related and random.random() < 0.1:
                first = page.related[0]
                if first.url.startswith(base) and first.url.endswith(".html"):
                    page.related[0] = Anchor(_old(first.url), first.text)
                    self.sites[base].moved.add(first.url)


# -- what a host has besides its pages


def _rest(site: Site) -> Iterator[Response]:
    """Return robots.txt, sitemap, moved pages, errors and whatever is no page."""
    addresses = [page.url for page in site.pages if EVENTS not in page.url]
    robots = (
        f"User-agent: *\nDisallow: /private/\nDisallow: /search\nSitemap: {site.base}/sitemap.xml\n"
    )
    yield _response(f"{site.base}/robots.txt", robots.encode(), "text/plain")
    rows = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in addresses)
    sitemap = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )
    yield _response(f"{site.base}/sitemap.xml", sitemap.encode(), "application/xml")
    drafts = b"<title>Drafts</title><p>Nothing here is finished, and robots.txt says so."
    yield _response(f"{site.base}/private/drafts.html", drafts, _HTML)
    address = f"<title>Contact</title><h1>Contact</h1><p>Write to the editors of {site.name}."
    yield _response(f"{site.base}/contact.html", address.encode(), f"{_HTML}; charset=utf-8")
    yield _response(f"{site.base}/style.css", b"body { max-width: 40em }\n", "text/css")
    yield _response(f"{site.base}/cgi-bin/counter", b"<h1>Internal Server Error</h1>", _HTML, 500)
    yield _moved(f"{site.base}/loop", f"{site.base}/loop-again")
    yield _moved(f"{site.base}/loop-again", f"{site.base}/loop")
    for url in sorted(site.moved):
        yield _moved(_old(url), url)
    bare = site.base.replace("://www.", "://")
    if bare != site.base:
        yield _moved(bare + "/", site.base + "/")


def _old(url: str) -> str:
    """Return the address that a page had before its site was tidied up."""
    start = url.index("/", 8)
    return f"{url[:start]}/old{url[start:].replace('.html', '.htm')}"


def _response(url: str, body: bytes, kind: str, status: int = 200) -> Response:
    return Response(url, status, (("Content-Type", kind),), body)


def _moved(url: str, target: str) -> Response:
    return Response(url, 301, (("Location", target), ("Content-Type", _HTML)), b"")


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.replace("ß", "ss").replace("œ", "oe"))
    return re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode().lower()).strip("-")


# -- on disk


def fingerprint() -> str:
    """Return a digest of everything the demo web is made from."""
    digest = hashlib.sha256()
    package = files(__package__)
    for name in (
        "demo_sentences.py", "demo_site.py", "demo_web.py", "web_writer.py",
        "data/demo_subjects.toml", "data/demo_templates.toml",
    ):  # fmt: skip
        digest.update(package.joinpath(*name.split("/")).read_bytes())
    return digest.hexdigest()


def ensure_demo_web(folder: Path, *, anew: bool = False) -> bool:
    """Write the demo web into *folder* unless it is there and current; True when it was written."""
    mark = folder / "web.fingerprint"
    current = fingerprint()
    whole = (folder / WEB).exists() and (folder / TOPICS).exists() and mark.exists()
    if whole and not anew and mark.read_text(encoding="ascii") == current:
        return False
    web = DemoWeb()
    write_web(folder, web.responses(), web.topics())
    mark.write_text(current, encoding="ascii")
    return True
