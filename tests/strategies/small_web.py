"""Small pages and briefs for the tests of strategies: real HTML, the real judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.judge import Judge
from treasure.extract import read_page
from treasure.pages import Page, Verdict
from treasure.strategies.base import Arrival, Brief
from treasure.text import VOCABULARY, words
from treasure.topics import Topic

BIRDS = Topic(name="birds", description="Birds: plumage, nests, eggs, song and flight.")
HOST = "http://small.test/"

BIRD_WORDS = "bird plumage nest egg song flight feather wing beak migration".split()
TRAIN_WORDS = "train locomotive station gauge rail carriage signal steam driver ticket".split()
OTHER_WORDS = "city river council market tower museum street harbour bridge festival".split()


def url(name: str) -> str:
    return name if name.startswith("http://") else f"{HOST}{name}.htm"


def page(name: str, *paragraphs: str, title: str = "") -> Page:
    """Return a page of paragraphs; ``[Target|anchor text]`` in them is a link."""
    body = "".join(f"<p>{_linked(text)}</p>" for text in paragraphs)
    head = f"<head><title>{title}</title></head>" if title else ""
    return read_page(url(name), f"<html>{head}<body>{body}</body></html>")


def _linked(text: str) -> str:
    parts = text.replace("]", "[").split("[")
    for i in range(1, len(parts), 2):
        target, _, anchor = parts[i].partition("|")
        parts[i] = f'<a href="{url(target)}">{anchor}</a>'
    return "".join(parts)


def terms(text: str) -> NDArray[np.int32]:
    return VOCABULARY.ids(words(text))


def arrival(page: Page, relevance: float = 0.5, *, depth: int = 1, score: float = 1.0) -> Arrival:
    verdict = Verdict(relevance, relevance >= 0.5)
    return Arrival(page.url, page, verdict, depth=depth, score=score)


def brief(
    topic: Topic = BIRDS,
    *,
    examples: Sequence[Page] = (),
    background: Sequence[Page] = (),
    **others: Any,
) -> Brief:
    judge = Judge([topic], examples=examples, background=background)
    return Brief(topic, judge, examples=examples, background=background, **others)


def prose(vocabulary: Sequence[str], start: int, length: int = 40) -> str:
    """Return words of *vocabulary*, another selection for each *start*."""
    return " ".join(vocabulary[(start * 7 + i * i) % len(vocabulary)] for i in range(length))


def bird_examples(count: int = 5) -> list[Page]:
    return [
        page(f"Example_{i}", prose(BIRD_WORDS, i) + " " + prose(OTHER_WORDS, i, 5), title="Birds")
        for i in range(count)
    ]


def mixed_background(count: int = 40) -> list[Page]:
    kinds = (TRAIN_WORDS, OTHER_WORDS)
    return [page(f"Background_{i}", prose(kinds[i % 2], i), title="Page") for i in range(count)]


def small_web(size: int = 24) -> list[Page]:
    """Return pages about birds, trains and cities that link to each other and beyond."""
    kinds = (("bird", BIRD_WORDS), ("train", TRAIN_WORDS), ("city", OTHER_WORDS))
    pages = []
    for i in range(size):
        kind, vocabulary = kinds[i % 3]
        links = []
        for step in (1, 3, 5, 9):
            other = (i + step) % size
            about, _ = kinds[other % 3]
            links.append(
                f"{prose(vocabulary, i + step, 6)} [Page_{other}|the {about} page {other}]"
            )
        links.append(f"[Beyond_{i}|another {kind}] and [Beyond_{i}_b|more]")
        texts = (prose(vocabulary, i), ". ".join(links), prose(vocabulary, i + 1, 15))
        pages.append(page(f"Page_{i}", *texts, title=f"The {kind} page {i}"))
    return pages
