"""The exceptions that Treasure raises on purpose. Those of one module alone stand there.

    TreasureError
    ├── UserError                  somebody typed or configured something wrong: exit code 2
    │   ├── ConfigError            a setting or spider argument
    │   ├── TopicError             a topic that cannot be understood
    │   ├── LexiconError           a lexicon file with a wrong line
    │   ├── WebError               a virtual web that cannot be read
    │   ├── GraphError             a T-Graph that cannot be built, read or used here
    │   ├── QueryError             a search query that cannot be understood
    │   └── JobError               an unknown job, or one that another process holds
    ├── UnreadablePageError        a page that is no page; the crawl counts it and goes on
    └── UnavailableError           a part that we need does not answer
        ├── FrontierUnavailable
        └── RepositoryUnavailable

A message says what was wrong, what was expected and what to do, in one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TreasureError(Exception):
    """The root of the tree above."""


class UserError(TreasureError):
    """A mistake of the user: shown as one line, without a traceback, exit code 2."""


class ConfigError(UserError):
    """A setting or spider argument with a wrong name or value."""


class TopicError(UserError):
    """A topic that cannot be understood."""


class LexiconError(UserError):
    """A lexicon or an import that cannot be read; names file and line."""


class WebError(UserError):
    """A virtual web that cannot be read."""


class GraphError(UserError):
    """A T-Graph that cannot be built, read, or used for this topic."""


class QueryError(UserError):
    """A search query that cannot be understood."""


class JobError(UserError):
    """An unknown job, or one that another process holds."""


class UnreadablePageError(TreasureError):
    """A response that is no readable page."""


class UnavailableError(TreasureError):
    """A part that we need does not answer."""


class FrontierUnavailable(UnavailableError):
    """The frontier's server or file cannot be used now."""


class RepositoryUnavailable(UnavailableError):
    """The repository's database cannot be used now."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest known word, or an empty string."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
