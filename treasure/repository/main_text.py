"""Main text and language of a stored page.

trafilatura finds the article among menus and footers better than our own blocks do, and takes some
ten milliseconds a page: too long for a crawl that does everything else in five, so it runs later,
in a process of its own (``finishing``).
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)

MAX_HTML_BYTES = 2_000_000
"""Larger pages keep the text of their blocks: trafilatura's time grows faster than the page."""
MAX_TAGS = 40_000
"""So do pages of more tags, for the same reason: half a million take it minutes."""
LEAST_SHARE = 0.1
"""trafilatura's text must be at least this share of the blocks' text, or it missed the point."""
LANGUAGE_CHARACTERS = 1_500
"""As good as the whole page for telling the language, in a fifth of the time."""
LEAST_CERTAINTY = 0.9


def main_text(html: bytes, blocks: str) -> str:
    """Return the main text of *html*, or *blocks* where trafilatura finds too little."""
    if not html or len(html) > MAX_HTML_BYTES or html.count(b"<") > MAX_TAGS:
        return blocks
    try:
        found = _trafilatura().extract(html, include_comments=False, deduplicate=False) or ""
    except Exception as error:  # a library that reads what anybody may write
        logger.info("trafilatura failed: %s", error)
        return blocks
    return found if len(found) >= LEAST_SHARE * len(blocks) else blocks


def language_of(declared: str, text: str) -> str:
    """Return an ISO 639-1 code: as declared, else as the text reads; empty when unsure."""
    if declared:
        return declared
    start = text[:LANGUAGE_CHARACTERS]
    if len(start) < 40:
        return ""
    code, certainty = _identifier().classify(start)
    return str(code) if certainty >= LEAST_CERTAINTY and code != "zxx" else ""


@cache
def _trafilatura() -> Any:
    import trafilatura

    # It warns of every page that has no text; that is not news here.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return trafilatura


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
