"""Words, compiled and uncompiled."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.core.both import both

INSTALLED, UNCOMPILED = both("words")


def read(words, text, known):
    table = np.zeros(((1 << (64 - words.SHIFT)) + 1, 2), np.uint64)
    table[:2] = 1
    for number, word in enumerate(known, -1):
        words.keep(table, word, number)
    found, begins, ends, marks, missing = words.cut(text, 1, table)
    named = found.tolist()
    for at in missing:
        named[at] = None
    return named, begins.tolist(), ends.tolist(), marks.tolist(), missing


TEXTS = st.lists(
    st.one_of(st.sampled_from([b" ", b"\x01", b"\n", b"the", b"Sun"]), st.binary(max_size=30))
).map(b"".join)


@given(TEXTS, st.lists(st.binary(min_size=1, max_size=30), max_size=5))
def test_compiled_and_uncompiled_read_the_same(text, known):
    known = [b"the", *known]
    assert read(INSTALLED, text, known) == read(UNCOMPILED, text, known)


@given(TEXTS)
def test_words_are_runs_of_bytes_above_a_space(text):
    spaces = bytes(range(33))
    _, begins, ends, marks, _ = read(INSTALLED, text, [])
    words = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    assert words == text.translate(bytes(32 if b in spaces else b for b in range(256))).split()
    assert len(marks) == text.count(b"\x01")
    assert marks == sorted(marks)


@given(st.binary(max_size=30))
def test_hashes_are_the_same_uncompiled(word):
    assert INSTALLED.hash_of(word) == UNCOMPILED.hash_of(word)
    assert (INSTALLED.hash_of(word) == 0) == (len(word) > INSTALLED.MOST_BYTES)
