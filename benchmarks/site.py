"""A generated site of real shape, and a server for it in a process of its own.

Pages have 20 to 40 kB, some 1,500 words, about 60 links (a menu, lists, and links within
paragraphs), headings, a footer, scripts and attributes, as measured on real pages. Words are drawn
by their frequency in English, in pages about the topic also from the words of its Dewey class.
Hosts are addresses of the loopback network, so that there can be many without name servers.

A crawl of the web finds some twenty new links on each page, for ever. So does one of this site,
though it is a few thousand files: a page's name is a word of the letters a to p, its last letters
say which file it is, and the server puts the name into the file's links. Page ``bdk`` links to the
new pages ``bdka`` to ``bdkp``, to some of their children, to its siblings ``bda``, ``bdf`` ..., and
to pages that all of its host link to. A page whose letters are early in the alphabet is on topic,
hence so are many of the pages around it, as on the web.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from urllib.request import urlopen

import numpy as np

from tests.servers import free_port
from treasure.ddc.background import Background
from treasure.ddc.lexicon import Lexicon

ROOT = Path(__file__).parent.parent
TOPIC = "astronomy"
NUMBER = "52"
LETTERS = "abcdefghijklmnop"
MENU, CHILDREN, GRANDCHILDREN, SIBLINGS, KNOWN = 14, 16, 6, 12, 12
"""Links of a page: to its host's main pages, to new pages, and to pages known from others."""
OWN, PARENT = "@@", "~~"
"""What the server replaces in a file: by the page's name, and by that without its last letter."""
STYLE = "article__block article__block--wide u-margin-top-2 u-text-dark js-observed"
SCRIPT = "window.dataLayer = window.dataLayer || []; function track(a, b) { push(a, b); }\n" * 80


@dataclass(frozen=True)
class Site:
    """Pages of many hosts. Names have at least *length* letters; the last of them are its file."""

    folder: Path
    length: int
    hosts: int
    port: int

    @cached_property
    def files(self) -> list[str]:
        """The shortest names, one for each file."""
        return ["".join(letters) for letters in product(LETTERS, repeat=self.length)]

    @property
    def seed(self) -> str:
        """Where a crawl begins: a page on topic."""
        return self.url(self.files[0])

    def path(self, name: str) -> Path:
        """Return the file of page *name*."""
        return self.folder / f"{name[-self.length :]}.html"

    def url(self, name: str) -> str:
        """Return the address of page *name*: the end of the name decides on which host it is."""
        number = 0
        for letter in name[-self.length :]:
            number = number * len(LETTERS) + LETTERS.index(letter)
        host = number % self.hosts
        return f"http://127.0.{host // 250}.{host % 250 + 1}:{self.port}/pages/{name}.html"

    def on_topic(self, name: str) -> bool:
        """Whether the page *name* is about the topic; a quarter of all are."""
        return sum(LETTERS.index(letter) for letter in name[-self.length :]) < 6 * self.length

    def html(self, name: str) -> bytes:
        """Return the page *name* as it is served."""
        return _named(self.path(name).read_bytes(), name.encode())

    def write(self) -> None:
        """Write all files; the same for the same figures."""
        draw = random.Random(1)
        common, own = _words()
        kinds = {True: _Words(draw, common, own), False: _Words(draw, common, ())}
        self.folder.mkdir(parents=True)
        for name in self.files:
            self.path(name).write_text(self._html(name, draw, kinds))

    def _html(self, name: str, draw: random.Random, kinds: dict[bool, _Words]) -> str:
        words = kinds[self.on_topic(name)]
        targets = self._targets(name, draw)
        draw.shuffle(targets)

        def link(size: int) -> str:
            target, address = targets.pop()
            return f'<a href="{address}">{kinds[self.on_topic(target)].some(size)}</a>'

        def item(size: int) -> str:
            return (
                f'<li class="{STYLE}"><span class="mark"></span>{link(size)} {words.some(5)}</li>'
            )

        near = len(self.files) // self.hosts
        menu = "".join(
            f'<li><a href="{self.url(target)}">{kinds[self.on_topic(target)].some(2)}</a></li>'
            for target in (
                self.files[(self.files.index(name) % self.hosts + self.hosts * (n % near))]
                for n in range(MENU)
            )
        )
        sections = []
        for _ in range(draw.randint(6, 9)):
            paragraphs = []
            for _ in range(draw.randint(4, 6)):
                text = words.some(draw.randint(12, 36)).capitalize()
                if len(targets) > CHILDREN:
                    text += f" {link(3)} {words.some(9)}"
                paragraphs.append(
                    f'<p class="{STYLE}" data-id="{len(paragraphs)}">{text},'
                    f" <em>{words.some(2)}</em>.</p>"
                )
            body = "\n".join(paragraphs)
            sections.append(
                f'<section class="{STYLE}"><h2>{words.some(4)}</h2>\n{body}\n</section>'
            )
        listed = "\n".join([item(3) for _ in range(len(targets))])
        title = words.some(5).title()
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="description" content="{words.some(15)}">'
            '<link rel="stylesheet" href="/style.css">'
            f"<script>{SCRIPT}</script></head>\n<body>"
            f'<nav class="menu"><ul>{menu}</ul></nav>\n<main><h1>{title}</h1>\n'
            f"{''.join(sections)}\n<h2>{words.some(3)}</h2><ul>{listed}</ul></main>\n"
            f'<footer><p>{words.some(12)}</p><a href="{self.seed}">Home</a></footer>\n'
            "</body></html>\n"
        )

    def _targets(self, name: str, draw: random.Random) -> list[tuple[str, str]]:
        """Return where page *name* links to beside its menu: example names, and addresses."""

        def address(ending: str, kept: str, mark: str) -> tuple[str, str]:
            target = kept + ending
            place = self.url(target)
            return target, place.replace(f"/{target}.html", f"/{mark}{ending}.html")

        children = [address(letter, name, OWN) for letter in LETTERS[:CHILDREN]]
        further = [
            address("".join(draw.choices(LETTERS, k=2)), name, OWN) for _ in range(GRANDCHILDREN)
        ]
        siblings = [address(letter, name[:-1], PARENT) for letter in draw.sample(LETTERS, SIBLINGS)]
        known = [(target, self.url(target)) for target in draw.sample(self.files, KNOWN)]
        return children + further + siblings + known

    @contextmanager
    def served(self, core: int | None = None) -> Iterator[None]:
        """Serve the site from another process, on its own core."""
        command = [sys.executable, __file__, str(self.folder), str(self.length), str(self.port)]
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
        try:
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            _wait(self.seed)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


class _Words:
    """Draws words a few thousand at a time: one by one would take minutes."""

    def __init__(self, draw: random.Random, common: _Drawn, own: tuple[str, ...]) -> None:
        self.draw, self.common, self.own = draw, common, own

    def some(self, count: int) -> str:
        """Return *count* words."""
        words = self.common.take(self.draw, count)
        if self.own:
            for place in range(0, count, 8):
                words[place] = self.draw.choice(self.own)
        return " ".join(words)


class _Drawn:
    def __init__(self, words: list[str], chances: np.ndarray) -> None:
        random_ = np.random.default_rng(1)
        self.words = np.array(words)[random_.choice(len(words), 300_000, p=chances)].tolist()

    def take(self, draw: random.Random, count: int) -> list[str]:
        start = draw.randrange(len(self.words) - count)
        return self.words[start : start + count]


def _words() -> tuple[_Drawn, tuple[str, ...]]:
    background = Background.own()
    frequency = np.array([background.frequencies[stem] for stem in background.stems])
    # Half of all words in English text are stop words, which the table does not hold.
    stops = "the of and to in a is that it was for on are with as at by from this be".split()
    words = [*background.stems, *stops]
    chances = np.append(frequency / frequency.sum() / 2, np.full(len(stops), 0.5 / len(stops)))
    lexicon = Lexicon.load()
    under = lexicon.under((NUMBER,))
    terms = np.repeat(np.arange(lexicon.size), np.diff(lexicon.posting_start))
    own = sorted({lexicon.term(term) for term in terms[under[lexicon.posting_number]].tolist()})
    return _Drawn(words, chances / chances.sum()), tuple(own)


def make(folder: Path, pages: int, hosts: int) -> Site:
    """Write a site of at least *pages* files (16, 256 or 4,096) and return it."""
    length = next((n for n in (1, 2) if len(LETTERS) ** n >= pages), 3)
    site = Site(folder, length, min(hosts, len(LETTERS) ** length // 4), free_port())
    site.write()
    return site


def _wait(url: str) -> None:
    for _ in range(200):
        try:
            with urlopen(url, timeout=5) as answer:
                answer.read()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"The server of the benchmark does not answer at {url}.")


def _named(html: bytes, name: bytes) -> bytes:
    return html.replace(OWN.encode(), name).replace(PARENT.encode(), name[:-1])


class _Answers(asyncio.Protocol):
    """Answers GET after GET on one connection."""

    def __init__(self, files: dict[bytes, bytes], length: int) -> None:
        self.files, self.length = files, length
        self.head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self.head = (self.head + data).split(b"\r\n\r\n")
        for head in heads:
            self.transport.write(self._answer(head.split(b" ", 2)[1]))

    def _answer(self, path: bytes) -> bytes:
        kind, status = b"text/html; charset=utf-8", b"200 OK"
        found = re.fullmatch(rb"/pages/([a-p]+)\.html", path)
        if path == b"/robots.txt":
            kind, body = b"text/plain", b"User-agent: *\nDisallow: /private/\n"
        elif found and found[1][-self.length :] in self.files:
            body = _named(self.files[found[1][-self.length :]], found[1])
        else:
            status, body = b"404 Not Found", b"not here"
        return (
            b"HTTP/1.1 %s\r\nServer: benchmark\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
            % (status, kind, len(body), body)
        )


async def _serve(folder: Path, length: int, port: int) -> None:
    files = {file.stem.encode(): file.read_bytes() for file in folder.iterdir()}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answers(files, length), "0.0.0.0", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
