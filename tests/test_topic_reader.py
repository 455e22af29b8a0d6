"""Topics from what the user says."""

from dataclasses import replace

import pytest

from tests.ddc.conftest import lexicon_of
from treasure.errors import TopicError, UserError
from treasure.topic_reader import has_words, read_topics, write_topic_file
from treasure.topics import Topic

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


def test_a_topic_that_was_written_is_read_the_same(tmp_path):
    topic = Topic(
        'The "Æsir" \U0001f989\n',
        "A line.\tAnd a \\ besides.",
        ("293.1", "39"),
        keywords=("odin", "ragnarök"),
        examples=("https://example.org/thor",),
        languages=("en",),
    )
    (read,) = read_topics(str(write_topic_file(tmp_path / "topic.toml", topic)))
    assert read == replace(topic, name=topic.name.strip(), description="A line. And a \\ besides.")


def test_a_file_may_leave_out_numbers_or_name_and_hold_several(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('[[topic]]\nname = "jazz"\n[[topic]]\nnumbers = ["520"]\n')
    assert [(t.name, t.numbers) for t in read_topics(str(path))] == [
        ("jazz", ("781.65",)),
        ("astronomy", ("52",)),
    ]


def test_a_part_of_a_wide_class_is_not_the_class():
    for name, place in (("Gaelic football", "796 (sport)"), ("3D printing", "670 (manufacturing)")):
        (topic,) = read_topics(name)
        assert topic.numbers == ()
        assert f"one of many things in {place}" in topic.notes[0]


def test_a_letter_before_a_hyphen_makes_another_word():
    assert read_topics("e-mail")[0].numbers == ("004.692",)
    assert read_topics("e-commerce")[0].numbers == ("381.142",)
    (topic,) = read_topics("e-business")
    assert topic.numbers == ()
    assert "Nearest by its words: 650 (business)" in topic.notes[0]


def test_a_file_as_windows_writes_it(tmp_path):
    path = tmp_path / "topic.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "Gaelic football"\r\nkeywords = ["gaa"]\r\n')
    (topic,) = read_topics(str(path))
    assert (topic.name, topic.keywords) == ("Gaelic football", ("gaa",))


def test_files_and_names_together(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('name = "Butterflies"')
    assert [t.name for t in read_topics(f"{path}, 520")] == ["Butterflies", "astronomy"]
    odd = tmp_path / "stars, planets.toml"
    odd.write_text('name = "Stars"')
    assert [t.name for t in read_topics(str(odd))] == ["Stars"]


def test_no_number_may_be_said_as_well(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('name = "astronomy"\nnumbers = []')
    assert read_topics(str(path))[0].numbers == ()


def test_topics_are_told_apart():
    assert [t.name for t in read_topics("520, Astronomy, astronomy")] == ["astronomy"]
    names = [topic.name for topic in read_topics("595.7891,595.7892")]
    assert names == ["butterflies", "butterflies 595.7892"]


def test_nearly_a_name_is_a_mistake_unless_a_file_means_it(tmp_path):
    with pytest.raises(TopicError, match="no topic 'astronmy' .* Did you mean 'astronomy'"):
        read_topics("astronmy")
    path = tmp_path / "t.toml"
    path.write_text('name = "astronmy"')
    assert "Did you mean 'astronomy'" in read_topics(str(path))[0].notes[0]
    assert "Did you mean 'physics'" in read_topics("phisics")[0].notes[0]
    assert "Did you mean" not in read_topics("Schmetterlinge")[0].notes[0]


def test_names_without_a_word():
    for name in ("the", "C++", "AT&T"):
        (topic,) = read_topics(name)
        assert not has_words(topic)
        assert "no word that tells anything" in topic.notes[0]
    assert has_words(read_topics("天文学")[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "is no TOML"),
        ("", "has a topic without name and numbers"),
        ('nmae = "x"', "unknown field 'nmae'. Did you mean 'name'"),
        ('name = "x"\nnumbers = "520"', "numbers in the topic file .* must be a list of strings"),
        ('name = "x"\nkeywords = [1]', "keywords in the topic file .* must be a list of strings"),
        ("name = 5", "name in the topic file .* must be a string"),
        ('name = "x"\nnumbers = ["52x"]', "numbers in .*: '52x' is no Dewey number"),
        ('name = "x"\n[[topic]]\nname = "y"', "mixes"),
        ("topic = 5", "holds no topic"),
        ('name = "x"\nlanguages = ["english"]', "languages .* must be codes .* 'english'"),
        ('name = "x"\nexamples = [""]', "examples in the topic file .* an empty string"),
        (
            '[[topic]]\nname = "x"\n[[topic]]\nname = "X"\nkeywords = ["y"]',
            "two topics named 'X'",
        ),
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


def test_a_file_of_another_kind_is_no_name(tmp_path):
    path = tmp_path / "topic.json"
    path.write_text("{}")
    with pytest.raises(TopicError, match=r"topic.json is a file, but .* ends in .toml"):
        read_topics(str(path))


def test_a_number_outside_the_lexicon_is_refused():
    lexicon = lexicon_of("520 | astronomy | star")
    with pytest.raises(TopicError, match="knows nothing of 640"):
        read_topics("640", lexicon)
