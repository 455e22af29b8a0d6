"""Content block partition: a page cut into the largest regions that look like one topic each.

Peng, Du, Hai, Chen and Gao, "Focused crawling enhanced by CBP-SLC" (Knowledge-Based Systems 2014),
algorithm 1. Over the DOM from the root: an element v is split into its children when one of them
has at least k = 1 links and blockHeight(v) >= alpha x blockHeight(root), alpha = 0.5; otherwise v
is a content block. blockHeight counts the block tags on the longest way down from v.

Decision: beside the paper's block tags, those that HTML has got since (section, nav, ...), ol, dl,
and a div that holds blocks. Text that stands directly in a split element belongs to no block with
links, so nobody needs it. Pages that come without their HTML are partitioned as they were read,
into paragraphs and lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import lxml.html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from treasure.pages import Page
from treasure.text import VOCABULARY, words
from treasure.text_model import Terms
from treasure.urls import canonical, join

ALPHA = 0.5
BLOCK_TAGS = frozenset(
    "h1 h2 h3 h4 h5 h6 p address center ul dt table th tr td"
    " ol dl section article nav aside main".split()
)
_HIDDEN = frozenset(("script", "style", "noscript", "template"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link within a block: where it leads, its words, and all words under its parent element."""

    url: str
    terms: Terms
    context: Terms


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """A region of a page: its words and its links."""

    terms: Terms
    anchors: list[Anchor]


def content_blocks(page: Page, *, alpha: float = ALPHA) -> list[ContentBlock]:
    """Return the content blocks of *page* that have links."""
    root = _tree(page.html)
    if root is None:
        return _as_read(page)
    base = join(page.url, root.xpath("string((//base/@href)[1])")) or page.url
    blocks = []
    for element in partition(root, alpha=alpha):
        anchors = list(_anchors(element, base))
        if anchors:
            blocks.append(ContentBlock(_terms(element), anchors))
    return blocks


def partition(root: HtmlElement, *, alpha: float = ALPHA) -> list[HtmlElement]:
    """Return the elements that are content blocks, in the breadth-first order of algorithm 1."""
    heights, links = _measure(root)
    least = alpha * heights[root]
    found = []
    queue = [root]
    for v in queue:  # grows while we walk it
        children = [child for child in v if child in heights]
        if heights[v] >= least and any(links[child] for child in children):
            queue.extend(children)
        else:
            found.append(v)
    return found


def _measure(root: HtmlElement) -> tuple[dict[HtmlElement, int], dict[HtmlElement, int]]:
    """Return blockHeight and the number of links of each element, itself included.

    Bottom up without recursion: in reverse document order children come before their parents.
    """
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    heights = dict.fromkeys(elements, 0)
    links = dict.fromkeys(elements, 0)
    for element in reversed(elements):
        links[element] += element.tag == "a" and "href" in element.attrib
        if element is root:
            break
        parent = element.getparent()
        block = element.tag in BLOCK_TAGS or (element.tag == "div" and heights[element] > 0)
        heights[parent] = max(heights[parent], heights[element] + block)
        links[parent] += links[element]
    return heights, links


def _tree(html: str) -> HtmlElement | None:
    if not html.strip():
        return None
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except ParserError:  # nothing but comments
        return None


def _anchors(block: HtmlElement, base: str) -> Iterator[Anchor]:
    contexts: dict[HtmlElement, Terms] = {}
    for anchor in block.iter("a"):
        url = canonical(join(base, anchor.get("href", "").strip()))
        if not url or "href" not in anchor.attrib:
            continue
        parent = anchor.getparent()
        if parent not in contexts:
            contexts[parent] = _terms(parent)
        yield Anchor(url, _terms(anchor), contexts[parent])


def _terms(element: HtmlElement) -> Terms:
    return VOCABULARY.ids(words(" ".join(_texts(element))))


def _texts(element: HtmlElement) -> Iterator[str]:
    for part in element.iter():
        if isinstance(part.tag, str) and part.tag not in _HIDDEN and part.text:
            yield part.text
        if part is not element and part.tail:
            yield part.tail


def _as_read(page: Page) -> list[ContentBlock]:
    anchors: dict[int, list[Anchor]] = {}
    for link in page.links:
        around = page.context(link)
        anchor = Anchor(
            link.url,
            page.terms[link.anchor.start : link.anchor.stop],
            page.terms[around.start : around.stop],
        )
        anchors.setdefault(link.block, []).append(anchor)
    spans = {index: page.blocks[index].span for index in anchors}
    return [
        ContentBlock(page.terms[span.start : span.stop], anchors[i]) for i, span in spans.items()
    ]
