"""``treasure evaluate``: parallel, resumed, repeatable, and clear about mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluation.island_web import write
from treasure.cli import main


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    web, topics = write(tmp_path)
    return [str(web), "--topics", str(topics)]


def figures(text: str) -> list[object]:
    """Return everything that was measured but times."""
    results = json.loads(text)["results"]
    for result in results:
        for row in result["figures"]:
            row.pop("cpu_ms")
    return results


def evaluate(files: list[str], *more: str) -> int:
    return main(["evaluate", *files, "--topic", "birds", "--pages", "20,40", *more])


def test_table_report_and_json(files: list[str], tmp_path: Path, capsys) -> None:
    told = tmp_path / "out.json"
    code = evaluate(
        files, "--strategies", "treasure,breadth-first", "--json", str(told), "--report", "report"
    )
    assert code == 0
    out = capsys.readouterr().out
    assert "of oracle" in out
    assert "treasure was not given: examples." in out
    summary = json.loads(told.read_text())["summary"]
    shares = {name: marks["40"]["oracle_share"][0] for name, marks in summary.items()}
    assert shares["treasure"] > shares["breadth-first"]
    html = (tmp_path / "report" / "index.html").read_text()
    assert html.count("<svg") == 3
    assert "treasure evaluate" in html or "birds" in html


def test_repeatable_to_the_last_digit_and_resumed(files: list[str], capsys) -> None:
    arguments = ["--strategies", "treasure,best-first", "--examples", "3", "--repeats", "2"]
    assert evaluate(files, *arguments, "--json", "-") == 0
    first = capsys.readouterr()
    assert first.err.count("birds: ") == 4
    assert evaluate(files, *arguments, "--json", "-") == 0
    again = capsys.readouterr()
    assert again.err.count("birds: ") == 0  # nothing was run again
    assert again.out == first.out
    assert evaluate(files, *arguments, "--anew", "--processes", "1", "--json", "-") == 0
    assert figures(capsys.readouterr().out) == figures(first.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategies", "tresure"], "There is no strategy 'tresure'. Did you mean 'treasure'?"),
        (["--strategies", ","], "names none"),
        (["--topic", "bird"], "There is no topic 'bird'. Did you mean 'birds'?"),
        (["--topic", "nothing"], "'nothing' has no targets"),
        (["--topic", "lost"], "has none of the generic seeds of 'lost'"),
        (["--pages", "many"], "--pages must be numbers"),
        (["--pages", "0"], "--pages must be numbers"),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--examples", "11"], "--examples must be between 0 and 10"),
        (["--option", "precision"], "--option must be NAME=VALUE"),
        (
            ["--strategies", "treasure", "--option", "precison=9"],
            "'treasure' has no option 'precison'. Did you mean 'precision'?",
        ),
        (["--strategies", "best-first", "--option", "several=1"], "'several' must be"),
        (["--json", "nowhere/figures.json"], "nowhere/figures.json cannot be written"),
        (["--report", "/dev/null/report"], "/dev/null/report cannot be written"),
        (["--engine", "scrapy", "--background", "5"], "cannot be given --background"),
    ],
)
def test_mistakes_are_one_line(
    files: list[str], arguments: list[str], message: str, capsys
) -> None:
    assert main(["evaluate", *files, "--topic", "birds", "--processes", "1", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_files_that_are_no_web_or_no_topics(files: list[str], tmp_path: Path, capsys) -> None:
    assert main(["evaluate", "nowhere.warc.gz", *files[1:]]) == 2
    assert "nowhere.warc.gz cannot be read" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("{")
    assert main(["evaluate", files[0], "--topics", "bad.json"]) == 2
    assert "is no JSON" in capsys.readouterr().err
    (tmp_path / "none.json").write_text("[]")
    assert main(["evaluate", files[0], "--topics", "none.json"]) == 2
    assert "There is no topic" in capsys.readouterr().err


def test_a_damaged_web_is_measured_as_far_as_it_can_be_read(files: list[str], capsys) -> None:
    path = Path(files[0])
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = b"\0" * 40
    path.write_bytes(data)
    assert evaluate(files, "--strategies", "best-first") == 0
    assert "cannot be read; measured on the" in capsys.readouterr().err


def test_targets_that_the_web_lacks_are_told(files: list[str], tmp_path: Path, capsys) -> None:
    topics = json.loads(Path(files[2]).read_text())
    birds = next(topic for topic in topics if topic["name"] == "birds")
    count = len(birds["targets"])
    birds["targets"] += ["http://nowhere.example/1", "http://nowhere.example/2"]
    files[2] = str(tmp_path / "more.json")
    Path(files[2]).write_text(json.dumps(topics))
    assert evaluate(files, "--strategies", "best-first") == 0
    told = f"2 of the {count + 2} targets of 'birds' are no pages of"
    assert told in capsys.readouterr().err
    birds["targets"] = birds["targets"][-2:]
    Path(files[2]).write_text(json.dumps(topics))
    assert evaluate(files, "--strategies", "best-first") == 2
    assert "None of the 2 targets of 'birds' is a page of" in capsys.readouterr().err


def test_scrapy_measures_and_says_the_same(files: list[str], capsys) -> None:
    asked = ["--strategies", "shark-search", "--examples", "2", "--json", "-"]
    assert evaluate(files, *asked) == 0
    loop = figures(capsys.readouterr().out)
    assert evaluate(files, *asked, "--engine", "scrapy") == 0
    assert figures(capsys.readouterr().out) == loop
    assert loop[0]["missing"] == ["background"]
