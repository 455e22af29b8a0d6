"""A generated site of real shape, and a server for it in a process of its own.

Pages have 20 to 40 kB, some 1,500 words, about 60 links (a menu, lists, and links within
paragraphs), headings, a footer, scripts and attributes, as measured on real pages. Words are drawn
by their frequency in English, in pages about the topic also from the words of its Dewey class.
Hosts are addresses of the loopback network, so that there can be many without name servers. nginx
serves the files where it is installed, else a small asyncio server.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import numpy as np

from tests.servers import free_port
from treasure.ddc.background import Background
from treasure.ddc.lexicon import Lexicon

ROOT = Path(__file__).parent.parent
TOPIC = "astronomy"
NUMBER = "52"
MENU, LISTED, WITHIN = 14, 20, 26
"""Links of a page in its menu, its lists and its paragraphs."""
ON_TOPIC = 0.3
STYLE = "article__block article__block--wide u-margin-top-2 u-text-dark js-observed"
SCRIPT = "window.dataLayer = window.dataLayer || []; function track(a, b) { push(a, b); }\n" * 80


@dataclass(frozen=True)
class Site:
    """Pages of many hosts in one folder."""

    folder: Path
    pages: int
    hosts: int
    port: int

    def url(self, page: int) -> str:
        """Return the address of page number *page*."""
        host = page % self.hosts
        return f"http://127.0.{host // 250}.{host % 250 + 1}:{self.port}/p/{page}.html"

    def write(self) -> None:
        """Write all pages; the same for the same figures."""
        draw = random.Random(1)
        common, own = _words()
        (self.folder / "p").mkdir(parents=True)
        (self.folder / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
        # Links between pages of a kind, as on the web: topics are clustered.
        topical = [page for page in range(self.pages) if page == 0 or draw.random() < ON_TOPIC]
        members = set(topical)
        for page in range(self.pages):
            words = _Words(draw, common, own if page in members else ())
            html = self._html(page, draw, words, topical if page in members else range(self.pages))
            (self.folder / "p" / f"{page}.html").write_text(html)

    def _html(self, page: int, draw: random.Random, words: _Words, near: range | list[int]) -> str:
        def link(size: int) -> str:
            wanted = near if draw.random() < 0.7 else range(self.pages)
            return f'<a href="{self.url(draw.choice(wanted))}">{words.some(size)}</a>'

        def item(size: int) -> str:
            return (
                f'<li class="{STYLE}"><span class="mark"></span>{link(size)} {words.some(5)}</li>'
            )

        menu = "".join(
            f'<li><a href="/p/{(page + self.hosts * n) % self.pages}.html">{words.some(2)}</a></li>'
            for n in range(1, MENU + 1)
        )
        sections = []
        links = WITHIN
        for _ in range(draw.randint(6, 9)):
            paragraphs = []
            for _ in range(draw.randint(4, 6)):
                text = words.some(draw.randint(12, 36)).capitalize()
                if links:
                    links -= 1
                    text += f" {link(3)} {words.some(9)}"
                paragraphs.append(
                    f'<p class="{STYLE}" data-id="{len(paragraphs)}">{text},'
                    f" <em>{words.some(2)}</em>.</p>"
                )
            body = "\n".join(paragraphs)
            sections.append(
                f'<section class="{STYLE}"><h2>{words.some(4)}</h2>\n{body}\n</section>'
            )
        listed = "\n".join(item(3) for _ in range(LISTED))
        title = words.some(5).title()
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="description" content="{words.some(15)}">'
            '<link rel="stylesheet" href="/style.css">'
            f"<script>{SCRIPT}</script></head>\n<body>"
            f'<nav class="menu"><ul>{menu}</ul></nav>\n<main><h1>{title}</h1>\n'
            f"{''.join(sections)}\n<h2>{words.some(3)}</h2><ul>{listed}</ul></main>\n"
            f'<footer><p>{words.some(12)}</p><a href="/p/0.html">Home</a></footer></body></html>\n'
        )

    @contextmanager
    def served(self, core: int | None = None) -> Iterator[str]:
        """Serve the site from another process, on its own core; give the server's name."""
        nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        command = [sys.executable, __file__, str(self.folder), str(self.port)]
        if nginx:
            (self.folder / "nginx.conf").write_text(self._nginx())
            command = [nginx, "-p", str(self.folder), "-c", "nginx.conf", "-e", "stderr"]
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
        try:
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            _wait(self.url(0))
            yield "nginx" if nginx else "asyncio"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)

    def _nginx(self) -> str:
        return (
            "daemon off; master_process off; pid nginx.pid; worker_processes 1;\n"
            "events { worker_connections 1024; }\n"
            "http { access_log off; default_type text/html; types { text/plain txt; }\n"
            f"server {{ listen 0.0.0.0:{self.port}; root {self.folder}; charset utf-8;\n"
            "keepalive_requests 100000; } }\n"
        )


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
    """Write a site and return it."""
    site = Site(folder, pages, hosts, free_port())
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


async def _serve(folder: Path, port: int) -> None:
    files = {f"/p/{file.name}": file.read_bytes() for file in (folder / "p").iterdir()}
    files["/robots.txt"] = (folder / "robots.txt").read_bytes()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = files.get(head.split(b" ", 2)[1].decode("latin-1"))
                status = b"404 Not Found" if body is None else b"200 OK"
                body = body or b"not here"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (status, len(body), body)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "0.0.0.0", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))
