import json

import pytest

from treasure.cli import main


def test_a_topic_is_shown_with_alternatives_and_neighbours(capsys):
    assert main(["topic", "astronomy"]) == 0
    out = capsys.readouterr().out
    assert "520  astronomy, with all below it" in out
    assert "below it:" in out
    assert "beside it:" in out


def test_json(capsys):
    assert main(["topic", "clothing, 595.789", "--json"]) == 0
    clothing, butterflies = json.loads(capsys.readouterr().out)
    assert clothing["numbers"]
    assert clothing["alternatives"]
    assert butterflies["numbers"] == [{"number": "595.789", "name": "butterflies"}]


def test_what_dewey_cannot_say_is_said(capsys):
    assert main(["topic", "xyzzy frobnication"]) == 0
    assert "note: Dewey has no number for 'xyzzy frobnication'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("topic", "message"), [("", "The topic is empty"), ("52.1", "no Dewey number")]
)
def test_wrong_topics_are_named_in_one_line(capsys, topic, message):
    assert main(["topic", topic]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
