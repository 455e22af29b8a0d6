"""Copies: a site that says the same on page after page, each with links to more of them.

No rule about addresses knows all traps: a calendar may be called ``/cal/x/1203``. What ends them
all is that their pages are alike. Pages of a host with the same sketch of words are counted; from
a certain number on, the links of further copies are not followed, and the chain ends there. A
sketch is made of the words with the smallest hashes (Broder 1997), so that a word or two that
change from page to page, such as a date, seldom show in it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

import numpy as np
from numpy.typing import NDArray

COPIES = 200
"""Pages of a host that may be alike; before it has so many pages, nothing is looked at."""
SKETCH_WORDS = 32
LONG_WORDS = 1_000
"""Of longer pages an eighth of the words is enough to find the smallest among."""
MAX_SKETCHES = 50_000
_MULTIPLIER = np.uint32(2_654_435_761)  # Knuth's: numbers of words are small and in order
_EIGHTH = np.uint32(1 << 29)


class Copies:
    """Counts pages that are alike, host by host."""

    def __init__(self, limit: int = COPIES) -> None:
        self.limit = limit
        self._pages: Counter[str] = Counter()
        self._alike: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    def one_more(self, host: str, terms: NDArray[np.int32]) -> bool:
        """Count a page of *host* in; tell whether there were enough like it before."""
        self._pages[host] += 1
        if self._pages[host] <= self.limit:
            return False
        key = host, sketch(terms)
        count = self._alike.pop(key, 0) + 1
        self._alike[key] = count
        if len(self._alike) > MAX_SKETCHES:
            self._alike.popitem(last=False)
        return count > self.limit


def sketch(terms: NDArray[np.int32]) -> bytes:
    """Return a value that pages with nearly the same words nearly always share."""
    hashes = terms.view(np.uint32) * _MULTIPLIER
    if hashes.size > LONG_WORDS:
        hashes = hashes[hashes < _EIGHTH]
    return np.unique(hashes)[:SKETCH_WORDS].tobytes()
