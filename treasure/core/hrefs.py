"""Makes addresses of what the links of a page say, as long as they are clean.

Serves ``urls``, which says what clean means and makes the others. Nearly all links are: to see it
takes one look at each of their letters.
"""

from __future__ import annotations

from collections.abc import Callable

import cython

_IN_PATH = "!$&'()*+,:=@"
_IN_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_~-"
# 3: may begin a relative link; 2: may stand in one; 1: may stand in a path.
_CLEAN = bytes(
    3 if chr(code) in _IN_NAME else 2 if chr(code) in "./" else 1 if chr(code) in _IN_PATH else 0
    for code in range(128)
)


@cython.cclass
class Hrefs:
    """Resolves the links of a page.

    *origin* and *folder* are what links that begin with a slash, or a name, are added to; empty
    where that is not clean. *is_clean* tells whether another origin is, *otherwise* makes addresses
    of links that are not clean.
    """

    _origin: str
    _folder: str
    _is_clean: object
    _otherwise: object
    _longest: cython.Py_ssize_t
    _kinds: cython.const[cython.uchar][::1]

    def __init__(
        self,
        origin: str,
        folder: str,
        is_clean: Callable[[str], bool],
        otherwise: Callable[[str], str],
        longest: cython.Py_ssize_t,
    ) -> None:
        self._origin, self._folder = origin, folder
        self._is_clean, self._otherwise = is_clean, otherwise
        self._longest = longest
        self._kinds = _CLEAN

    def __call__(self, href: str) -> str:
        """Return the canonical address that *href* stands for; empty: there is none."""
        size: cython.Py_ssize_t = len(href)
        path: cython.Py_ssize_t
        if size and size <= self._longest:
            if href[0] == "/":
                if (size == 1 or href[1] != "/") and self._origin and self._least(href, 0) > 0:
                    return self._within(self._origin, href)
            elif href.startswith("http://") or href.startswith("https://"):
                path = href.find("/", 8)
                if path > 0 and self._least(href, path) > 0 and self._is_clean(href[:path]):
                    return href
            elif self._folder and self._first(href) == 3 and self._least(href, 0) > 1:
                return self._within(self._folder, href)
        found: str = self._otherwise(href)
        return found

    @cython.cfunc
    def _within(self, start: str, href: str) -> str:
        if len(start) + len(href) <= self._longest:
            return start + href
        found: str = self._otherwise(href)
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def _first(self, href: str) -> cython.int:
        code: cython.int = ord(href[0])
        return self._kinds[code] if code < 128 else 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _least(self, href: str, at: cython.Py_ssize_t) -> cython.int:
        """Return the least that the letters from *at* on are, 0 for what may be resolved yet."""
        least: cython.int = 3
        code: cython.int
        slash: cython.bint = False
        i: cython.Py_ssize_t
        for i in range(at, len(href)):
            code = ord(href[i])
            if code >= 128 or not self._kinds[code]:
                return 0
            if slash and (code == 46 or code == 40):  # "/." or "/("
                return 0
            least = min(least, self._kinds[code])
            slash = code == 47
        return least
