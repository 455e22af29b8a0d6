"""D-numbers: Dewey numbers as the papers write them.

A D-number is a string, never a number: zeros in front count (005). Without a decimal point the
trailing zeros say nothing and are dropped, so that 520 becomes "52", the beginning of all that
belongs to it; with a point nothing is dropped (TG, "Exploiting DDC"). Two numbers share a topic
as deep as their digits agree; the point is only for the eye.

Decisions (ALGORITHMS 1): 000 becomes "0", the class; 001 stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from treasure.errors import UserError

_FORM = re.compile(r"\d{1,3}|\d{3}\.\d+")
EXPECTED = "one to three digits, or three digits, a point and more digits, such as 520 or 595.789"


class NumberError(UserError, ValueError):
    """Something that is no Dewey number."""


@lru_cache(maxsize=1 << 16)
def normal(number: str) -> str:
    """Return *number* as the papers write it: "520" -> "52", "000" -> "0", "595.789" as it is.

    One or two digits are taken for a beginning as it stands: "00" is 000 to 009, not all of 0.
    """
    number = number.strip()
    if not _FORM.fullmatch(number) or not number.isascii():
        raise NumberError(f"{number!r} is no Dewey number. Expected {EXPECTED}.")
    return number.rstrip("0") or "0" if len(number) == 3 else number


def written(number: str) -> str:
    """Return a D-number as libraries write it, with three digits at least: "52" -> "520"."""
    return number if "." in number else number.ljust(3, "0")


def digits(number: str) -> str:
    """Return the digits of a D-number, without the point."""
    return number.replace(".", "")


def class_of(number: str) -> str:
    """Return the three-digit class of a D-number, as digits: "52" -> "520", "595.789" -> "595"."""
    return digits(number)[:3].ljust(3, "0")


def pointed(digits: str) -> str:
    """Return digits as a D-number: "595789" -> "595.789"; the inverse of ``digits``."""
    return f"{digits[:3]}.{digits[3:]}" if len(digits) > 3 else digits


def across(digits: str) -> float:
    """Return where digits lie between 0 and 1000, for pictures: "595789" at 595.789."""
    return float(f"{digits[:3].ljust(3, '0')}.{digits[3:] or '0'}")


def looks_like_number(text: str) -> bool:
    """Return whether *text* was meant as a Dewey number; it may still be a wrong one."""
    return bool(re.fullmatch(r"\s*[\d.]+\s*", text))
