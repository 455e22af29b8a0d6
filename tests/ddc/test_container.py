import numpy as np
import pytest

from treasure.ddc.container import dump, load, open_file, pack_strings, replace, unpack_strings
from treasure.errors import LexiconError

ARRAYS = {
    "strings": pack_strings(["ähre", "", "b c"]),
    "whole": np.array([1, 2, 3], np.int32),
    "half": np.array([0.5], np.float16),
    "none": np.array([], np.float32),
}


def test_arrays_come_back_mapped_and_read_only(tmp_path):
    replace(tmp_path / "a.bin", dump(ARRAYS, {"title": "t"}))
    arrays, meta = open_file(tmp_path / "a.bin")
    assert meta == {"title": "t"}
    assert unpack_strings(arrays["strings"]) == ["ähre", "", "b c"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
    with pytest.raises(ValueError, match="read-only"):
        arrays["whole"][0] = 9


def test_a_file_can_be_replaced_while_it_is_mapped(tmp_path):
    path = tmp_path / "a.bin"
    replace(path, dump(ARRAYS, {}))
    arrays, _ = open_file(path)
    replace(path, dump({"whole": np.array([7], np.int32)}, {}))
    assert arrays["whole"].tolist() == [1, 2, 3]
    assert open_file(path)[0]["whole"].tolist() == [7]
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("cut", [0, 3, 20, 60, -1])
def test_what_is_no_packed_lexicon_is_named(tmp_path, cut):
    data = dump(ARRAYS, {})
    (tmp_path / "a.bin").write_bytes(data[:cut])
    with pytest.raises(LexiconError, match=r"a.bin is no packed lexicon"):
        open_file(tmp_path / "a.bin")


def test_other_files_are_named(tmp_path):
    with pytest.raises(LexiconError, match="is no packed lexicon"):
        load(b"PK\x03\x04 some archive", "x.zip")
    with pytest.raises(LexiconError, match="cannot be read: No such file"):
        open_file(tmp_path / "none.bin")
    with pytest.raises(LexiconError, match="cannot be written"):
        replace(tmp_path / "no" / "folder.bin", b"")
