"""How Python works while a crawl runs: when it looks for garbage, how long a thread keeps it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping

YOUNG, LOOKS = 10_000, 300
"""New objects after which, between two pages, those are looked through for garbage, which takes
three to five milliseconds, once in a hundred pages or so: hardly any is found, since nearly all of
a page goes by itself when it is stored. And how often, until all are, which takes 50 to 80, once in
some 40,000 pages."""
GARBAGE = 30_000, 2, LOOKS
"""The same wherever we are: a page of very many links, or downloads that fail one after the other.
In the midst of a page most objects are neither garbage nor do they stay; to look then takes twice
the time, and the event loop waits."""
LOCK_SECONDS = 0.001
"""How long another thread, such as a fit of the judge, keeps the interpreter to itself while the
event loop wants it; Python's own 0.005 are half a page."""


def tune() -> None:
    """Have Python work as suits a crawl, from now on."""
    leave_alone()
    gc.set_threshold(*GARBAGE)
    sys.setswitchinterval(LOCK_SECONDS)
    if _keep_what_stayed not in gc.callbacks:
        gc.callbacks.append(_keep_what_stayed)


def leave_alone() -> None:
    """Never look through what is there now for garbage: it stays, as all that was loaded does."""
    gc.freeze()


def tidy() -> None:
    """Look for garbage when there is reason to; for the moments between two pages."""
    young, _, looks = gc.get_count()
    if young > YOUNG:
        gc.collect(2 if looks >= LOOKS else 1)


def _keep_what_stayed(phase: str, info: Mapping[str, int]) -> None:
    """After a full look for garbage leave alone what is no garbage: the next finds only new things.

    The event loop waits meanwhile, and a long crawl keeps a million objects.
    """
    if phase == "stop" and info["generation"] == 2:
        leave_alone()
