"""Addresses of clean links, compiled, uncompiled and the slow way."""

from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.both import both
from treasure import urls

MODULES = both("hrefs")
PIECES = (
    "http://", "https://", "HTTP:", "//", "/", "\\", ".", "..", "a", "B9", "_", "~", "-", "(S(",
    ":", "@", "?", "q=1", "#", "%41", ";", "&", "é", " ", "\n", "host.test", "host.test/",
    "other.test:8080/",
)  # fmt: skip
LINKS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
BASES = st.sampled_from(
    [
        "http://host.test/a/b.html",
        "https://host.test",
        "http://host.test:80/a/",
        "http://HOST.test/a/b",
        "http://host.test/a/../b/c?d=/e/",
        "http://host.test/(S(x))/b",
        "http://h/%41/b",
        "file:///a/b",
        "",
    ]
)


@given(BASES, LINKS)
@example("http://host.test/a/b.html", "x" * urls.MAX_URL_CHARACTERS)
@example("http://host.test/a/b.html", "/" + "x" * (urls.MAX_URL_CHARACTERS - 17))
@example("http://host.test/a/b.html", "/" + "x" * (urls.MAX_URL_CHARACTERS - 16))
def test_a_clean_link_is_what_the_slow_way_makes_of_it(base, href):
    def otherwise(href):
        asked.append(href)
        return urls.canonical(urls.join(base, href))

    asked = []
    expected = urls.canonical(urls.join(base, href))
    bases = urls._clean_base(base)
    for module in MODULES:
        resolve = module.Hrefs(
            *bases, urls._is_canonical_origin, otherwise, urls.MAX_URL_CHARACTERS
        )
        assert resolve(href) == expected
    assert urls.resolver(base, otherwise)(href) == expected
    assert len(asked) in (0, 3)


def test_clean_links_are_not_asked_for():
    resolve = urls.resolver("http://host.test/a/b.html", lambda href: "asked")
    assert resolve("c.html") == "http://host.test/a/c.html"
    assert resolve("/c/d:e") == "http://host.test/c/d:e"
    assert resolve("https://other.test/x/") == "https://other.test/x/"
    assert resolve("../c.html") == resolve("") == resolve("#x") == resolve("//o.test/") == "asked"
