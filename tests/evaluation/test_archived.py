"""Archived responses are read as a crawler would have read them."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from scrapy.http import HtmlResponse

from treasure.evaluation.archived import Response, read_response

HTML = "<title>Über Bäume</title><p>Schöne alte Bäume wachsen überall in Städten und Wäldern."
URL = "http://a.test/"
_raw_deflate = zlib.compressobj(wbits=-15)


def read(body: bytes, *headers: str) -> Response:
    response = read_response(
        URL, "\r\n".join(("HTTP/1.1 200 OK", *headers)).encode() + b"\r\n\r\n" + body
    )
    assert response is not None
    return response


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(HTML.encode())),
        ("GZIP", gzip.compress(HTML.encode())),
        ("deflate", zlib.compress(HTML.encode())),
        ("deflate", _raw_deflate.compress(HTML.encode()) + _raw_deflate.flush()),
        ("br", brotli.compress(HTML.encode())),
        ("zstd", zstandard.compress(HTML.encode())),
        ("gzip", HTML.encode()),  # the header was kept, the coding was not
        ("br", HTML.encode()),
        ("zstd", HTML.encode()),
        ("identity", HTML.encode()),
    ],
)
def test_the_coding_of_the_content_is_undone(coding: str, body: bytes) -> None:
    response = read(body, f"Content-Encoding: {coding}")
    assert response.text == HTML


def test_what_was_cut_off_is_read_as_far_as_it_goes() -> None:
    packed = gzip.compress(HTML.encode() * 50)
    assert read(packed[: len(packed) - 12], "Content-Encoding: gzip").text.startswith("<title>Über")


def test_an_undone_coding_is_no_longer_named() -> None:
    response = read(gzip.compress(b"x"), "Content-Encoding: gzip", "Content-Type: text/html")
    assert response.headers == (("Content-Type", "text/html"),)


@pytest.mark.parametrize(
    ("encoding", "content_type"),
    [
        ("utf-8", "text/html"),
        ("utf-8", ""),
        ("iso-8859-1", "text/html; charset=iso-8859-1"),
        ("utf-16", "text/html; charset=utf-16"),
        ("cp1252", "text/html"),
    ],
)
def test_text_is_what_scrapy_reads(encoding: str, content_type: str) -> None:
    body = HTML.encode(encoding)
    headers = {"Content-Type": content_type} if content_type else {}
    response = read(body, *(f"{name}: {value}" for name, value in headers.items()))
    assert response.text == HtmlResponse(URL, headers=headers, body=body).text
    assert "Bäume" in response.text


@pytest.mark.parametrize(
    ("content_type", "is_page"),
    [
        ("text/html; charset=utf-8", True),
        ("Application/XHTML+xml", True),
        ("", True),
        ("application/pdf", False),
        ("text/plain", False),
    ],
)
def test_only_html_is_a_page(content_type: str, is_page: bool) -> None:
    assert (
        read(b"x", *([f"Content-Type: {content_type}"] if content_type else [])).is_page is is_page
    )


@pytest.mark.parametrize("payload", [b"", b"no http\r\n\r\nbody", b"HTTP/1.1 200 OK\r\nno end"])
def test_what_is_no_http_is_no_response(payload: bytes) -> None:
    assert read_response(URL, payload) is None
