"""``treasure ui`` as a process: it says where it is, answers, leaves quietly, names mistakes."""

import os
import signal
import socket
import subprocess
import sys

import httpx2 as httpx
import pytest

from treasure.cli import main
from treasure.repository.store import Store


@pytest.fixture
def runs(tmp_path):
    Store.open(f"sqlite:///{tmp_path / 'treasure.db'}").close()
    return tmp_path


def test_it_serves_until_interrupted(runs):
    line = [sys.executable, "-m", "treasure", "ui", "--port", "0", "--runs-dir", str(runs)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address, _, token = process.stdout.readline().split()[-1].partition("/#token=")
        assert len(token) > 20
        assert httpx.get(f"{address}/api/jobs", trust_env=False).json() == []
        assert "Treasure" in httpx.get(address, trust_env=False).text
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors == ""


def told(capsys, *words):
    assert main(["ui", *words]) == 2
    return capsys.readouterr().err


def test_a_port_in_use_is_named(runs, capsys):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        assert "in use" in told(capsys, "--port", port, "--runs-dir", str(runs))


@pytest.mark.parametrize("port", ["-1", "99999"])
def test_a_port_is_a_number(runs, capsys, port):
    assert "0 to 65535" in told(capsys, "--port", port, "--runs-dir", str(runs))


def test_a_token_fits_into_an_address(runs, capsys):
    assert "letters" in told(capsys, "--token", "a b", "--port", "0", "--runs-dir", str(runs))


def test_no_repository(tmp_path, capsys):
    assert "Crawl first" in told(capsys, "--port", "0", "--runs-dir", str(tmp_path))


def test_a_file_that_is_no_database(tmp_path, capsys):
    (tmp_path / "treasure.db").write_text("hello " * 200)
    assert "not a database" in told(capsys, "--port", "0", "--runs-dir", str(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_database_without_rights(runs, capsys):
    (runs / "treasure.db").chmod(0)
    assert "cannot be used" in told(capsys, "--port", "0", "--runs-dir", str(runs))
