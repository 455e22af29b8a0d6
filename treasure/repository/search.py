"""Search: full text over what is stored, SQLite's FTS5 or PostgreSQL's tsvector.

The text index gives the best few hundred pages by words (BM25; ``ts_rank``); they are ordered by
that times a weight of their relevance. A query that fits more than ``BROAD`` pages says little
about any of them, and to rank all would take long: then the most relevant of them are ranked,
found through the tags for steps of relevance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select, text

from treasure.errors import QueryError
from treasure.repository.models import contents, duplicates, pages, unfinished
from treasure.repository.query import Query, Term, parse
from treasure.repository.snippets import READ_CHARACTERS, Piece, mark, snippet, stems_of
from treasure.repository.store import Store
from treasure.repository.tags import TIERS, tag

BROAD = 5_000
"""Pages that are ranked by their words at most, in SQLite."""
CANDIDATES = 100
TSVECTOR_RANKED = 500
"""The same in PostgreSQL."""
DEEPEST = 1_000
"""Results behind this one are not shown: narrow the query instead."""
TITLE_WEIGHT = 5.0


class Candidate(NamedTuple):
    """A page that fits, and how well its words do."""

    page_id: int
    key: int
    relevance: float
    fit: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One result."""

    page_id: int
    job: str
    url: str
    title: list[Piece]
    snippet: list[Piece]
    score: float
    relevance: float
    topic: str
    numbers: list[tuple[str, float]]
    language: str
    fetched_at: float
    duplicates: int
    """How many other pages say the same and are not shown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A page of results."""

    total: int
    """Pages that fit, before results with the same address are shown as one."""
    hits: list[Hit]
    unfinished: int
    """Stored pages that wait to be indexed."""


def search(
    store: Store, query: str, *, job: str | None = None, offset: int = 0, limit: int = 10
) -> Answer:
    """Return results *offset* to *offset* + *limit* for *query*; raise QueryError."""
    if offset < 0 or not 1 <= limit <= 100 or offset + limit > DEEPEST:
        raise QueryError(f"Results 1 to {DEEPEST:,} can be shown, at most 100 at a time.")
    parsed = parse(query)
    if job is not None:
        parsed = parsed.narrowed("job", job)
    with store.reading() as connection:
        engine = _Tsvector(connection) if store.is_postgresql else _Fts5(connection)
        total = engine.count(parsed)
        wanted = max(CANDIDATES, 2 * (offset + limit))
        found = engine.best(parsed, wanted) if total <= BROAD else engine.broad(parsed, wanted)
        chosen = _ordered(found)[offset : offset + limit]
        hits = _hits(connection, chosen, stems_of(parsed.marked()))
        waiting = connection.execute(select(func.count()).select_from(unfinished)).scalar_one()
    return Answer(total, hits, int(waiting))


def weighed(words: float, relevance: float) -> float:
    """Return the score of a result: how its words fit, weighed by its relevance."""
    return words * (0.4 + 0.6 * relevance)


def _ordered(found: Iterable[Candidate]) -> list[tuple[float, int]]:
    """Order by words and relevance; of pages with the same address the best remains."""
    best: dict[int, tuple[float, int]] = {}
    for page_id, key, relevance, fit in found:
        score = (weighed(fit, relevance), page_id)
        best[key] = max(score, best.get(key, score))
    return sorted(best.values(), reverse=True)


_SHOWN = """id job url final_url title relevance topic numbers language fetched_at""".split()


def _hits(
    connection: Connection, chosen: list[tuple[float, int]], stems: frozenset[str]
) -> list[Hit]:
    others = (
        select(func.count())
        .where(duplicates.c.kept_id == pages.c.id)
        .scalar_subquery()
        .label("others")
    )
    query = (
        select(
            *(pages.c[name] for name in _SHOWN),
            func.substr(contents.c.text, 1, READ_CHARACTERS).label("text"),
            others,
        )
        .join(contents, contents.c.page_id == pages.c.id)
        .where(pages.c.id.in_([page_id for _, page_id in chosen]))
    )
    rows = {row.id: row for row in connection.execute(query)}
    return [_hit(rows[page_id], score, stems) for score, page_id in chosen if page_id in rows]


def _hit(row: Any, score: float, stems: frozenset[str]) -> Hit:
    return Hit(
        page_id=row.id,
        job=row.job,
        url=row.final_url or row.url,
        title=mark(row.title, stems),
        snippet=snippet(row.text, stems),
        score=round(score, 4),
        relevance=row.relevance,
        topic=row.topic,
        numbers=[(number, share) for number, share in row.numbers],
        language=row.language,
        fetched_at=row.fetched_at,
        duplicates=row.others,
    )


class _Fts5:
    """SQLite."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def count(self, query: Query) -> int:
        """Return how many pages fit."""
        statement = text("SELECT count(*) FROM search WHERE search MATCH :query")
        return int(self.connection.execute(statement, {"query": self.render(query)}).scalar_one())

    def best(self, query: Query, limit: int) -> list[Candidate]:
        """Return the pages whose words fit best."""
        return self._ranked(self.render(query), -1, limit)

    def broad(self, query: Query, limit: int) -> list[Candidate]:
        """Return the pages whose words fit best among the most relevant."""
        steps: list[Term] = []
        count = 0
        for step in range(TIERS - 1, -1, -1):
            count += self.count(query.narrowed("tier", str(step)))
            steps.append(Term((tag("tier", str(step)),), "tags"))
            if count >= BROAD:
                break
        some = Query((*query.wanted, tuple(steps)), query.excluded)
        return self._ranked(self.render(some), BROAD, limit)

    def _ranked(self, match: str, ranked: int, limit: int) -> list[Candidate]:
        """Return the best *limit* of the first *ranked* (-1: all) pages that fit."""
        statement = text(
            "SELECT pages.id, pages.key, pages.relevance, best.fit FROM ("
            "  SELECT page_id, fit FROM ("
            f"    SELECT rowid AS page_id, -bm25(search, {TITLE_WEIGHT}, 1.0, 0.0) AS fit"
            "    FROM search WHERE search MATCH :query LIMIT :ranked)"
            "  ORDER BY fit DESC LIMIT :limit) AS best"
            " JOIN pages ON pages.id = best.page_id"
        )
        values = {"query": match, "ranked": ranked, "limit": limit}
        return [Candidate(*row) for row in self.connection.execute(statement, values)]

    def render(self, query: Query) -> str:
        """Return *query* in FTS5's language: every word is quoted, so nothing else is said."""
        wanted = " AND ".join(
            "(" + " OR ".join(map(self._term, choice)) + ")" for choice in query.wanted
        )
        if not query.excluded:
            return wanted
        return f"({wanted}) NOT ({' OR '.join(map(self._term, query.excluded))})"

    @staticmethod
    def _term(term: Term) -> str:
        columns = f"{{{term.field or 'title text'}}}"
        return f'{columns} : "{" ".join(term.tokens)}"'


class _Tsvector:
    """PostgreSQL."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        # For a word on half of the pages the planner reads the table, and unpacks every document.
        connection.execute(text("SET LOCAL enable_seqscan = off"))

    def count(self, query: Query) -> int:
        """Return how many pages fit."""
        match, _, values = self.render(query)
        statement = text(f"SELECT count(*) FROM contents WHERE {match}")
        return int(self.connection.execute(statement, values).scalar_one())

    def best(self, query: Query, limit: int) -> list[Candidate]:
        """Return the pages whose words fit best among the most relevant.

        ``ts_rank`` unpacks the document of every page it ranks, so there are no more of them here.
        """
        match, words, values = self.render(query)
        # Weights of D (tags), C, B (text), A (title); 1 divides by the logarithm of the length.
        statement = text(
            "SELECT id, key, relevance,"
            f" ts_rank(CAST('{{0, 0, 0.2, 1}}' AS real[]), document, {words}, 1) AS fit FROM ("
            "  SELECT id, key, relevance, document FROM contents JOIN pages ON pages.id = page_id"
            f"  WHERE {match} ORDER BY relevance DESC LIMIT {TSVECTOR_RANKED}) AS found"
            " ORDER BY fit DESC LIMIT :limit"
        )
        found = self.connection.execute(statement, values | {"limit": limit})
        return [Candidate(*row) for row in found]

    broad = best

    def render(self, query: Query) -> tuple[str, str, dict[str, str]]:
        """Return *query* as a condition, its words as one tsquery, and the values in both."""
        values: dict[str, str] = {}

        def one(term: Term) -> str:
            name = f"q{len(values)}"
            values[name] = " <-> ".join(f"'{token}'" for token in term.tokens)
            return f"to_tsquery('{'simple' if term.field == 'tags' else 'english'}', :{name})"

        def fits(term: Term, words: str) -> str:
            return f"{'title_document' if term.field == 'title' else 'document'} @@ {words}"

        choices = [[(term, one(term)) for term in choice] for choice in query.wanted]
        without = [(term, one(term)) for term in query.excluded]
        wanted = ["(" + " OR ".join(fits(*pair) for pair in choice) + ")" for choice in choices]
        excluded = [f"NOT ({fits(*pair)})" for pair in without]
        words = " || ".join(rendered for choice in choices for _, rendered in choice)
        return " AND ".join([*wanted, *excluded]), f"({words})", values
