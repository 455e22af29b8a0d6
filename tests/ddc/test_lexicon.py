import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treasure
from tests.ddc.conftest import NO_BACKGROUND
from treasure.ddc.classes import parse, problems, read_folder
from treasure.ddc.container import load, replace
from treasure.ddc.lexicon import SETTING, Lexicon
from treasure.ddc.numbers import class_of
from treasure.ddc.pack import digest, pack
from treasure.errors import LexiconError
from treasure.text import VOCABULARY, words

SOURCE = Path("data/ddc")


def match(lexicon, text):
    return lexicon.match(VOCABULARY.ids(words(text)))


def found(lexicon, text):
    return [lexicon.term(term) for term in match(lexicon, text).term.tolist()]


def numbers_of(lexicon, term):
    """Return the numbers that a term points to."""
    span = slice(*lexicon.posting_start[lexicon.find(term) :][:2])
    return [lexicon.numbers[number] for number in lexicon.posting_number[span]]


def test_forms_of_a_word_have_one_stem(small):
    assert found(small, "Butterflies!") == ["butterfly"]


def test_the_longest_phrase_wins_then_words(small):
    assert found(small, "the American Civil War") == ["american civil war"]
    assert found(small, "American civil wars' history") == ["american civil war history"]
    assert found(small, "the civil war of stars") == ["civil war", "star"]
    assert found(small, "a monarch butterfly, a butterfly") == ["monarch butterfly", "butterfly"]


def test_a_phrase_cut_short_at_the_end_is_no_phrase(small):
    assert found(small, "american civil") == []
    assert found(small, "american civil war american civil") == ["american civil war"]


def test_stop_words_are_skipped_inside_phrases_but_unknown_words_are_not(small):
    hits = match(small, "a civil and a war")
    assert [small.term(t) for t in hits.term.tolist()] == ["civil war"]
    assert (hits.start.tolist(), hits.stop.tolist()) == ([1], [5])
    assert found(small, "civil xyzzy war") == []


def test_positions_count_words_of_the_text(small):
    hits = match(small, "On stars, planets and the monarch butterfly")
    assert hits.start.tolist() == [1, 2, 5]
    assert hits.stop.tolist() == [2, 3, 7]


def test_texts_without_known_words(small):
    for text in ("", "12 34 56", "Ψυχή 星座 звезда", "zzz " * 10):
        assert len(match(small, text)) == 0


def test_words_met_after_loading_are_unknown(small):
    VOCABULARY["neverseenbeforequux"]
    assert found(small, "neverseenbeforequux star") == ["star"]


def naive(lexicon, terms):
    """Match as the docstring says, slowly."""
    phrases = {}
    for term in range(lexicon.size):
        span = slice(lexicon.term_start[term], lexicon.term_start[term + 1])
        stems = lexicon.vocabulary_ids[lexicon.term_stems[span]]
        phrases[tuple(stems.tolist())] = term
    kept = [(place, term) for place, term in enumerate(terms.tolist()) if term >= 0]
    result, at = [], 0
    while at < len(kept):
        for size in range(min(8, len(kept) - at), 0, -1):
            term = phrases.get(tuple(t for _, t in kept[at : at + size]))
            if term is not None:
                result.append((term, kept[at][0], kept[at + size - 1][0] + 1))
                at += size
                break
        else:
            at += 1
    return result


@given(
    st.lists(st.sampled_from(words("american civil war history of the monarch butterfly star x")))
)
def test_matching_equals_a_slow_search(small, text):
    terms = VOCABULARY.ids(text)
    hits = small.match(terms)
    got = zip(hits.term.tolist(), hits.start.tolist(), hits.stop.tolist(), strict=True)
    assert list(got) == naive(small, terms)


def test_our_own_phrases_match_as_slowly_searched():
    lexicon = Lexicon.load()
    rng = np.random.default_rng(1)
    text = " ".join(lexicon.term(int(t)) for t in rng.integers(0, lexicon.size, 400))
    terms = VOCABULARY.ids(words(text))
    hits = lexicon.match(terms)
    got = zip(hits.term.tolist(), hits.start.tolist(), hits.stop.tolist(), strict=True)
    assert list(got) == naive(lexicon, terms)


def test_names_fall_back_to_the_class_above(small):
    assert small.name("595.789") == "butterflies"
    assert small.name("595.78") == "insects"
    assert small.name("520") == small.name("52") == "astronomy"
    assert small.name("640") == ""
    assert "595.7" in small
    assert "595.78" not in small
    assert "155" not in small  # there only as the class of 155.95


def test_terms_and_numbers_find_each_other(small):
    assert numbers_of(small, "clothings") == ["155.95", "391", "746.92"]
    assert small.find("american civil wars") is not None
    assert small.find("american civil") is None
    assert small.find("unheard") is None
    assert [term for term in small.surfaces if numbers_of(small, term) == ["299"]] == [
        "shinto",
        "taoism",
        "voodoo",
    ]


def test_the_packed_lexicon_is_current():
    assert Lexicon.load().meta["source"] == digest(SOURCE), "run: treasure ddc pack"


def test_our_text_has_no_problems():
    assert list(problems(read_folder(SOURCE))) == []


FORM_CLASS = re.compile(
    r"0[1345678]\d"  # bibliographies, encyclopedias, magazines, ... by language or place
    r"|000|[1-24-9]0\d"  # the main classes' own forms: dictionaries, journals, societies, ...
    r"|31\d|4\d3"  # statistics by place, dictionaries by language
)


def test_every_topical_class_has_20_terms():
    lexicon = Lexicon.load()
    terms = np.repeat(np.arange(lexicon.size), np.diff(lexicon.posting_start))
    held: dict[str, set[int]] = {}
    for term, number in zip(terms.tolist(), lexicon.posting_number.tolist(), strict=True):
        held.setdefault(class_of(lexicon.numbers[number]), set()).add(term)
    assert lexicon.size >= 25_000
    assert len(held) >= 900
    thin = {c: len(t) for c, t in held.items() if len(t) < 20 and not FORM_CLASS.fullmatch(c)}
    assert not thin


def test_ours_holds_the_numbers_of_the_papers():
    lexicon = Lexicon.load()
    assert {"155.95", "391", "746.92"} <= set(numbers_of(lexicon, "clothing"))
    assert "595.789" in numbers_of(lexicon, "butterflies")


def test_every_number_of_ours_has_a_name():
    lexicon = Lexicon.load()
    assert [number for number in lexicon.numbers if number not in lexicon] == []


def test_an_edition_of_ones_own_takes_the_place_of_ours(tmp_path, monkeypatch):
    path = tmp_path / "own.bin"
    classes = parse(["123.456789 | gnomes | gnome"], "own")
    replace(path, pack(classes, NO_BACKGROUND, {"title": "own"}))
    monkeypatch.setenv(SETTING, str(path))
    lexicon = Lexicon.load()
    assert lexicon.meta["title"] == "own"
    assert lexicon is Lexicon.load(str(path))
    assert found(lexicon, "gnomes") == ["gnome"]
    monkeypatch.setenv(SETTING, str(tmp_path / "none.bin"))
    with pytest.raises(LexiconError, match=r"There is no packed lexicon .*none.bin"):
        Lexicon.load()


def test_a_lexicon_of_another_version_is_named(tmp_path):
    from treasure.ddc.container import dump, pack_strings

    replace(tmp_path / "old.bin", dump({"numbers": pack_strings(["5"])}, {}))
    with pytest.raises(LexiconError, match="was packed by another version"):
        Lexicon.load(str(tmp_path / "old.bin"))


@pytest.mark.parametrize(
    "name", ["term_start", "term_stems", "posting_start", "posting_number", "faint_number"]
)
def test_a_damaged_lexicon_is_named(name):
    classes = parse(["123.4 | gnomes | gnome; garden gnome", "5 | science | science"], "own")
    arrays, meta = load(pack(classes, NO_BACKGROUND, {}), "own")
    for wrong in (-1, 99):
        damaged = arrays[name].astype(np.int32)
        damaged[1] = wrong
        with pytest.raises(LexiconError, match=r"own is damaged\. Pack or import it again\."):
            Lexicon({**arrays, name: damaged}, meta, "own")
    with pytest.raises(LexiconError, match="own is damaged"):
        Lexicon({**arrays, name: arrays[name][:-1]}, meta, "own")


def test_it_loads_from_a_zipped_egg(tmp_path):
    package = Path(treasure.__file__).parent
    egg = tmp_path / "treasure.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        folders = [package / "core", package / "ddc"]
        for path in [*package.glob("*.py"), *(p for f in folders for p in f.rglob("*"))]:
            if path.is_file() and path.suffix in {".py", ".bin"}:
                archive.write(path, path.relative_to(package.parent))
    code = (
        "import treasure.ddc.lexicon as m; print(m.__file__); l = m.Lexicon.load();"
        "print(l.size, l.name('595.789'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(egg)}
    environment.pop(SETTING, None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=True,
    )
    where, answer = done.stdout.splitlines()
    assert where.startswith(str(egg))
    assert answer == f"{Lexicon.load().size} butterflies"


@given(st.lists(st.sampled_from("american civil war history monarch butterfly star zzz".split())))
def test_phrases_are_found_from_the_left_the_longest_first(small, text):
    known = {tuple(words(term)): term for term in small.surfaces}
    expected, place = [], 0
    while place < len(text):
        sizes = [n for n in range(4, 0, -1) if tuple(text[place : place + n]) in known]
        if sizes:
            expected.append(known[tuple(text[place : place + sizes[0]])])
        place += sizes[0] if sizes else 1
    assert found(small, " ".join(text)) == expected
