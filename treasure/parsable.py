"""HTML that our parser can bear: what would keep it busy for minutes is smoothed or left out first.

What HTML 5 asks of a parser takes time that grows with the square of the page: an end tag is looked
for among all open elements, an attribute among all others of its tag, an option makes the parser
look at all options of its list, and formatting that nobody ends is opened again in every following
paragraph, until five megabytes of page fill the memory of the machine. In all that time nothing
else of the crawl would move. Pages in earnest pass unchanged; those that only might hurt go
through libxml2, which is simpler, and come back with every element ended.
"""

from __future__ import annotations

import re

MANY_TAGS = 3_000
"""Pages with fewer tags cannot hurt, and are not looked at."""
MAX_NESTING = 2_000
MAX_SEARCHES = 20_000_000
"""Open elements that end tags without a beginning may be looked for among, all together."""
MAX_REOPENED = 2_000_000
"""Elements that unended formatting may add to the page."""
MAX_OPTIONS = 2_000
LARGE = 100_000
"""Pages with fewer characters cannot have enough attributes to hurt."""
MAX_ATTRIBUTES = 1_000
"""A tag with more is left out."""
MAX_TAG_NAME = 1_000
"""Nor is a tag with a longer name read: every link within it would keep that."""

_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())
_ALIKE_FORMATTING = 3
"""The parser opens no more than so many formatting elements again that are quite alike."""
_NESTING_TAG = re.compile(
    r"<(/?)(?=[a-z])(?!(?:p|li|dt|dd|td|th|tr|br|hr|img|input|meta|link|area|base|col|wbr|source|"
    r"param|embed|track)\b)([a-z][^\s/>]*)(\s)?",
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
    """Return *html* so that parsing it takes no longer than its size tells."""
    html = _without_monsters(html)
    return _smoothed(html) if _may_hurt(html) else html


def _may_hurt(html: str) -> bool:
    if len(html) < 3 * MANY_TAGS or (tags := html.count("<")) < MANY_TAGS:
        return False
    depth = searches = formatting = options = 0
    opened: dict[str, int] = {}
    for tag in _NESTING_TAG.finditer(html):
        ending, name, attributes = tag.groups()
        name = name.lower()
        count = opened.get(name, 0)
        if name == "option":
            options += not ending
        elif not ending:
            depth += 1
            opened[name] = count + 1
            if name in _FORMATTING and (attributes or count < _ALIKE_FORMATTING):
                formatting += 1
        elif count:
            depth -= 1
            opened[name] = count - 1
            if name in _FORMATTING and formatting:
                formatting -= 1
        else:
            searches += depth
        if (
            depth > MAX_NESTING
            or searches > MAX_SEARCHES
            or formatting * tags > MAX_REOPENED
            or options > MAX_OPTIONS
        ):
            return True
    return False


def _smoothed(html: str) -> str:
    """Return *html* as libxml2 reads it, up to where it nests too deep, without selections."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    if root is None:
        return ""
    for selection in root.iter("select"):
        selection.clear(keep_tail=True)
    return str(etree.tostring(root, encoding="unicode", method="html"))


def _without_monsters(html: str) -> str:
    """Return *html* without tags that nobody needs and nobody can bear."""
    if len(html) < LARGE:
        return html
    kept, last = [], 0
    for tag in _TAG.finditer(html):
        start, end = tag.span()
        if end - start > MAX_TAG_NAME and _is_monster(tag[0]):
            kept.append(html[last:start])
            # What begins like a tag may be a comparison in a script; that must end all the same.
            script_end = html.find("</script", start, end)
            last = end if script_end < 0 else script_end
    return "".join([*kept, html[last:]]) if kept else html


def _is_monster(tag: str) -> bool:
    """Tell whether *tag* has more attributes, about, than we bear, or a longer name."""
    name, *attributes = _QUOTED.sub(" ", tag).replace("/", " ").split()
    return len(attributes) >= MAX_ATTRIBUTES or len(name) > MAX_TAG_NAME
