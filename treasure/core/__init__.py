"""The compiled core: what is done for every word and every link of every page.

These modules are Python, with types that Cython compiles to C where Treasure is installed
(``setup.py``, docs/decisions/089-compiled-core.md). Without a compiler they run as they are, with
the same results, only slower: tests hold both to that. They know arrays, bytes and numbers, and
none of our own classes; the module that each serves says what it is all for.

No index may be negative or beyond its end: compiled code does not look.
"""

from treasure.core.words import COMPILED

__all__ = ["COMPILED", "SLOW"]

SLOW = "Our core is not compiled here: a page takes about ten times as long."
