"""A read page as bytes and back, for the cache of parsed webs.

Reading a page costs a few milliseconds, decoding it a fraction of that. Words are joined with
spaces (no word holds one) and repeated strings are written once. Term numbers are of one process
and therefore looked up anew.
"""

from __future__ import annotations

from typing import Any

import msgspec
import zstandard

from treasure.pages import Block, Heading, Link, Page, Span
from treasure.text import VOCABULARY
from treasure.urls import url_key

FORMAT = 2
"""Changes whenever pages are written or read otherwise, so that old caches are not used."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()


def encode(page: Page) -> bytes:
    """Return *page* as bytes, its HTML included."""
    paths = list(dict.fromkeys(link.tag_path for link in page.links))
    kinds = list(dict.fromkeys(block.kind for block in page.blocks))
    path_numbers = {path: number for number, path in enumerate(paths)}
    kind_numbers = {kind: number for number, kind in enumerate(kinds)}
    record = (
        page.url,
        page.title,
        page.title_span,
        " ".join(page.words),
        [(h.level, *h.span, h.text) for h in page.headings],
        kinds,
        [(kind_numbers[b.kind], *b.span, b.heading, b.boilerplate, *b.whole) for b in page.blocks],
        paths,
        [
            (k.url, *k.anchor, k.anchor_text, k.block, path_numbers[k.tag_path], k.nofollow)
            for k in page.links
        ],
        page.language,
        page.canonical,
        page.description,
        sorted(page.robots),
        page.scripted_shell,
        zstandard.ZstdCompressor(3).compress(
            _encoder.encode((list(page.block_texts), page.html.encode("utf-8", "surrogatepass")))
        ),
    )
    return _encoder.encode(record)


def decode(data: bytes) -> Page:
    """Return the page that ``encode`` wrote."""
    record: Any = _decoder.decode(data)
    (url, title, title_span, text, headings, kinds, blocks, paths, links, *rest) = record
    language, canonical, description, robots, shell, packed = rest
    block_texts, html = _decoder.decode(zstandard.ZstdDecompressor().decompress(packed))
    return Page(
        url=url,
        title=title,
        title_span=Span(*title_span),
        plain=text,
        terms=VOCABULARY.read(text.encode()).numbers,
        headings=[Heading(level, Span(a, b), shown) for level, a, b, shown in headings],
        blocks=[
            Block(kinds[kind], Span(a, b), heading, boilerplate, Span(c, d))
            for kind, a, b, heading, boilerplate, c, d in blocks
        ],
        links=[
            Link(target, Span(a, b), shown, block, paths[path], nofollow, url_key(target))
            for target, a, b, shown, block, path, nofollow in links
        ],
        block_texts=block_texts,
        language=language,
        canonical=canonical,
        description=description,
        robots=frozenset(robots),
        html=html.decode("utf-8", "surrogatepass"),
        scripted_shell=shell,
    )
