"""What waits in the frontier comes back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.plain import plain, plain_part, restored

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.binary() | st.text(), inner)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_through_json_and_back(value):
    assert restored(json.loads(json.dumps(plain(value)))) == value


def test_other_strings_become_strings_and_objects_are_refused():
    class Smart(str):
        __slots__ = ("parent",)

    assert type(plain([Smart("x")])[0]) is str
    with pytest.raises(TypeError, match="object is no plain value"):
        plain({"a": object()})
    assert plain_part({"a": object(), "b": (1, b"x")}) == {"b": [1, {"$bytes": "x"}]}
