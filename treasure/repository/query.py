"""Query: what somebody typed into the search box, understood.

    red giants "main sequence" -kepler title:star OR site:example.org number:523 lang:en

Words must all occur, in any form (stemming); ``"..."`` is a phrase; ``-`` excludes; ``OR`` between
two terms takes either. ``title:`` looks in titles only; ``site:``, ``topic:``, ``number:``,
``lang:`` and ``job:`` filter. Nothing else has a meaning, so nothing can be injected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from treasure.errors import QueryError, did_you_mean
from treasure.repository.tags import tag
from treasure.text import STOP_WORDS, words

FILTERS = ("site", "topic", "number", "lang", "job")
FIELDS = ("title", *FILTERS)
MAX_CHARACTERS = 1_000
MAX_TERMS = 40

_TERM = re.compile(
    r"""\s*(?P<minus>-)?(?:(?P<field>[a-zA-Z_]{2,20}):(?=["\w]))?
    (?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase, or a filter."""

    tokens: tuple[str, ...]
    """The words of a phrase in order; for a filter its tag."""
    field: str = ""
    """``title``, ``tags``, or empty for title and text."""


@dataclass(frozen=True, slots=True)
class Query:
    """All of *wanted* (each: one of its terms) and none of *excluded*."""

    wanted: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    def marked(self) -> frozenset[str]:
        """Return the words that a snippet marks."""
        terms = (term for choice in self.wanted for term in choice if term.field != "tags")
        return frozenset(token for term in terms for token in term.tokens)

    def narrowed(self, field: str, value: str) -> Query:
        """Return the query with one more filter."""
        return Query((*self.wanted, (Term((tag(field, value),), "tags"),)), self.excluded)


def parse(text: str) -> Query:
    """Return the query behind *text*; raise QueryError with what to change."""
    if len(text) > MAX_CHARACTERS:
        raise QueryError(
            f"The query has {len(text):,} characters; expected at most {MAX_CHARACTERS:,}."
        )
    if text.count('"') % 2:
        raise QueryError(
            'The query has a quotation mark without its partner: write phrases as "red giants".'
        )
    wanted: list[list[Term]] = []
    excluded: list[Term] = []
    either = False
    for match in _TERM.finditer(text):
        if match["word"] == "OR" and not match["field"] and not match["minus"]:
            either = True
            continue
        term = _term(match)
        if term is None:
            continue
        if match["minus"]:
            excluded.append(term)
        elif either and wanted:
            wanted[-1].append(term)
        else:
            wanted.append([term])
        either = False
    if not wanted:
        reason = "only says what to leave out" if excluded else "has no words to look for"
        raise QueryError(f"The query {reason}: give at least one word, phrase or filter.")
    if sum(map(len, wanted)) + len(excluded) > MAX_TERMS:
        raise QueryError(f"The query has more than {MAX_TERMS} terms: leave some out.")
    return Query(tuple(tuple(choice) for choice in _without_stop_words(wanted)), tuple(excluded))


def _term(match: re.Match[str]) -> Term | None:
    """Return the term; None for what has no letters or digits."""
    field = (match["field"] or "").lower()
    value = match["phrase"] if match["phrase"] is not None else match["word"]
    if field and field not in FIELDS:
        if near := did_you_mean(field, FIELDS):
            raise QueryError(f"There is no field {field!r}.{near} Fields: {', '.join(FIELDS)}.")
        value, field = f"{match['field']} {value}", ""
    if field in FILTERS:
        return _filter(field, value)
    tokens = tuple(words(value))
    return Term(tokens, field) if tokens else None


def _filter(field: str, value: str) -> Term:
    value = value.strip().rstrip("/*")
    if field == "number":
        if not re.fullmatch(r"\d{1,3}|\d{3}\.\d{1,20}", value):
            raise QueryError(
                "number: takes a Dewey number or its start, such as 52 or 523.4."
                f" Got {value!r} instead."
            )
    elif field == "site":
        value = re.sub(r"^https?://", "", value).partition("/")[0].removeprefix(".")
    elif field == "lang" and not re.fullmatch(r"[A-Za-z]{2,3}", value):
        raise QueryError(f"lang: takes an ISO 639-1 code such as en. Got {value!r} instead.")
    if not value:
        raise QueryError(f"{field}: needs a value, such as {field}:example.")
    return Term((tag(field, value),), "tags")


def _without_stop_words(wanted: list[list[Term]]) -> list[list[Term]]:
    """Leave out words that are on nearly every page, unless there is nothing else."""
    kept = [choice for choice in wanted if not all(_is_stop(term) for term in choice)]
    return kept or wanted


def _is_stop(term: Term) -> bool:
    return term.field == "" and len(term.tokens) == 1 and term.tokens[0] in STOP_WORDS
