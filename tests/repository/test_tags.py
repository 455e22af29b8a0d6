"""Filters as words of the index."""

from __future__ import annotations

from treasure.repository.tags import TIERS, tag, tags_of, tier


def test_sites_and_numbers_count_with_all_that_they_lie_in() -> None:
    found = tags_of(
        job="a",
        host="www.Example.org:8080",
        topic="",
        language="en",
        relevance=0.5,
        numbers=[("523.81", 0.7), ("004", 0.2), ("900", 0.01)],
    ).split()
    for site in ("www.example.org:8080", "www.example.org", "example.org", "org"):
        assert tag("site", site) in found
    for number in ("5", "52", "523", "523.8", "523.81", "0", "00", "004"):
        assert tag("number", number) in found
    assert tag("number", "900") not in found
    assert tag("lang", "EN ") in found


def test_tags_are_single_words_that_stemming_leaves_alone() -> None:
    import Stemmer

    for value in ("running", "ponies", "a b c", "é"):
        word = tag("topic", value)
        assert word.isascii()
        assert word.isalnum()
        assert Stemmer.Stemmer("porter").stemWord(word) == word


def test_tiers() -> None:
    assert [tier(r) for r in (-1, 0, 0.049, 0.05, 0.999, 1, 2)] == [0, 0, 0, 1, *[TIERS - 1] * 3]
