"""Seeds come from a list or a file; a wrong one is named with its place."""

import pytest

from treasure.errors import ConfigError
from treasure.seeds import read_seeds


def test_comma_list_and_file_give_canonical_urls(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# comment\n\nHTTP://A.test/#x\nhttp://b.test/p\nhttp://a.test/\n")
    assert read_seeds(str(file)) == ["http://a.test/", "http://b.test/p"]
    assert read_seeds("http://a.test, http://b.test/p") == ["http://a.test/", "http://b.test/p"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("http://a.test/\nnot a url\n", "'not a url' (line 2 of"),
        ("ftp://a.test/\n", "is no URL. Expected http:// or https://"),
        ("http://\n", "is no URL"),
        ("# nothing\n", "There is no seed in"),
    ],
)
def test_wrong_lines_are_named(tmp_path, content, message):
    file = tmp_path / "seeds.txt"
    file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_seeds(str(file))
    assert message in str(caught.value)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_seeds(str(tmp_path / "none.txt"))
    file = tmp_path / "binary"
    file.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_seeds(str(file))
