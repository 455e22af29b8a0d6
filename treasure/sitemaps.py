"""Sitemaps: the links that a site names itself, as one more page of links.

XML sitemaps and their indexes, plain lists and feeds, gzipped or not. A sitemap is made by a
stranger: it is unpacked and parsed piece by piece, without entities, and nothing beyond a limit is
read. A file that breaks off or turns to rubbish gives what came before.

The links are scored by the strategy like those of any page. ``listing`` makes the page: one block
per link, whose words are those of the address.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import unquote

import numpy as np
from lxml import etree

from treasure.pages import EMPTY, Block, Link, Page, Span
from treasure.text import VOCABULARY, words
from treasure.urls import canonical, url_key

MAX_BYTES = 50_000_000
"""Unpacked size at which we stop reading; the protocol's own limit."""
MAX_LINKS = 50_000
"""Links of one file; the protocol's own limit."""
PIECE_BYTES = 65_536
_GZIP = b"\x1f\x8b"
_URL = re.compile(r"https?://\S+")
_LINKS = {"loc", "link"}
_DATES = {"lastmod", "updated", "pubDate"}


@dataclass(frozen=True, slots=True)
class Listed:
    """An address that a sitemap names."""

    url: str
    lastmod: float = 0.0
    """Seconds since the epoch; 0 when the sitemap does not say."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap names: pages, or further sitemaps."""

    pages: tuple[Listed, ...] = ()
    sitemaps: tuple[Listed, ...] = ()
    complete: bool = True
    """False when something was left out: beyond a limit, or not readable."""


def read_sitemap(body: bytes, *, max_links: int = MAX_LINKS, max_bytes: int = MAX_BYTES) -> Sitemap:
    """Return what *body* names; newest first where it says when, never raise."""
    reader = _Reader(max_links)
    complete = True
    total = 0
    try:
        for piece in _unpacked(body):
            total += len(piece)
            if total > max_bytes or not reader.feed(piece):
                complete = False
                break
        else:
            complete = reader.close()
    except (zlib.error, etree.XMLSyntaxError, EOFError):
        complete = False
    newest = sorted(reader.pages, key=lambda listed: -listed.lastmod)
    return Sitemap(tuple(newest), tuple(reader.sitemaps), complete)


def listing(url: str, links: Sequence[str]) -> Page:
    """Return a page that holds nothing but *links*, each a block of the words of its address."""
    all_words: list[str] = []
    blocks, found, texts = [], [], []
    for index, link in enumerate(links):
        path = link.split("/", 3)[3] if link.count("/") >= 3 else ""
        spelled = words(re.sub(r"[^\w]+|_", " ", unquote(path, errors="replace")).lower())
        span = Span(len(all_words), len(all_words) + len(spelled))
        all_words += spelled
        blocks.append(Block("item", span, -1, False, span))
        texts.append(" ".join(spelled))
        found.append(Link(link, span, texts[-1], index, "sitemap", False, url_key(link)))
    terms = np.array([VOCABULARY[word] for word in all_words], dtype=np.int32)
    return Page(url, "", EMPTY, " ".join(all_words), terms, (), blocks, found, texts)


class _Reader:
    """Takes in a sitemap in pieces, whatever its format."""

    def __init__(self, max_links: int) -> None:
        self.pages: list[Listed] = []
        self.sitemaps: list[Listed] = []
        self._max_links = max_links
        self._parser: etree.XMLPullParser | None = None
        self._plain: bool | None = None
        self._rest = ""
        self._open: dict[str, str] = {}

    def feed(self, piece: bytes) -> bool:
        """Take in *piece*; tell whether we want more."""
        if self._plain is None:
            start = piece.lstrip(b"\xef\xbb\xbf \t\r\n")
            self._plain = not start.startswith(b"<")
            piece = start
            if not self._plain:
                self._parser = etree.XMLPullParser(
                    events=("end",),
                    resolve_entities=False,
                    no_network=True,
                    load_dtd=False,
                    recover=True,
                    huge_tree=False,
                    remove_comments=True,
                    remove_pis=True,
                )
        if self._plain:
            return self._lines(piece)
        assert self._parser is not None
        self._parser.feed(piece)
        return self._elements()

    def close(self) -> bool:
        """Take in what is left; tell whether the file was whole."""
        if self._plain:
            return self._lines(b"\n")
        if self._parser is None:
            return True
        self._parser.close()
        return self._elements()

    def _lines(self, piece: bytes) -> bool:
        lines = (self._rest + piece.decode("utf-8", errors="replace")).split("\n")
        self._rest = lines.pop()[-4_096:]
        for line in lines:
            if (found := _URL.match(line.strip())) and not self._add(self.pages, found[0], ""):
                return False
        return True

    def _elements(self) -> bool:
        assert self._parser is not None
        for _, element in self._parser.read_events():
            name = _local(element)
            if name in _LINKS or name in _DATES:
                text = element.text or element.get("href") or ""
                parent = element.getparent()
                holder = _local(parent) if parent is not None else ""
                if holder in ("url", "sitemap", "entry", "item"):  # not the picture of a page
                    self._open["loc" if name in _LINKS else "lastmod"] = text.strip()
            elif name in ("url", "sitemap", "entry", "item"):
                place = self.sitemaps if name == "sitemap" else self.pages
                found, self._open = self._open, {}
                if not self._add(place, found.get("loc", ""), found.get("lastmod", "")):
                    return False
                _forget(element)
        return True

    def _add(self, place: list[Listed], url: str, lastmod: str) -> bool:
        address = canonical(url)
        if address:
            place.append(Listed(address, _time(lastmod)))
        return len(self.pages) + len(self.sitemaps) < self._max_links


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield *body* in pieces, unpacked where it is gzip."""
    if not body.startswith(_GZIP):
        for start in range(0, len(body), PIECE_BYTES):
            yield body[start : start + PIECE_BYTES]
        return
    unpacker = zlib.decompressobj(wbits=31)
    data = body
    while data and not unpacker.eof:
        piece = unpacker.decompress(data, PIECE_BYTES)
        if piece:
            yield piece
        elif not unpacker.unconsumed_tail:
            break
        data = unpacker.unconsumed_tail
    if not unpacker.eof:
        raise EOFError


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _forget(element: etree._Element) -> None:
    """Free what was read: a sitemap is long and we need each element once."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _time(text: str) -> float:
    try:
        date = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    try:
        return max(0.0, date.timestamp())
    except (OverflowError, OSError):
        return 0.0
