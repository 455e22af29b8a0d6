"""Response: an archived HTTP response as a crawler would have received it.

Archives keep what went over the wire. The codings of transfer and content are undone here, and the
text is found as Scrapy finds it, so that the plain loop reads the same page as a crawl does.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import brotli
import zstandard

from treasure.extract import decode, read_page
from treasure.pages import Page
from treasure.urls import canonical

MAX_BODY_BYTES = 256 * 1024 * 1024
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
"""Types of content that count as pages, as in a crawl with its settings untouched."""


@dataclass(frozen=True, slots=True)
class Response:
    """An archived HTTP response."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)

    def header(self, name: str) -> str:
        """Return the first header called *name*, or an empty string."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def is_page(self) -> bool:
        """Whether a crawler reads it: an answer with HTML, or with nothing said of its type."""
        kind = self.header("content-type").partition(";")[0].strip().lower()
        return self.status == 200 and kind in PAGE_TYPES

    @property
    def text(self) -> str:
        """The body in the encoding that header, BOM or meta tag name, or else found out."""
        return decode(self.body, self.header("content-type"))

    def page(self) -> Page:
        """Read it as a crawl would; raise UnreadablePageError when it is no HTML at all."""
        return read_page(canonical(self.url) or self.url, self.text)


def read_response(url: str, payload: bytes) -> Response | None:
    """Return the response in the *payload* of a WARC record; None when it is no HTTP."""
    head, separator, body = payload.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "replace").split("\r\n")
    status_line = lines[0].split(" ", 2)
    if not separator or len(status_line) < 2 or not status_line[1].isdigit():
        return None
    headers = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers.append((name.strip(), value.strip()))
    response = Response(url, int(status_line[1]), tuple(headers), body)
    if "chunked" in response.header("transfer-encoding").lower():
        response = _without(response, "transfer-encoding", _unchunked)
    encoding = response.header("content-encoding").lower()
    if encoding in _DECODERS:
        response = _without(response, "content-encoding", _DECODERS[encoding])
    return response


def _without(response: Response, coding: str, undo: Callable[[bytes], bytes]) -> Response:
    """Return *response* as if it had come without the coding that a header names."""
    kept = tuple(pair for pair in response.headers if pair[0].lower() != coding)
    return Response(response.url, response.status, kept, undo(response.body))


def _unchunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    position = 0
    while True:
        end = body.find(b"\r\n", position)
        size_text = body[position:end].split(b";")[0].strip() if end >= 0 else b""
        try:
            size = int(size_text, 16)
        except ValueError:
            return body if not parts else b"".join(parts)
        if size <= 0:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        position = end + 2 + size + 2


def _inflated(body: bytes) -> bytes:
    """Return what gzip or deflate packed; of a body that was cut off, what there is."""
    for wbits in (47, -15):  # with the header of gzip or zlib; without any
        try:
            return zlib.decompressobj(wbits).decompress(body, MAX_BODY_BYTES)
        except zlib.error:
            continue
    return body


def _unbrotli(body: bytes) -> bytes:
    try:
        return bytes(brotli.decompress(body))
    except brotli.error:
        return body


def _unzstd(body: bytes) -> bytes:
    try:
        with zstandard.ZstdDecompressor().stream_reader(body) as reader:
            return reader.read(MAX_BODY_BYTES)
    except zstandard.ZstdError:
        return body


# Some archives keep the header and not the coding: what cannot be undone stays as it is.
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _inflated,
    "x-gzip": _inflated,
    "deflate": _inflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}
