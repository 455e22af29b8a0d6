"""What addresses themselves say, of all new ones of a page at once.

Serves ``strategies.link_features``, whose folders, shapes and words these are, and ``traps``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cython

_SHAPE_LENGTH = cython.declare(cython.Py_ssize_t, 12)


def place(
    rows: list,
    urls: list,
    source: str,
    names: tuple[Callable[[str], Any], ...],
    fronts: frozenset,
    columns: tuple[Any, ...],
    front: cython.uchar[:],
) -> tuple[list[list[str]], list[str]]:
    """Write down the kinds of addresses that were found at the host *source*.

    *names* tell what is known of a folder, the numbers of a host and of a shape, and whether an
    ending is that of a file. Return the words of each folder, and the rest of each address.
    """
    folder_of, host_of, shape_of, is_file = names
    kinds: cython.int[:, ::1] = columns[0]
    media: cython.uchar[::1] = columns[5]
    above: list = []
    rests: list = []
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    mark: cython.Py_ssize_t
    end: cython.Py_ssize_t
    dot: cython.Py_ssize_t
    way: cython.int = -1
    for i in range(len(urls)):
        url: str = urls[i]
        mark = url.find("?")
        path: str = url if mark < 0 else url[:mark]
        end = path.rindex("/")
        folder: tuple = cython.cast(tuple, folder_of(path[:end]))
        host: str = folder[0]
        dot = path.find(".", end)
        name: str = path[end + 1 :] if dot < 0 else path[end + 1 : dot]
        ending: str = "" if dot < 0 else path[dot + 1 :]
        row = rows[i]
        kinds[row, 1] = -1
        if host != source:
            if way < 0:
                way = host_of(source)
            kinds[row, 1] = way
        dot = max(len(ending) - _SHAPE_LENGTH, 0)
        kinds[row, 0] = shape_of(f"{host} {ending[dot:]}")
        kinds[row, 2] = folder[1]
        kinds[row, 3] = folder[2]
        kinds[row, 4] = folder[3]
        media[row] = 1 if ending and is_file(ending) else 0
        front[row] = 1 if name.lower() in fronts else 0
        above.append(folder[4])
        rests.append(url[end:])
    return above, rests


def numbers(
    above: list,
    texts: list,
    most: cython.Py_ssize_t,
    noise: frozenset,
    get: Callable[[str], int | None],
    met: Callable[[str], int],
) -> list[list[int]]:
    """Return the numbers of the last words of each address, at *most* so many, but for *noise*.

    The words of its folder stand *above* its own. *get* knows most numbers, *met* all of them.
    """
    found: list = []
    asked: dict = {}
    i: cython.Py_ssize_t
    lacking: cython.Py_ssize_t
    for i in range(len(texts)):
        own: list = texts[i]
        folder: list = above[i]
        lacking = min(max(most - len(own), 0), len(folder))
        words: list = folder[len(folder) - lacking :] + own[max(len(own) - most, 0) :]
        terms: list = []
        for word in words:
            if word in noise:
                continue
            number = get(word)
            if number is None:
                number = asked.get(word)
                if number is None:
                    number = asked[word] = met(word)
            terms.append(number)
        found.append(terms)
    return found


def all_free(
    links: Any,
    nofollow: cython.bint,
    verdicts: dict[str, str],
    hosts: dict[str, str],
    endings: frozenset,
    longest: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
) -> bool:
    """Tell whether no rule refuses any of *links*, as far as that is known or easily seen.

    It is seen of plain addresses (``is_plain``) that are no longer than *longest*, at hosts that no
    rule refuses, with another ending than those of files: most are, and to see that takes less time
    than to look into *verdicts*. With *nofollow* links that are marked so are refused.
    """
    slash: cython.Py_ssize_t
    dot: cython.Py_ssize_t
    for each in links:
        link: tuple = cython.cast(tuple, each)
        url: str = link[0]
        if nofollow and link[5]:
            return False
        slash, dot = _cut(url, most)
        if (
            slash == 0
            or len(url) > longest
            or hosts.get(url[8 if url[4] == "s" else 7 : slash]) != ""
            or (dot > 0 and url[dot + 1 :].lower() in endings)
        ) and verdicts.get(url) != "":
            return False
    return True


def is_plain(url: str, most: cython.Py_ssize_t) -> bool:
    """Tell whether an address has no query, at *most* so many slashes, and no four digits in a row.

    The host may have them, but not begin with them.
    """
    slash: cython.Py_ssize_t
    slash, _ = _cut(url, most)
    return slash > 0


@cython.cfunc
def _cut(url: str, most: cython.Py_ssize_t) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Return where the host of a plain address ends, and the last dot behind its last slash.

    Both are 0 where there is none.
    """
    begin: cython.Py_ssize_t
    i: cython.Py_ssize_t
    slash: cython.Py_ssize_t = 0
    dot: cython.Py_ssize_t = 0
    slashes: cython.Py_ssize_t = 0
    digits: cython.Py_ssize_t = 0
    sign: cython.Py_UCS4
    if url.startswith("http://"):
        begin = 7
    elif url.startswith("https://"):
        begin = 8
    else:
        return 0, 0
    for i in range(begin, len(url)):
        sign = url[i]
        if sign == "?":
            return 0, 0
        if sign == "/":
            if i == begin or slashes == most:
                return 0, 0
            slash = slash or i
            slashes += 1
            digits = dot = 0
        elif slashes or digits == i - begin:
            if sign == "&" and slashes:
                return 0, 0
            if sign == "." and slashes:
                dot = i
            if "0" <= sign <= "9" or (sign > "\x7f" and sign.isdecimal()):
                digits += 1
                if digits == 4:
                    return 0, 0
            else:
                digits = 0
    return slash, dot
