"""Traps that no rule about addresses knows: pages that say the same, each with a link to more."""

import numpy as np

from treasure.admission import Admission
from treasure.copies import Copies, sketch
from treasure.frontier.base import Entry, Lease
from treasure.pages import EMPTY, Link, Page

WORDS = np.arange(1_000, 1_150, dtype=np.int32)


def said(*others: int) -> np.ndarray:
    return np.concatenate([WORDS, np.array(others, np.int32)])


def pages_until_the_chain_ends(admission: Admission, changing: int, most: int = 5_000) -> int:
    """Follow a chain of pages, each with so many words of its own, until its link is refused."""
    for number in range(most):
        url = f"http://host.test/cal/x/{number}"
        terms = said(*range(10_000 + number * changing, 10_000 + (number + 1) * changing))
        page = Page(url, "", EMPTY, "", terms, [], [], [])
        link = Link(f"http://host.test/cal/x/{number + 1}", EMPTY, "next", 0, "", False, number)
        if not admission.admit(page, [link], Lease(1, Entry(url, 0.5, 0), 0.5, 0.0, False, 0)):
            return number
    return most


def test_a_chain_of_copies_ends():
    admission = Admission()
    assert pages_until_the_chain_ends(admission, 0) == 400
    assert dict(admission.refused) == {"trap: the same page again": 1}


def test_words_that_change_do_not_hide_it():
    assert pages_until_the_chain_ends(Admission(), 3) < 800


def test_pages_of_their_own_go_on():
    assert pages_until_the_chain_ends(Admission(), 150) == 5_000


def test_hosts_do_not_count_for_each_other():
    copies = Copies(limit=2)
    assert not any(copies.one_more(f"h{number}.test", WORDS) for number in range(100))


def test_a_page_without_words_has_a_sketch_too():
    assert sketch(np.array([], np.int32)) == b""
    copies = Copies(limit=2)
    nothing = np.array([], np.int32)
    assert [copies.one_more("h.test", nothing) for _ in range(5)] == [False] * 4 + [True]
