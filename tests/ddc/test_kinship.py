import numpy as np
import pytest
import scipy.sparse as sp

from treasure.ddc.background import UNSEEN, Background, pack, read_vectors
from treasure.ddc.kinship import KIN, MOST_DOTS, PART, faint_dots
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import class_of
from treasure.ddc.weighted import WeightedGalaxy
from treasure.errors import LexiconError


def test_the_class_of_a_number():
    assert [class_of(n) for n in ("5", "52", "595", "595.789", "001")] == [
        "500",
        "520",
        "595",
        "595",
        "001",
    ]


def faint(background, stems=("star", "planet", "heart", "moon")):
    # star and planet are terms of 520, heart of 610; moon is no term.
    postings = sp.csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    return faint_dots(
        stems, [[0], [1], [2]], postings, ["52", "61"], np.ones(len(stems)), background
    ).toarray()


def test_a_word_speaks_for_the_class_whose_terms_keep_its_company():
    vectors = np.array([[1, 0.1], [0.9, 0.2], [0.1, 1], [1, 0]], np.float32)
    dots = faint(Background(["star", "planet", "heart", "moon"], {}, vectors))
    moon = dots[3]
    assert moon.sum() == pytest.approx(KIN)
    assert moon[0] > moon[1]


def test_without_vectors_only_parts_speak():
    dots = faint(Background([], {}, np.zeros((0, 2), np.float32)))
    assert dots[3].sum() == 0
    assert dots[0].tolist() == [pytest.approx(PART), 0]


def test_our_faint_dots_are_few_and_sensible():
    lexicon = Lexicon.load()
    assert np.diff(lexicon.faint_start).max() <= MOST_DOTS
    weighted = WeightedGalaxy(lexicon)
    # Words that are no terms of ours, told by their company alone.
    for word, prefix in (("gleaming", "7"), ("unbeaten", "796"), ("drizzle", "641")):
        galaxy = weighted.classify_text(word)
        assert prefix in {n[: len(prefix)] for n, _ in galaxy.numbers}


def test_our_background_is_common_english():
    background = Background.own()
    assert len(background.stems) == 40_000
    assert background.frequency("school") > background.frequency("telescop") > UNSEEN
    assert background.frequency("xyzzy") == UNSEEN
    np.testing.assert_allclose(np.linalg.norm(background.vectors, axis=1), 1, rtol=1e-5)
    vector = dict(zip(background.stems, background.vectors, strict=True))
    assert vector["planet"] @ vector["moon"] > vector["planet"] @ vector["parliament"]


def test_a_background_is_made_from_published_vectors(tmp_path):
    rng = np.random.default_rng(0)
    names = ["the", "stars", "star", ",", *(f"word{letter}x" for letter in "abcdefgh")]
    lines = [f"{name} {' '.join(map(str, rng.normal(size=100).round(4)))}" for name in names]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n")
    background = Background.unpack(pack(read_vectors(tmp_path / "glove.txt")), "test")
    assert background.stems[0] == "star"  # both forms, and neither "the" nor the comma
    assert len(background.stems) == 9
    assert background.frequency("star") > background.frequency("wordax")


def test_wrong_vectors_are_named(tmp_path):
    (tmp_path / "glove.txt").write_text("the 0.1 0.2\nof 0.3 x\n")
    with pytest.raises(LexiconError, match=r"glove.txt:2: expected a word and its numbers"):
        list(read_vectors(tmp_path / "glove.txt"))
