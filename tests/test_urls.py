"""URL identity: the table of rules, and rubbish that must not raise."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from treasure import urls
from treasure.urls import (
    MAX_URL_CHARACTERS,
    canonical,
    host_of,
    is_respelt,
    join,
    name_of,
    url_key,
)

E = "http://example.org"
HEX = "0123456789abcdef0123456789abcdef"

# What comes in, what it is. docs/scaling.md shows the same rules in words.
TABLE = [
    # already canonical
    (f"{E}/", f"{E}/"),
    (f"{E}/a/b.html", f"{E}/a/b.html"),
    ("https://www.example.org/A/b-c_d~e", "https://www.example.org/A/b-c_d~e"),
    # scheme, host, port
    (E, f"{E}/"),
    ("HTTP://EXAMPLE.ORG/Path", f"{E}/Path"),
    ("http:example.org/a", f"{E}/a"),
    ("http:/example.org/a", f"{E}/a"),
    ("http:\\\\example.org\\a", f"{E}/a"),
    ("http://example.org./a", f"{E}/a"),
    (f"{E}:80/a", f"{E}/a"),
    (f"{E}:/a", f"{E}/a"),
    (f"{E}:8080/a", f"{E}:8080/a"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("https://example.org:80/a", "https://example.org:80/a"),
    ("https://example.org:0443/a", "https://example.org/a"),
    ("http://user:secret@example.org/a", f"{E}/a"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ("http://straße.example/", "http://xn--strae-oqa.example/"),
    ("http://i❤.example/", "http://xn--i-7iq.example/"),
    ("http://example。org/", f"{E}/"),
    ("http://ex%61mple.org/", f"{E}/"),
    ("http://under_score.example.org/", "http://under_score.example.org/"),
    ("http://localhost:6800/", "http://localhost:6800/"),
    ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://0x7f000001/", "http://127.0.0.1/"),
    ("http://[::1]:8000/", "http://[::1]:8000/"),
    ("http://[0:0::0001]/", "http://[::1]/"),
    # path
    (f"{E}/a/../b/./c", f"{E}/b/c"),
    (f"{E}/../../a", f"{E}/a"),
    (f"{E}/%7euser/%c3%a9", f"{E}/~user/%C3%A9"),
    (f"{E}/é", f"{E}/%C3%A9"),
    (f"{E}/a b", f"{E}/a%20b"),
    (f"  {E}/a\n", f"{E}/a"),
    (f"{E}/a\nb", f"{E}/ab"),
    (f"{E}/a//b", f"{E}/a//b"),
    (f"{E}/a;v=1", f"{E}/a;v=1"),
    # query
    (f"{E}?", f"{E}/"),
    (f"{E}?a=1", f"{E}/?a=1"),
    (f"{E}/?b=2&a=1", f"{E}/?a=1&b=2"),
    (f"{E}/?b=2&b=1&a", f"{E}/?a=&b=1&b=2"),
    (f"{E}/?a=&b=1", f"{E}/?a=&b=1"),
    (f"{E}/?q=two%20words", f"{E}/?q=two+words"),
    (f"{E}/?q=%c3%a9", f"{E}/?q=%C3%A9"),
    (f"{E}/?&&a=1&", f"{E}/?a=1"),
    # fragment
    (f"{E}/a#top", f"{E}/a"),
    (f"{E}/a?b=1#!/c", f"{E}/a?b=1"),
    (f"{E}#a?b", f"{E}/"),
    # tracking
    (f"{E}/a?utm_source=x&utm_medium=y", f"{E}/a"),
    (f"{E}/a?id=7&UTM_Campaign=z&fbclid=abc", f"{E}/a?id=7"),
    (f"{E}/a?gclid=1&b=2&a=1&mc_eid=9", f"{E}/a?a=1&b=2"),
    (f"{E}/a?utm=1", f"{E}/a?utm=1"),
    # sessions
    (f"{E}/a;jsessionid=8F3A?x=1", f"{E}/a?x=1"),
    (f"{E}/a;JSESSIONID=8F3A/b", f"{E}/a/b"),
    (f"{E}/a?PHPSESSID={HEX}&x=1", f"{E}/a?x=1"),
    (f"{E}/forum?t=5&sid={HEX}", f"{E}/forum?t=5"),
    (f"{E}/forum?sid=5", f"{E}/forum?sid=5"),
    (f"{E}/(S(lit3py55t21z5v55vlm25s55))/a.aspx", f"{E}/a.aspx"),
    (f"{E}/?ASPSESSIONIDABCD=xyz&a=1", f"{E}/?a=1"),
    # no addresses
    ("", ""),
    ("example.org/a", ""),
    ("//example.org/a", ""),
    ("ftp://example.org/", ""),
    ("mailto:a@example.org", ""),
    ("javascript:void(0)", ""),
    ("data:text/html,hello", ""),
    ("http://", ""),
    ("http:///", ""),
    ("http://:80/", ""),
    ("http://example.org:0/", ""),
    ("http://example.org:99999/", ""),
    ("http://example.org:port/", ""),
    ("http://exa mple.org/", ""),
    ("http://[::1/", ""),
    ("http://[zz]/", ""),
    ("http://-example.org/", ""),
    ("http://example..org/", ""),
    ("http://999.999.999.999/", ""),
    ("http://" + "a" * 64 + ".org/", ""),
    ("http://" + "a." * 130 + "org/", ""),
    (f"{E}/" + "a" * MAX_URL_CHARACTERS, ""),
]


@pytest.mark.parametrize(("url", "expected"), TABLE)
def test_table(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize("url", sorted({expected for _, expected in TABLE if expected}))
def test_canonical_addresses_stay(url: str) -> None:
    assert canonical(url) == url


BASE = "https://example.org/dir/page.html?x=1#y"
JOINS = [
    (BASE, "b.html", "https://example.org/dir/b.html"),
    (BASE, "sub/b.html", "https://example.org/dir/sub/b.html"),
    (BASE, "../b", "https://example.org/b"),
    (BASE, "./b", "https://example.org/dir/b"),
    (BASE, "/b?q=1", "https://example.org/b?q=1"),
    (BASE, "//other.org/b", "https://other.org/b"),
    (BASE, "\\\\other.org/b", "https://other.org/b"),
    (BASE, "http://other.org", "http://other.org/"),
    (BASE, "HTTPS://OTHER.org", "https://other.org/"),
    (BASE, " b.html\n", "https://example.org/dir/b.html"),
    (BASE, "?y=2", "https://example.org/dir/page.html?y=2"),
    (BASE, "#z", "https://example.org/dir/page.html?x=1"),
    (BASE, "", "https://example.org/dir/page.html?x=1"),
    (BASE, "a:b", ""),
    (BASE, "mailto:a@example.org", ""),
    (BASE, "javascript:void(0)", ""),
    (BASE, "tel:123", ""),
    ("https://example.org", "b", "https://example.org/b"),
    ("https://example.org?x", "b", "https://example.org/b"),
    ("https://example.org/a/", "b", "https://example.org/a/b"),
    ("https://example.org/a/?u=/x/y", "b", "https://example.org/a/b"),
    ("no base", "b", ""),
    ("no base", "http://a.org/b", "http://a.org/b"),
    ("", "/b", ""),
    ("http://", "b", ""),
]


@pytest.mark.parametrize(("base", "href", "expected"), JOINS)
def test_join(base: str, href: str, expected: str) -> None:
    assert canonical(join(base, href)) == expected


def test_host() -> None:
    assert host_of("https://www.example.org/a/b") == "www.example.org"
    assert host_of("http://127.0.0.1:8000/a") == "127.0.0.1:8000"
    assert host_of("http://[::1]:8000/a") == "[::1]:8000"
    assert host_of("nonsense") == host_of("") == host_of("ftp://a/b") == ""
    assert name_of("127.0.0.1:8000") == "127.0.0.1"
    assert name_of("[::1]:8000") == "[::1]"
    assert name_of("[::1]") == "[::1]"
    assert name_of("example.org") == "example.org"


def test_keys_differ_and_last() -> None:
    assert url_key("http://example.org/") == 4_654_873_767_771_525_413
    assert len({url_key(f"{E}/{n}") for n in range(10_000)}) == 10_000


rubbish = st.text(max_size=60) | st.text(alphabet="htps:/\\.#?&=%[]@;()aA1é~ \t", max_size=60)
addresses = st.builds(
    "{}{}".format, st.sampled_from(["http://", "https://a.org/", f"{E}/?"]), rubbish
)


@given(rubbish | addresses)
@example("http://a/?%")
@example("http://a/%25%32%35")
@example("http://a/;?a")
@example("http://a/\ud800")
@example("http://[::1%eth0]/")
def test_rubbish_never_raises_and_settles(text: str) -> None:
    url = canonical(text)
    assert canonical(url) == url
    assert url == "" or (url.isascii() and url.startswith(("http://", "https://")))
    assert bool(url) == bool(host_of(url))
    url_key(text)


@given(rubbish | addresses, rubbish | addresses)
def test_joining_rubbish_never_raises(base: str, href: str) -> None:
    canonical(join(base, href))
    host_of(base)


names = st.sampled_from(["a", "b.html", "c-d", "~e", "f_g", "h_(i)", "j,k!$&'*+=@l", "m%2C", "7:o"])
paths = st.lists(names, max_size=4).map("/".join)


@given(paths, paths, st.sampled_from(["", "/", "./", "../", "../../../", "?a=1&b=2"]))
def test_the_fast_roads_lead_where_the_slow_ones_do(path: str, href: str, prefix: str) -> None:
    base = f"https://www.example.org/{path}"
    if (prefix + href).startswith("//"):
        return
    expected = str(canonicalize_url(urljoin(base, prefix + href)))
    assert canonical(join(base, prefix + href)) == expected


parameters = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c.d", "É", "x y"]), st.text("aZ9.-é+=%", max_size=4)),
    max_size=5,
)


@given(parameters)
def test_queries_are_written_as_w3lib_writes_them(pairs: list[tuple[str, str]]) -> None:
    url = f"{E}/p?" + "&".join(f"{name}={value}" for name, value in pairs)
    assert canonical(url) == str(canonicalize_url(url))


@given(
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-z0-9][a-z0-9.-]{0,20}", fullmatch=True),
    st.sampled_from(["", ":80", ":443", ":8080", ":0", ":080", ":65536", ":99999"]),
    st.from_regex(r"/[A-Za-z0-9_~./-]{0,20}", fullmatch=True),
)
def test_hosts_with_ports_and_numbers_as_on_the_slow_road(
    scheme: str, host: str, port: str, path: str
) -> None:
    url = f"{scheme}://{host}{port}{path}"
    assert canonical(url) == urls._canonical_slow(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "0x7f.1", "10.0.0.300", "1.2.3.4:80"])
def test_numbers_for_a_name(host: str) -> None:
    url = f"http://{host}/a/b.html"
    assert canonical(url) == urls._canonical_slow(url)


@pytest.mark.parametrize(
    ("url", "named", "same"),
    [
        (f"{E}/a", "https://example.org/a", True),
        (f"{E}/a/", f"{E}/a", True),
        (f"{E}/a/index.html", f"{E}/a/", True),
        (f"{E}/Default.aspx?id=3", "https://example.org/?id=3", True),
        (f"{E}/a", f"{E}/a", False),
        (f"{E}/a", "", False),
        (f"{E}/a/b.html", f"{E}/", False),
        (f"{E}/a?page=2", f"{E}/a", False),
        (f"{E}/a?lang=de", f"{E}/a?lang=en", False),
        (f"{E}/a", "http://www.example.org/a", False),
        (f"{E}/a", "http://example.org:8080/a", False),
        (f"{E}/a/index.html.bak", f"{E}/a/", False),
        (f"{E}/a?u=/index.html", f"{E}/a?u=", False),
    ],
)
def test_another_spelling_of_an_address(url: str, named: str, same: bool) -> None:
    """What rel=canonical may name without being fetched itself."""
    assert is_respelt(url, named) is same
    assert is_respelt(named, url) is same
