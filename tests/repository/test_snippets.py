"""Snippets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from treasure.repository.snippets import Piece, mark, snippet, stems_of


def plain(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_the_window_with_most_different_hits_is_chosen() -> None:
    filler = "nothing here to see at all " * 20
    text = filler + "giants giants giants. " + filler + "Red giants grow. " + filler
    found = snippet(text, stems_of(["red", "giant"]), width=70)
    assert [piece.text for piece in found if piece.marked] == ["Red", "giants"]
    assert plain(found).startswith("… ")
    assert plain(found).endswith(" …")


def test_without_hits_the_text_begins_at_its_beginning() -> None:
    assert plain(snippet("one two three four", stems_of(["x"]), width=12)) == "one two three …"
    assert snippet("", stems_of(["x"])) == []


def test_forms_and_accents_count() -> None:
    found = mark("Cafés and CAFE", stems_of(["cafe"]))
    assert [piece.text for piece in found if piece.marked] == ["Cafés", "CAFE"]


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=4), max_size=4))
def test_nothing_is_lost_or_added(text: str, tokens: list[str]) -> None:
    assert plain(mark(text, stems_of(tokens))).split() == text.split()
    inner = plain(snippet(text, stems_of(tokens))).removeprefix("… ").removesuffix(" …")
    assert " ".join(inner.split()) in " ".join(text.split())
