"""``treasure web`` as it is typed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import httpx2 as httpx
import pytest

from treasure.cli import main
from treasure.evaluation.virtual_web import VirtualWeb


def test_info(demo_folder, capsys):
    assert main(["web", "info", str(demo_folder), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 2_600 < answer["pages"] < 3_200
    assert answer["statuses"]["301"] > 100
    assert len(answer["topics"]) == 12
    assert not any(topic["missing_targets"] or topic["missing_seeds"] for topic in answer["topics"])
    assert main(["web", "info", str(demo_folder / "web.warc.gz")]) == 0
    assert "topic:    astronomy (520)" in capsys.readouterr().out


def test_build_from_a_folder(tmp_path, capsys):
    page = tmp_path / "site" / "www.a.example" / "x.html"
    page.parent.mkdir(parents=True)
    page.write_text("<title>x</title>")
    labels = tmp_path / "labels.csv"
    labels.write_text("url,topic\nhttp://www.a.example/x.html,stars\nhttp://b.example/,stars\n")
    out = tmp_path / "web"
    line = ["web", "build", str(tmp_path / "site"), "--out", str(out), "--labels", str(labels)]
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "web": str(out / "web.warc.gz"),
        "responses": 1,
        "topics": 1,
        "targets_without_page": 1,
    }
    assert VirtualWeb.open(out / "web.warc.gz").page("http://www.a.example/x.html").title == "x"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["info", "none.warc.gz"], "No such file"),
        (["info", __file__], "no WARC file"),
        (["build", "none.warc.gz", "--out", "o"], "No such file"),
        (["build", "mysql://x/y", "--out", "o"], "cannot be a mysql database"),
        (["serve", "none"], "No such file"),
        (["build", "sqlite:///absent.db", "--out", "o"], "There is no repository absent.db"),
        (
            ["build", "DEMO", "--out", "o", "--labels", "absent.csv"],
            "absent.csv cannot be read: No",
        ),
        (["serve", "DEMO", "--port", "99999"], "--port must be between 0 and 65535. Got 99999"),
        (["serve", "DEMO", "--log", "no/log.jsonl"], "The log no/log.jsonl cannot be written"),
    ],
)
def test_mistakes_take_one_line(line, words, demo_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo = str(demo_folder / "web.warc.gz")
    assert main(["web", *(demo if word == "DEMO" else word for word in line)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("treasure web: ")
    assert words in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_demo_is_reused(demo_folder, capsys):
    assert main(["web", "demo", "--out", str(demo_folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is False


def test_serve_until_it_is_told_to_stop(demo_folder, tmp_path):
    log = tmp_path / "log.jsonl"
    line = [sys.executable, "-m", "treasure", "web", "serve", str(demo_folder), "--port", "0"]
    with subprocess.Popen(
        [*line, "--json", "--log", str(log)], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            proxy = json.loads(server.stdout.readline())["proxy"]
            with httpx.Client(proxy=proxy) as client:
                assert client.get("http://www.nightsky.example/").status_code == 200
                assert client.get("http://www.nightsky.example/none").status_code == 404
            server.send_signal(signal.SIGTERM)
            assert server.wait(20) == 0
        finally:
            server.kill()
    assert [json.loads(row)["status"] for row in log.read_text().splitlines()] == [200, 404]
