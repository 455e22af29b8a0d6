"""What addresses say: compiled, uncompiled, and told plainly."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

INSTALLED, UNCOMPILED = both("addresses")
BOTH = pytest.mark.parametrize("module", [INSTALLED, UNCOMPILED], ids=["installed", "uncompiled"])
PLAIN = re.compile(
    r"https?://(?!\d{4})[^/?]++"  # a host that does not begin like a date
    r"(?:/[^/?&\d]*+(?:\d{1,3}+(?!\d)[^/?&\d]*+)*+){1,3}+\Z"
)


@BOTH
def test_an_address_is_cut_into_folder_name_and_ending(module):
    asked: list[tuple[str, str]] = []

    def number_of(kind):
        def number(name):
            asked.append((kind, name))
            return len(asked)

        return number

    def folder(address):
        host = address.split("/")[2]
        return host, 101, 102, 103, [address]

    names = folder, number_of("host"), number_of("shape"), lambda ending: ending == "b.png"
    urls = ["http://a.org/x/y.html?q=/z.png", "http://b.org/", "http://b.org/x/Index.b.png"]
    urls.append("http://b.org/x/y.0123456789abcdef")
    kinds = np.full((6, 29), -7, np.int32)
    media, front = np.full((2, 6), 9, np.uint8)
    columns = kinds, None, None, None, None, media
    above, rests = module.place(
        [1, 2, 4, 5], urls, "a.org", names, frozenset({"", "index"}), columns, front
    )
    assert above == [["http://a.org/x"], ["http://b.org"], ["http://b.org/x"], ["http://b.org/x"]]
    assert rests == ["/y.html?q=/z.png", "/", "/Index.b.png", "/y.0123456789abcdef"]
    assert asked == [
        ("shape", "a.org html"),
        ("host", "a.org"),
        ("shape", "b.org "),
        ("shape", "b.org b.png"),
        ("shape", "b.org 456789abcdef"),
    ]
    assert kinds[[1, 2, 4, 5], :5].tolist() == [
        [1, -1, 101, 102, 103],
        [3, 2, 101, 102, 103],
        [4, 2, 101, 102, 103],
        [5, 2, 101, 102, 103],
    ]
    assert (kinds[:, 5:] == -7).all()
    assert (kinds[[0, 3]] == -7).all()
    assert media.tolist() == [9, 0, 0, 9, 1, 0]
    assert front.tolist() == [9, 0, 1, 9, 1, 0]


WORDS = st.lists(st.sampled_from(["owl", "new", "html", "nest"]), max_size=5)


@BOTH
@given(st.lists(st.tuples(WORDS, WORDS), max_size=4))
def test_the_last_words_have_numbers(module, addresses):
    known = {"owl": 0, "nest": 5, "html": 7}
    found = module.numbers(
        [above for above, _ in addresses],
        [own for _, own in addresses],
        4,
        frozenset({"html"}),
        known.get,
        lambda word: -len(word),
    )
    assert found == [
        [known.get(word, -3) for word in [*above, *own][-4:] if word != "html"]
        for above, own in addresses
    ]


PIECES = st.sampled_from("/ / / . & ? 1 12 199 1999 ٣ ٣٣٣ a é x.html %20 @ :80".split())
ORIGINS = st.sampled_from(
    "http:// https:// http://a.org https://1234.org https://123.org http://a1234.org http://a&b"
    " http://a1/ ftp://a.org HTTP://a.org a.org/".split()
)


@BOTH
@given(ORIGINS, st.lists(PIECES))
def test_plain_addresses(module, origin, pieces):
    url = origin + "".join(pieces)
    assert module.is_plain(url, 3) == bool(PLAIN.match(url))
