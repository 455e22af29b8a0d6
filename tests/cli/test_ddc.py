import json
from pathlib import Path

import pytest

from treasure.cli import main
from treasure.ddc.lexicon import SETTING

LINES = "# head\n520 | astronomy | star; telescope\n595.789 | butterflies | butterfly\n"


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "ddc"
    (folder / "classes").mkdir(parents=True)
    (folder / "classes" / "5xx.txt").write_text(LINES)
    return folder


def test_check_tells_what_to_look_at(source, capsys):
    assert main(["ddc", "check", "--source", str(source)]) == 0
    assert capsys.readouterr().out == "2 lines read, 0 terms to look at.\n"
    path = source / "classes" / "5xx.txt"
    path.write_text(LINES + "523 | planets | planet; planets\n")
    assert main(["ddc", "check", "--source", str(source)]) == 1
    assert "5xx.txt:4: 'planets' has the same stems as 'planet'." in capsys.readouterr().out
    path.write_text(LINES + "52.3 | planets | planet\n")
    assert main(["ddc", "check", "--source", str(source)]) == 2
    assert "5xx.txt:4: '52.3' is no Dewey number" in capsys.readouterr().err


def test_stats(capsys):
    assert main(["ddc", "stats", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["terms"] >= 25_000
    assert sum(figures["terms_by_main_class"].values()) >= figures["terms"]
    assert main(["ddc", "stats"]) == 0
    assert f"{figures['terms']:,} terms for" in capsys.readouterr().out


def test_added_terms_are_found_after_packing(source, tmp_path, capsys):
    output = str(tmp_path / "l.bin")
    assert main(["ddc", "pack", "--source", str(source), "--output", output]) == 0
    assert main(["ddc", "pack", "--source", str(source), "--output", output, "--check"]) == 0
    assert main(["ddc", "add", "523", "planet", "--name", "planets", "--source", str(source)]) == 0
    assert main(["ddc", "pack", "--source", str(source), "--output", output, "--check"]) == 1
    assert main(["ddc", "pack", "--source", str(source), "--output", output]) == 0
    (tmp_path / "a.txt").write_text("two planets")
    capsys.readouterr()
    assert main(["classify", str(tmp_path / "a.txt"), "--json", "--lexicon", output]) == 0
    assert json.loads(capsys.readouterr().out)["numbers"][0]["number"] == "523"


def test_an_imported_edition_takes_the_place_of_ours(tmp_path, capsys, monkeypatch):
    (tmp_path / "e.csv").write_text("number,name,terms\n123.4567891,Gnomes and elves,dwarf\n")
    output = tmp_path / "edition.bin"
    assert main(["ddc", "import", str(tmp_path / "e.csv"), "--output", str(output)]) == 0
    assert f"{SETTING}={output}" in capsys.readouterr().out
    monkeypatch.setenv(SETTING, str(output))
    (tmp_path / "a.txt").write_text("gnomes, dwarves and butterflies")
    assert main(["classify", str(tmp_path / "a.txt"), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)["numbers"]
    assert numbers[0]["number"] == "123.4567891"
    assert main(["topic", "gnomes"]) == 0
    assert "123.4567891  Gnomes and elves" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "none.csv"], "none.csv cannot be read"),
        (["import", __file__], "has no column 'number'"),
        (["check", "--source", "nowhere"], "There is no lexicon text in nowhere/classes"),
        (["add", "640", "cook", "--source", "nowhere"], "cannot be read"),
        (["stats", "--lexicon", __file__], "is no packed lexicon"),
        (["background", "none.txt"], "There is no file none.txt"),
    ],
)
def test_wrong_arguments_are_named_in_one_line(capsys, arguments, message):
    assert main(["ddc", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_our_own_pack_is_checked(capsys):
    assert main(["ddc", "pack", "--check"]) == 0
    assert "is up to date" in capsys.readouterr().out
    assert Path("data/ddc/classes").is_dir()
