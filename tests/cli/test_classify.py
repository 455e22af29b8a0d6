import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from treasure.cli import main

TEXT = "Monarch caterpillars feed on milkweed before the butterfly emerges."
HTML = f"<!doctype html><title>Monarchs</title><nav>court law judge</nav><p>{TEXT}</p>"


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def test_a_text_file(tmp_path, capsys):
    (tmp_path / "a.txt").write_text(TEXT)
    assert main(["classify", str(tmp_path / "a.txt")]) == 0
    first = capsys.readouterr().out.splitlines()[0].split()
    assert first[0] == "595.789"
    assert first[1].endswith("%")
    assert first[2] == "butterflies"


def test_json_and_explanation_from_stdin(stdin, capsys):
    stdin(TEXT.encode())
    assert main(["classify", "-", "--json", "--explain"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["numbers"][0]["number"] == "595.789"
    assert answer["numbers"][0]["weight"] > answer["numbers"][1]["weight"]
    words = [word["word"] for word in answer["explanation"]["numbers"][0]["words"]]
    assert "milkweed" in words


def test_the_papers_galaxy(stdin, capsys):
    stdin(TEXT.encode())
    assert main(["classify", "-", "--plain", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "digit 1: [5 science" in out
    assert "outliers:" in out


def test_pages_are_read_without_their_navigation(tmp_path, capsys):
    (tmp_path / "a.html").write_text(HTML)
    assert main(["classify", str(tmp_path / "a.html"), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)["numbers"]
    assert numbers[0]["number"] == "595.789"
    assert not any(n["number"].startswith("34") for n in numbers)


def test_many_texts_at_once(tmp_path, capsys, stdin):
    lines = [json.dumps({"id": 1, "text": TEXT}), "", json.dumps({"text": ""})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert main(["classify", "--jsonl", str(tmp_path / "a.jsonl")]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["numbers"][0]["number"] == "595.789"
    assert second["numbers"] == []
    stdin("\n".join(lines).encode())
    assert main(["classify", "--jsonl", "-"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0]) == first


def test_numbers_have_three_digits_at_least(stdin, capsys):
    stdin(b"astronomy astronomer astronomical")
    assert main(["classify", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["numbers"][0]["number"] == "520"


def test_a_picture(tmp_path, stdin):
    stdin(TEXT.encode())
    assert main(["classify", "-", "--picture", str(tmp_path / "g.svg")]) == 0
    assert "<svg" in (tmp_path / "g.svg").read_text()


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path == "/page"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(HTML.encode() if found else b"no")

    def log_message(self, *args):
        pass


@pytest.fixture
def site():
    server = HTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_of_the_web(site, capsys):
    assert main(["classify", f"{site}/page", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["numbers"][0]["number"] == "595.789"
    assert main(["classify", f"{site}/none"]) == 2
    assert "404" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"1 2 3 2024", "Привет, звезда".encode(), b"the of"])
def test_texts_that_say_nothing_are_unknown(stdin, capsys, data):
    stdin(data)
    assert main(["classify", "-"]) == 0
    assert capsys.readouterr().out.startswith("Unknown: none of its words is in the lexicon")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give one thing to classify"),
        (["-", "--jsonl", "x"], "Give one thing to classify"),
        (["none.txt"], "none.txt cannot be read: No such file or directory."),
        (["--jsonl", "none.jsonl"], "none.jsonl cannot be read: No such file or directory."),
        (["ftp://example.org/x"], "is no http or https URL"),
        (["-", "--lexicon", "none.bin"], "There is no packed lexicon none.bin"),
    ],
)
def test_wrong_arguments_are_named_in_one_line(arguments, message, capsys, stdin):
    stdin(b"star")
    assert main(["classify", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("line", ["no json", "[]", '{"txt": "x"}', '{"text": 5}'])
def test_a_wrong_line_is_named(tmp_path, capsys, line):
    (tmp_path / "a.jsonl").write_text('{"text": "star"}\n' + line + "\n")
    assert main(["classify", "--jsonl", str(tmp_path / "a.jsonl")]) == 2
    assert 'a.jsonl:2: expected a JSON object with a string "text"' in capsys.readouterr().err


def test_what_is_no_text_is_named(tmp_path, capsys):
    (tmp_path / "a.bin").write_bytes(b"\x00\x01" * 100)
    assert main(["classify", str(tmp_path / "a.bin")]) == 2
    assert "is not text" in capsys.readouterr().err
