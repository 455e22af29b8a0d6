"""HTML that a parser can bear: what would keep it busy for minutes is taken out first.

Parsers look through all open elements for the one that an end tag closes, and through all
attributes of a tag for one of the same name. A page of five megabytes that does nothing else
takes them hours, in which nothing else of the crawl would move. Pages in earnest pass unchanged.
"""

from __future__ import annotations

import re

MAX_NESTING = 2_000
"""What lies deeper is not read."""
MAX_SEARCHES = 50_000_000
"""Open elements that end tags without a beginning may be looked for among, all together."""
MAX_ATTRIBUTES = 1_000
"""A tag with more is left out."""
MANY_TAGS = 10_000
"""Pages with fewer tags cannot be deep enough to hurt, and are not checked."""
LARGE = 100_000
"""Pages with fewer characters cannot have enough attributes to hurt."""

_NESTING_TAG = re.compile(
    r"<(/?)(?!(?:p|li|dt|dd|td|th|tr|option|br|hr|img|input|meta|link|area|base|col|wbr|source|"
    r"param|embed|track)\b)([a-z][^\s/>]*)",
    re.IGNORECASE,
)
_VALUE = r"""=\s*+(?:"[^"]*+"?+|'[^']*+'?+)"""
_TAG = re.compile(
    # It cannot fail once it has begun, or rubbish would be read again and again.
    rf"""<[a-z](?:[^>"'=]++|{_VALUE}|[="'])*+>?+""",
    re.IGNORECASE,
)
_QUOTED = re.compile(_VALUE)


def parsable(html: str) -> str:
    """Return *html* without what a parser takes too long for."""
    return _not_too_deep(_without_monsters(html))


def _not_too_deep(html: str) -> str:
    """Return *html* up to where its elements nest too deep, or too much is closed in vain."""
    if len(html) < 3 * MANY_TAGS or html.count("<") < MANY_TAGS:
        return html
    depth = searches = 0
    opened: dict[str, int] = {}
    for tag in _NESTING_TAG.finditer(html):
        name = tag[2].lower()
        count = opened.get(name, 0)
        if not tag[1]:
            depth += 1
            opened[name] = count + 1
        elif count > 1:
            depth -= 1
            opened[name] = count - 1
        elif count:
            depth -= 1
            del opened[name]
        else:
            searches += depth
        if depth > MAX_NESTING or searches > MAX_SEARCHES:
            return html[: tag.start()]
    return html


def _without_monsters(html: str) -> str:
    """Return *html* without tags of more than MAX_ATTRIBUTES attributes."""
    if len(html) < LARGE:
        return html
    kept, last = [], 0
    for tag in _TAG.finditer(html):
        start, end = tag.span()
        if end - start > 2 * MAX_ATTRIBUTES and _attributes(tag[0]) > MAX_ATTRIBUTES:
            kept.append(html[last:start])
            # What begins like a tag may be a comparison in a script; that must end all the same.
            script_end = html.find("</script", start, end)
            last = end if script_end < 0 else script_end
    return "".join([*kept, html[last:]]) if kept else html


def _attributes(tag: str) -> int:
    """Return how many attributes *tag* has, about; what is quoted does not count."""
    return len(_QUOTED.sub(" ", tag).replace("/", " ").split())
