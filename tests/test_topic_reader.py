"""Topics from what the user says."""

import pytest

from tests.ddc.conftest import lexicon_of
from treasure.errors import TopicError, UserError
from treasure.topic_reader import read_topics

FILE = """
name = "Butterflies"
description = "Butterflies  of the world."
numbers = ["595.789", "638.5789"]
keywords = ["lepidoptera"]
examples = ["https://example.org/monarch", "pages/swallowtail.html"]
negatives = ["pages/stroke.html"]
languages = ["EN"]
"""


def test_numbers_are_written_as_the_papers_do():
    (topic,) = read_topics("520")
    assert topic.numbers == ("52",)
    assert topic.name == "astronomy"
    assert read_topics("595.789")[0].name == "butterflies"


def test_a_number_below_a_known_one_is_named_after_it():
    (topic,) = read_topics("595.7891")
    assert topic.numbers == ("595.7891",)
    assert "no name of its own" in topic.notes[0]


def test_names_are_resolved():
    assert read_topics("astronomy")[0].numbers == ("52",)
    assert read_topics(" Butterflies ")[0].numbers == ("595.789",)


def test_several_with_commas():
    topics = read_topics("jazz, 520, jazz")
    assert [topic.name for topic in topics] == ["jazz", "astronomy"]


def test_what_dewey_cannot_say_falls_back_and_says_so():
    (topic,) = read_topics("xyzzy frobnication")
    assert topic.numbers == ()
    assert "Dewey has no number for 'xyzzy frobnication'" in topic.notes[0]
    (topic,) = read_topics("telescope frobnication")
    assert topic.numbers == ()
    assert "Nearest by its words: 5" in topic.notes[0]


def test_a_topic_file(tmp_path):
    path = tmp_path / "butterflies.toml"
    path.write_text(FILE)
    (topic,) = read_topics(str(path))
    assert topic.name == "Butterflies"
    assert topic.description == "Butterflies of the world."
    assert topic.numbers == ("595.789", "638.5789")
    assert topic.examples == (
        "https://example.org/monarch",
        str(tmp_path / "pages/swallowtail.html"),
    )
    assert topic.negatives == (str(tmp_path / "pages/stroke.html"),)
    assert topic.languages == ("en",)


def test_a_file_may_leave_out_numbers_or_name_and_hold_several(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('[[topic]]\nname = "jazz"\n[[topic]]\nnumbers = ["520"]\n')
    assert [(t.name, t.numbers) for t in read_topics(str(path))] == [
        ("jazz", ("781.65",)),
        ("astronomy", ("52",)),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "is no TOML"),
        ("", "has a topic without name and numbers"),
        ('nmae = "x"', "unknown field 'nmae'. Did you mean 'name'"),
        ('name = "x"\nnumbers = "520"', "numbers in the topic file .* must be a list of strings"),
        ('name = "x"\nkeywords = [1]', "keywords in the topic file .* must be a list of strings"),
        ("name = 5", "name in the topic file .* must be a string"),
        ('name = "x"\nnumbers = ["52x"]', "'52x' is no Dewey number"),
        ('name = "x"\n[[topic]]\nname = "y"', "mixes"),
        ("topic = 5", "holds no topic"),
    ],
)
def test_wrong_files_are_named(tmp_path, content, message):
    path = tmp_path / "t.toml"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read_topics(str(path))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "The topic is empty"),
        (" , ", "The topic is empty"),
        ("5200", "'5200' is no Dewey number"),
        ("none.toml", "cannot be read: No such file"),
    ],
)
def test_wrong_topics_are_named(spec, message):
    with pytest.raises(UserError, match=message):
        read_topics(spec)


def test_a_number_outside_the_lexicon_is_refused():
    lexicon = lexicon_of("520 | astronomy | star")
    with pytest.raises(TopicError, match="knows nothing of 640"):
        read_topics("640", lexicon)
