"""Words looked up all at once."""

import pytest

from treasure import word_table
from treasure.core.words import SHIFT, hash_of
from treasure.word_table import WordTable


@pytest.fixture
def asked():
    return []


@pytest.fixture
def table(asked):
    def number(word):
        asked.append(word)
        return len(word)

    return WordTable(number, "\x01")


def read(table, text):
    numbers, starts, stops, _ = table.read(text)
    return list(zip(numbers.tolist(), starts.tolist(), stops.tolist(), strict=True))


def test_numbers_and_places(table):
    assert read(table, b"to  bee\x01or") == [(2, 0, 2), (3, 4, 7), (2, 8, 10)]
    assert read(table, b"") == read(table, b"  \x01 ") == []


def test_a_word_is_asked_for_once(table, asked):
    words = [b"a", b"eightlet", b"ninelette", b"sixteen-letters!", b"seventeen-letters",
             b"twenty-four-letters-long", "привет".encode()]  # fmt: skip
    text = b" ".join(words)
    first = read(table, text)
    assert [number for number, _, _ in first] == [len(word.decode()) for word in words]
    assert len(asked) == len(words)
    assert read(table, text) == first
    assert len(asked) == len(words)


def test_words_too_long_for_the_table_are_asked_for_each_time(table, asked):
    long = b"x" * (word_table.MOST_BYTES + 1)
    assert read(table, long) == read(table, long) == [(len(long), 0, len(long))]
    assert len(asked) == 2


def test_words_that_differ_late_are_told_apart():
    table = WordTable(lambda word: hash(word) & 0xFFFFFF, "\x01")
    text = b"abcdefghi abcdefghj abcdefghijklmnopq abcdefghijklmnopr abcdefgh"
    numbers = [hash(word) & 0xFFFFFF for word in text.decode().split()]
    for _ in range(2):
        assert [number for number, _, _ in read(table, text)] == numbers


def test_a_full_table_goes_on_asking(table, asked, monkeypatch):
    monkeypatch.setattr(word_table, "MOST_WORDS", 2)
    assert [n for n, _, _ in read(table, b"one three fives")] == [3, 5, 5]
    assert [n for n, _, _ in read(table, b"one three fives")] == [3, 5, 5]
    assert asked == ["one", "three", "fives", "fives"]


def test_two_words_may_stand_side_by_side_and_a_third_is_asked_for(table, asked):
    slots = {}
    for number in range(200_000):
        word = b"w%d" % number
        same = slots.setdefault(hash_of(word) >> SHIFT, [])
        same.append(word)
        if len(same) == 3:
            break
    for _ in range(2):
        assert [n for n, _, _ in read(table, b" ".join(same))] == [len(word) for word in same]
    assert asked == [word.decode() for word in [*same, same[2]]]
