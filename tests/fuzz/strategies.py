"""Rubbish with a grain of sense: pieces of what a reader expects, shuffled, cut and repeated.

``corpus/`` keeps inputs that once broke something or reach an odd corner; they are tried first, in
every run. ``TREASURE_FUZZ_EXAMPLES`` says how many more are made (``make fuzz``: 20,000).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("TREASURE_FUZZ_EXAMPLES") or 60)
CORPUS = Path(__file__).parent / "corpus"

bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def corpus(ending: str) -> list[bytes]:
    """Return the kept inputs of one kind."""
    return [path.read_bytes() for path in sorted(CORPUS.glob(f"*.{ending}"))]


def soup(pieces: Sequence[str]) -> st.SearchStrategy[str]:
    """Return texts made of *pieces*, repeated and with anything in between."""
    some = st.one_of(st.sampled_from(pieces), st.text(max_size=12))
    repeated = st.builds(
        lambda piece, times: piece * times, some, st.sampled_from([1, 1, 1, 3, 50])
    )
    return st.lists(repeated, max_size=30).map("".join)


def damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """Return *data* with some bytes changed, taken out or put in, or cut short."""

    def change(changes: list[tuple[int, int, bytes]], end: int) -> bytes:
        changed = bytearray(data)
        for place, length, new in changes:
            changed[place : place + length] = new
        return bytes(changed[:end])

    places = st.integers(0, max(0, len(data) - 1))
    one = st.tuples(places, st.integers(0, 8), st.binary(max_size=8))
    return st.builds(change, st.lists(one, max_size=6), st.integers(0, 2 * len(data)))


HTML = [
    "<html>", "<head>", "<title>", "</title>", "<body>", "<p>", "</p>", "<div>", "</div>", "<a ",
    'href="', "/x", "http://a.test/", '">', "</a>", "<h1>", "</h1>", "<ul><li>", "<table><tr><td>",
    "<base href=", "<meta name=robots content=", "<meta charset=utf-7>", "<frameset><frame src=",
    "<!--", "-->", "<![CDATA[", "<script>", "</script>", "<style>", "<svg>", "<math>", "<template>",
    "<select><option>", "<iframe srcdoc=", "&#0;", "&#x1b;", "&amp", "&#xd800;", "\0", "\x01", "<",
    ">", '"', "'", "=", "<img alt=", "<area href=", "role=heading aria-level=9 ", "rel=nofollow ",
    "<plaintext>", "<noscript>", "<nav>", "<link rel=canonical href=", "<form>", "<b><i></b></i>",
]  # fmt: skip
URLS = [
    "http://", "https:", "//", "/", "..", ".", "?", "&", "=", "#", "@", ":", "80", "[::1]", "[",
    "]", "%", "%2e", "%00", "%ff", "xn--", "xn--a", "a.test", "\u00fc.test", "\\", "\t", "\n",
    "0x7f.1", "127.1", "2130706433", "user:pass@", ";jsessionid=1", "utm_source=x", "\ud800",
    "javascript:", "data:", "a" * 70, "\u202e", "\u3002", "\uff0e",
]  # fmt: skip
ROBOTS = [
    "User-agent: *\n", "User-agent: treasure\n", "Disallow: /", "Allow: /*.html$\n", "\n", "*", "$",
    "Crawl-delay: ", "1e999", "nan", "-1", "Sitemap: http://a.test/s.xml\n", "Request-rate: 1/0\n",
    "Request-rate: 1/5 0600-0845\n", "\0", "\ufeff", ": :", "Visit-time: 25-99\n", "%zz",
]  # fmt: skip
SITEMAP = [
    '<?xml version="1.0"?>', "<urlset>", "</urlset>", "<sitemapindex>", "<sitemap>", "<url>",
    "</url>", "<loc>", "</loc>", "http://a.test/", "<lastmod>", "2024-13-45",
    "9999-12-31T23:59:60Z",
    "</lastmod>", "<rss><channel><item><link>", '<!DOCTYPE x [<!ENTITY a "b">]>', "&a;",
    "<![CDATA[", "]]>", "\n", "xmlns='x'",
]  # fmt: skip
QUERY = [
    '"', "(", ")", "-", "OR", "AND", "NOT", "site:", "a.test", "topic:", "ddc:", "520", "*",
    "stars", "lang:", "after:", "2024-01-01", "'", ";", "--", ":", " ", "\0", "NEAR/3",
]  # fmt: skip
TOML = [
    "[[topic]]", "[topic]", "\n", "name", " = ", '"stars"', "numbers", "[", "]", '"523"', ",", "{",
    "}", "keywords", "examples", "languages", "#", "1e9", "true", '"', "'''", "1979-05-27",
]  # fmt: skip
