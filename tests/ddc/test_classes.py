import pytest

from treasure.ddc.classes import add_terms, parse, problems, read_file, read_folder, stems_of
from treasure.errors import LexiconError


def test_a_line_is_number_name_and_terms():
    (entry,) = parse(["520 | astronomy | astronomy; star  gazing;; astronomy"], "x.txt")
    assert entry.number == "52"
    assert entry.name == "astronomy"
    assert entry.terms == ("astronomy", "star gazing")
    assert entry.origin == "x.txt:1"


def test_remarks_and_empty_lines_are_skipped():
    assert not list(parse(["# 520 | a | b", "", "   "], "x.txt"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("52x | a | b", r"5xx.txt:2: '52x' is no Dewey number"),
        ("520 | astronomy", r"5xx.txt:2: expected 'number \| name \| term; term'. Got 2 parts"),
        ("520 |  | star", r"5xx.txt:2: class 520 has no name"),
    ],
)
def test_a_wrong_line_is_named_with_file_and_line(tmp_path, line, message):
    path = tmp_path / "5xx.txt"
    path.write_text(f"# remark\n{line}\n")
    with pytest.raises(LexiconError, match=message):
        read_file(path)


def test_files_that_are_no_text_are_named(tmp_path):
    (tmp_path / "5xx.txt").write_bytes(b"520 | astronomie \xe9 | b")
    with pytest.raises(LexiconError, match="is not UTF-8 text"):
        read_file(tmp_path / "5xx.txt")
    with pytest.raises(LexiconError, match="There is no lexicon text in"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("term", "stems"),
    [
        ("Butterflies", ("butterfli",)),
        ("history of philosophy", ("histori", "philosophi")),
        ("vitamin c deficiency", ("vitamin", "defici")),
        ("x-ray", ()),  # would match every "ray"
        ("catch 22", ()),
        ("the of", ()),
    ],
)
def test_stems_by_which_a_term_is_found(term, stems):
    assert stems_of(term) == stems


def test_problems_are_terms_that_never_match_or_stand_twice():
    found = problems(list(parse(["595 | insects | insect; insects; x-ray"], "x.txt")))
    assert [str(problem) for problem in found] == [
        "x.txt:1: 'insects' has the same stems as 'insect'.",
        "x.txt:1: 'x-ray' can never match: it has no words we keep.",
    ]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "classes").mkdir()
    (tmp_path / "classes" / "5xx.txt").write_text(
        "# head\n520 | astronomy | star\n595 | insects | insect\n"
    )
    return tmp_path


def test_terms_are_added_once_and_in_place(folder):
    path, new = add_terms(folder, "520", ["telescope", "Stars", "telescopes"])
    assert not new
    assert path.read_text().splitlines()[1] == "520 | astronomy | star; telescope"


def test_a_new_number_needs_a_name_and_is_put_in_order(folder):
    with pytest.raises(LexiconError, match=r"523 has no line yet. Give the class a short name"):
        add_terms(folder, "523", ["planet"])
    path, new = add_terms(folder, "523", ["planet"], "planets")
    assert new
    assert [line[:3] for line in path.read_text().splitlines()] == ["# h", "520", "523", "595"]


def test_terms_that_would_break_the_file_or_never_match_are_refused(folder):
    with pytest.raises(LexiconError, match="must not hold"):
        add_terms(folder, "520", ["a|b"])
    with pytest.raises(LexiconError, match="can never match"):
        add_terms(folder, "520", ["x"])
