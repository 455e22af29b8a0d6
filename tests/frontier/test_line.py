"""Scripts over one connection: answers belong to their questions, whatever happens between."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from treasure.frontier.line import Line

ECHO = "return {ARGV[1], KEYS[1], ARGV[2]}"
ADD = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
COUNTER = "test-line-counter"


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(redis_url)
    client.delete(COUNTER)
    yield client
    client.close()


@pytest.fixture
def line(client: redis.Redis) -> Iterator[Line]:
    line = Line(client)
    yield line
    line.close()


def test_arguments_arrive_as_they_are(line: Line) -> None:
    binary = bytes(range(256)) + b"\r\n$3\r\n"
    assert line.call(ECHO, 1, "schlüssel", binary, 0.25) == [binary, "schlüssel".encode(), b"0.25"]


def test_a_server_that_forgot_its_scripts(line: Line, client: redis.Redis) -> None:
    for expected in (5, 10):
        client.script_flush()
        assert line.call(ADD, 1, COUNTER, 5) == expected


def test_no_answer_is_taken_for_another(
    line: Line, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line.call(ADD, 1, COUNTER, 1) == 1

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(line._connection, "read_response", interrupted)
        with pytest.raises(KeyboardInterrupt):
            line.call(ADD, 1, COUNTER, 1)
    assert line.call(ECHO, 1, "key", "a", "b") == [b"a", b"key", b"b"]


def test_a_connection_that_was_cut_is_made_anew(line: Line, client: redis.Redis) -> None:
    line.call(ADD, 1, COUNTER, 1)
    client.client_kill_filter(_type="normal", skipme=True)
    with pytest.raises(redis.ConnectionError):
        line.call(ADD, 1, COUNTER, 1)
    assert line.call(ADD, 1, COUNTER, 1) == 2
