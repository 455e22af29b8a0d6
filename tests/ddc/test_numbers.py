import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.ddc.numbers import NumberError, digits, normal, pointed, written

NUMBERS = st.from_regex(r"[0-9]{3}(\.[0-9]{1,6})?", fullmatch=True)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("500", "5"),
        ("520", "52"),
        ("505", "505"),
        ("000", "0"),
        ("001", "001"),
        ("005", "005"),
        ("010", "01"),
        ("595.789", "595.789"),
        ("590.70", "590.70"),  # with a point nothing is dropped
        (" 746.92 ", "746.92"),
        ("52", "52"),
        ("00", "00"),  # a beginning: 000 to 009
    ],
)
def test_trailing_zeros_are_dropped_only_without_a_point(number, expected):
    assert normal(number) == expected


@pytest.mark.parametrize(
    "wrong", ["", "5200", "52.3", "520.", ".5", "5x0", "520.1.2", "-52", "٥٢٠"]
)
def test_what_is_no_number_is_named(wrong):
    with pytest.raises(NumberError, match=r"is no Dewey number. Expected"):
        normal(wrong)


@given(NUMBERS)
def test_writing_and_reading_are_inverse(number):
    assert normal(written(normal(number))) == normal(number)
    assert pointed(digits(normal(number))) == normal(number)
