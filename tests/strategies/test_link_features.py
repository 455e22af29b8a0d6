"""What addresses tell."""

from __future__ import annotations

import re
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.strategies.evidence import URL_TERMS, Evidence
from treasure.strategies.link_features import Kinds, place
from treasure.text import VOCABULARY, words

NOISE = "htm html shtml php asp aspx jsp cgi index default www com org net".split()


def placed(urls: list[str], source: str = "a.org") -> tuple[dict[str, np.ndarray], Kinds]:
    evidence, kinds = Evidence(10_000), Kinds()
    rows, _ = evidence.rows(list(range(len(urls))))
    place(evidence, kinds, rows, urls, source)
    return {name: column[rows] for name, column in evidence.column.items()}, kinds


def test_links_of_a_kind_have_one_number() -> None:
    urls = ["https://a.org/", "https://a.org/b/c/one.html", "https://a.org/b/c/two.html?x=/y/"]
    urls += ["https://a.org/b/three.PNG", "https://b.org/b/c/index.html"]
    column, _ = placed(urls)
    for name, numbers in {
        "host": [0, 0, 0, 0, 1],
        "section": [0, 1, 1, 1, 2],
        "folder": [0, 1, 1, 2, 3],
        "shape": [0, 1, 1, 2, 3],
    }.items():
        found = column[name].tolist()
        first = {number: at for at, number in reversed(list(enumerate(found)))}
        expected = {number: at for at, number in reversed(list(enumerate(numbers)))}
        assert [first[n] for n in found] == [expected[n] for n in numbers], name
    assert (column["way"] >= 0).tolist() == [False] * 4 + [True]
    assert column["media"].tolist() == [False, False, False, True, False]
    assert column["front"].tolist() == [True, False, False, False, True]


PARTS = ["/", "?", "%20", "%2F", "%252C", "%01", "%C3%A9", "%", "owl", "Owl", "barnOwl", "index"]
PARTS += ["-", ".html", "&x=", "3", "%CE%A3", "NEST"]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), min_size=1, max_size=6))
def test_the_last_words_of_an_address_are_kept(paths: list[str]) -> None:
    column, _ = placed([f"https://b.org/{path}" for path in paths])
    for path, found in zip(paths, column["url_terms"].tolist(), strict=True):
        written = unquote(unquote(path, errors="replace"), errors="replace")
        spelled = words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", written))[-URL_TERMS:]
        terms = [VOCABULARY.met(word) for word in spelled if word not in NOISE]
        expected = list(dict.fromkeys(term for term in terms if term >= 0))
        assert found == expected + [-1] * (URL_TERMS - len(expected))


def test_a_continued_crawl_numbers_on() -> None:
    urls = [f"https://{name}.org/x/y" for name in "abc"]
    _, first = placed(urls)
    again = Kinds()
    again.folder("https://c.org/x")
    again.restore(first.state())
    assert [again.folder(url.rpartition("/")[0]) for url in urls] == [
        first.folder(url.rpartition("/")[0]) for url in urls
    ]


def test_numbers_that_no_kind_can_have_are_none() -> None:
    kinds, rows = Kinds(), np.full((2, 29), 7, np.int32)
    rows[1, [0, 13, 28]] = 1 << 30
    kinds.check(rows)
    assert (rows[0] == 7).all()
    assert np.flatnonzero(rows[1] < 0).tolist() == [0, 13, 28]


@pytest.mark.parametrize("count", [1, 5_000])
def test_any_number_of_addresses(count: int) -> None:
    column, _ = placed([f"https://a.org/{n}/x.html" for n in range(count)])
    assert len(set(column["folder"].tolist())) == count
