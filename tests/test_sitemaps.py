from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.sitemaps import listing, read_sitemap

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*entries: str) -> bytes:
    return f"{HEAD}<urlset {NS}>{''.join(entries)}</urlset>".encode()


def entry(url: str, lastmod: str = "") -> str:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>\n {url} </loc>{date}</url>"


def test_pages_newest_first() -> None:
    body = urlset(
        entry("http://a.org/old", "2020-01-01"),
        entry("http://a.org/?b=2&amp;a=1"),
        entry("http://a.org/new", "2024-05-06T07:08:09Z"),
    )
    found = read_sitemap(body)
    assert found.complete
    assert [listed.url for listed in found.pages] == [
        "http://a.org/new",
        "http://a.org/old",
        "http://a.org/?a=1&b=2",
    ]
    assert found.pages[0].lastmod == pytest.approx(1714979289)


def test_an_index_names_sitemaps() -> None:
    body = f"""{HEAD}<sitemapindex {NS}>
      <sitemap><loc>http://a.org/1.xml.gz</loc><lastmod>2024-01-01</lastmod></sitemap>
      <sitemap><loc>http://a.org/2.xml</loc></sitemap></sitemapindex>""".encode()
    found = read_sitemap(body)
    assert [listed.url for listed in found.sitemaps] == [
        "http://a.org/1.xml.gz",
        "http://a.org/2.xml",
    ]
    assert not found.pages


def test_pictures_and_news_of_a_page_are_no_pages() -> None:
    body = f"""{HEAD}<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc>http://a.org/p</loc><image:image><image:loc>http://a.org/i.png</image:loc>
      </image:image></url></urlset>""".encode()
    assert [listed.url for listed in read_sitemap(body).pages] == ["http://a.org/p"]


@pytest.mark.parametrize(
    "body",
    [
        b"http://a.org/1\nhttp://a.org/2\r\nnot a url\n",
        b"\xef\xbb\xbfhttp://a.org/1\nhttp://a.org/2",
        b"<rss><channel><item><link>http://a.org/1</link></item>"
        b"<item><link>http://a.org/2</link></item></channel></rss>",
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://a.org/1"/></entry>'
        b'<entry><link href="http://a.org/2"/></entry></feed>',
    ],
)
def test_other_formats(body: bytes) -> None:
    assert [listed.url for listed in read_sitemap(body).pages] == [
        "http://a.org/1",
        "http://a.org/2",
    ]


def test_gzip_and_its_damage() -> None:
    body = urlset(*(entry(f"http://a.org/{i}") for i in range(5_000)))
    packed = gzip.compress(body)
    assert len(read_sitemap(packed).pages) == 5_000
    broken = read_sitemap(packed[: len(packed) // 2])
    assert not broken.complete
    assert 0 < len(broken.pages) < 5_000


def test_a_file_that_breaks_off_gives_what_came_before() -> None:
    body = urlset(*(entry(f"http://a.org/{i}") for i in range(100)))
    found = read_sitemap(body[: len(body) // 2])
    assert 40 < len(found.pages) < 60


def test_limits() -> None:
    body = urlset(*(entry(f"http://a.org/{i}") for i in range(1_000)))
    found = read_sitemap(body, max_links=10)
    assert len(found.pages) == 10
    assert not found.complete


def test_a_gzip_bomb_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = packer.compress(urlset(entry("http://a.org/1"))[:-9])
    for _ in range(100):
        bomb += packer.compress(b" " * 1_000_000)
    found = read_sitemap(bomb + packer.flush(), max_bytes=1_000_000)
    assert not found.complete
    assert [listed.url for listed in found.pages] == ["http://a.org/1"]


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    body = f"""<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "ha">{laughs}
      <!ENTITY file SYSTEM "file:///etc/passwd">]>
      <urlset><url><loc>http://a.org/&l9;</loc></url><url><loc>&file;</loc></url>
      <url><loc>http://a.org/1</loc></url></urlset>""".encode()
    found = read_sitemap(body)
    assert all("root:" not in listed.url and len(listed.url) < 100 for listed in found.pages)


@given(st.binary(max_size=3_000))
def test_rubbish_never_raises(body: bytes) -> None:
    read_sitemap(body)
    read_sitemap(b"<" + body)
    read_sitemap(b"\x1f\x8b\x08" + body)


def test_a_listing_is_a_page_of_links() -> None:
    page = listing("http://a.org/map.xml", ["http://a.org/solar-system/mars_rover.html"])
    (link,) = page.links
    assert page.text(link.anchor) == "solar system mars rover html"
    assert page.text(page.context(link)) == "solar system mars rover html"
    assert len(page.terms) == len(page.words)
