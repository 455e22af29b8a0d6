"""Why a crawl stopped, in words that a person understands."""

from __future__ import annotations

REPOSITORY_UNAVAILABLE = "repository_unavailable"

REASONS = {
    "finished": "the frontier is empty: every link that was found and allowed has been fetched",
    "max_pages": "it fetched as many pages as max_pages allows",
    "max_minutes": "it ran as long as max_minutes allows",
    "shutdown": "it was asked to stop (Ctrl-C, SIGTERM or Scrapyd's cancel)",
    "cancelled": "it was cancelled",
    "stopped": "somebody stopped it with `treasure steer stop`",
    "configuration_error": "it could not start; the line above says what to mend",
    "unavailable": "it could not start: its repository or its frontier does not answer",
    REPOSITORY_UNAVAILABLE: "the repository could not be written; the log says why",
    "frontier_damaged": "the frontier could not be read; the log says why",
    "no_seed_answered": "none of the seeds could be fetched",
    "start_error": "the seeds could not be read",
    "closespider_pagecount": "it fetched as many pages as CLOSESPIDER_PAGECOUNT allows",
    "closespider_itemcount": "it found as many items as CLOSESPIDER_ITEMCOUNT allows",
    "closespider_timeout": "it ran as long as CLOSESPIDER_TIMEOUT allows",
    "closespider_errorcount": "it met as many errors as CLOSESPIDER_ERRORCOUNT allows",
    "memusage_exceeded": "it used more memory than MEMUSAGE_LIMIT_MB allows",
}

HINDERED = frozenset(
    {"unavailable", REPOSITORY_UNAVAILABLE, "frontier_damaged", "no_seed_answered"}
)
"""Reasons for which a crawl did not do what it was asked to; it may be worth another try."""


def in_words(reason: str) -> str:
    """Return the sentence behind a finish reason of Scrapy's or ours."""
    return REASONS.get(reason, reason.replace("_", " "))
