"""The trap guard: addresses that a site can make without end.

Calendars that turn a page for ever, paths that grow with every click, lists that can be sorted
and filtered in every combination. A rule either looks at one address, or counts the distinct
addresses of one shape at one host; after ``SHAPE_LIMIT`` of them the shape is closed. What was
let in before stays in.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict

from treasure.core.addresses import is_plain
from treasure.urls import url_key

MAX_URL_CHARACTERS = 2_000
MAX_SEGMENTS = 20
PLAIN_SLASHES = 3
"""Slashes behind the host of an address that none of the rules means: it has no query either, and
never four digits in a row."""
MAX_PARAMETERS = 8
SHAPE_LIMIT = 200
"""Distinct addresses of one calendar or one list with filters, per host."""
MAX_SHAPES = 20_000
YEARS_AHEAD = 2
FIRST_YEAR = 1_800

_YEAR = re.compile(
    r"[?&](?:year|yr|y|jahr|annee|ano)=(\d{4})(?=&|$)"
    r"|/(\d{4})/\d{1,2}(?=/|$|\?|-)"
    r"|[?&/=](\d{4})-\d{2}(?:-\d{2})?(?!\d)",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"[?&](?:year|yr|month|mon|day|date|week|cal|calendar|caldate|tribe-bar-date|ical|"
    r"outlook-ical|eventdate|start_date|time)=|/(?:calendar|kalender|events?)/.*\d{4}",
    re.IGNORECASE,
)
_FOUR_DIGITS = re.compile(r"\d{4}")
_DIGITS = re.compile(r"\d+")


class TrapGuard:
    """Names the trap an address belongs to."""

    def __init__(self, shape_limit: int = SHAPE_LIMIT) -> None:
        self.shape_limit = shape_limit
        self._shapes: OrderedDict[str, set[int]] = OrderedDict()

    def trap(self, url: str) -> str:
        """Return the name of the trap, empty when there is none."""
        if len(url) > MAX_URL_CHARACTERS:
            return "long address"
        if is_plain(url, PLAIN_SLASHES):
            return ""
        address, mark, query = url.partition("?")
        trap = _path_trap(address)
        if not trap and (mark or _FOUR_DIGITS.search(address)):
            trap = self._list_trap(url, address, query)
        return trap

    def _list_trap(self, url: str, address: str, query: str) -> str:
        if query.count("&") >= MAX_PARAMETERS:
            return "faceted links"
        if _CALENDAR.search(url):
            if _far_year(url) or self._closed(_DIGITS.sub("0", address) + "?" + _names(query), url):
                return "calendar"
        elif "&" in query and self._closed(address + "?", url):
            return "faceted links"
        elif _far_year(url):
            return "calendar"
        return ""

    def _closed(self, shape: str, url: str) -> bool:
        """Count *url* in; tell whether there are too many of its shape."""
        key = url_key(url)
        known = self._shapes.get(shape)
        if known is None:
            known = self._shapes[shape] = set()
            if len(self._shapes) > MAX_SHAPES:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(shape)
        if key in known:
            return False
        if len(known) >= self.shape_limit:
            return True
        known.add(key)
        return False


def _path_trap(address: str) -> str:
    slashes = address.count("/") - 3
    if slashes < 3:
        return ""
    if slashes >= MAX_SEGMENTS:
        return "ever-growing path"
    segments = [segment for segment in address.split("/")[3:] if segment]
    repeated = len(segments) - len(set(segments))
    if repeated < 2:
        return ""
    # /a/a/a/a, /a/b/a/b/a/b, /a/b/c/a/b/c/a/b/c: the same steps three times in a row.
    for width in (1, 2, 3):
        times = 4 if width == 1 else 3
        for start in range(len(segments) - times * width + 1):
            part = segments[start : start + width]
            stop = start + times * width
            if segments[start:stop] == part * times:
                return "ever-growing path"
    return "ever-growing path" if repeated >= 5 else ""


def _far_year(url: str) -> bool:
    found = _YEAR.search(url)
    if not found:
        return False
    year = int(found[1] or found[2] or found[3])
    return not FIRST_YEAR <= year <= time.gmtime().tm_year + YEARS_AHEAD


def _names(query: str) -> str:
    return "&".join([parameter.partition("=")[0] for parameter in query.split("&")])
