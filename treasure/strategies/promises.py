"""Promises: what the papers' priority promises of waiting links, and what became of others.

A priority of 1 / distance is a promise: behind a node of level 1 lies a target. As outcomes come in
they outweigh it, step by step:

1. of links of the same *kind*: those that matched the same node or, where none is to match, those
   whose predicted topic is alike;
2. of links to the same *section* (host and first directory), against the mean of the crawl. Of
   a section that nobody knows EXPECTED is expected: more than that mean while nothing is found, so
   that the crawl looks elsewhere before it goes on with the same, and less once it is;
3. of links of the same *paragraph* to the same section.

Before any outcome a score is the papers' own, to the last digit. A link that leads nowhere kept
nothing. What waits is re-scored every few pages; of the changes the largest scores go first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from treasure.pages import Span
from treasure.strategies.memory import Bounded
from treasure.strategies.rates import NamedTally, Tally

Floats = NDArray[np.float64]

OF_NODE, OF_TOPIC = 4.0, 16.0
"""Outcomes of a kind of links that weigh as much as its promise. A node stands for few links, a
predicted topic for most of them: that the first 50 led nowhere says less of the next."""
OF_SECTION = OF_PARAGRAPH = 2.0
"""The same for sections and paragraphs, against what is expected of the kind."""
EXPECTED = 0.12
"""Relevance expected of a section that nobody knows."""
EVERY = 8
"""Outcomes between two looks at all that waits."""
MOVED = 0.1
"""Share of a score below which a change is too small to tell the frontier."""
PASSED_ON = 2_000
"""Changed scores passed on at once."""
WAITING = 50_000
"""Links that are remembered; the oldest keep the score they have."""

_LINK = np.dtype(
    [
        ("key", np.int64),
        ("score", np.float64),
        ("promise", np.float64),
        ("kind", np.int32),
        ("of_node", np.bool_),
        ("section", np.int32),
        ("paragraph", np.int32),
        ("sent", np.float64),
        ("waits", np.bool_),
    ]
)


class Promises:
    """Scores of waiting links, corrected by outcomes."""

    def __init__(self, waiting: int = WAITING) -> None:
        self._links = np.zeros(waiting, _LINK)
        self._rows: dict[int, int] = {}
        self._free = list(range(waiting))[::-1]
        self._done: Bounded[int, bool] = Bounded()
        self._kinds = NamedTally(100_000)
        self._sections = NamedTally(100_000)
        self._paragraphs = Tally(1 << 18)
        self._outcomes, self._relevance = 0, 0.0
        self._changed: dict[int, float] = {}

    def make(
        self,
        keys: Sequence[int],
        scores: Floats,
        promises: Floats,
        nodes: Sequence[int],
        topics: Sequence[str],
        places: Sequence[tuple[Span, str]],
    ) -> Floats:
        """Take in links with the papers' *scores*, and return these as outcomes correct them.

        *promises* are the priorities in the scores, without what only orders equal ones. A link
        has a node, else -1, a predicted topic, and a place: its paragraph and where it leads.
        """
        distinct = list(dict.fromkeys(places))
        paragraphs = dict(zip(distinct, self._paragraphs.several(len(distinct)), strict=True))
        links = np.zeros(len(keys), _LINK)
        links["key"], links["waits"] = keys, True
        links["score"], links["promise"] = scores, promises
        named = zip(nodes, topics, strict=True)
        kinds = [f"node {node}" if node >= 0 else topic for node, topic in named]
        links["kind"] = [self._kinds.number(kind) for kind in kinds]
        links["of_node"] = np.asarray(nodes) >= 0
        links["section"] = [self._sections.number(section) for _, section in places]
        links["paragraph"] = [paragraphs[place] for place in places]
        links["sent"] = self._expected(links)
        ahead = [at for at, key in enumerate(keys) if key not in self._done]
        self._links[[self._row(keys[at]) for at in ahead]] = links[ahead]
        return links["sent"]

    def kept(self, key: int, relevance: float) -> None:
        """Take in the *relevance* of what a link led to; 0 when it led nowhere."""
        self._done[key] = True
        row = self._rows.get(key)
        if row is None:
            return
        link = self._links[row]
        for tally, name in (
            (self._kinds, "kind"),
            (self._sections, "section"),
            (self._paragraphs, "paragraph"),
        ):
            tally.add(int(link[name]), relevance)
        self._forget(key)
        self._outcomes += 1
        self._relevance += relevance
        if self._outcomes % EVERY == 0:
            self._look_again()

    def changed(self) -> Mapping[int, float]:
        """Return the new scores of waiting links, since last asked."""
        changed, self._changed = self._changed, {}
        return changed

    def _expected(self, links: NDArray[Any]) -> Floats:
        """Return the papers' scores of *links*, corrected by all outcomes."""
        promise = links["promise"]
        mean = max(EXPECTED, self._relevance / max(self._outcomes, 1))
        expected = np.where(
            links["of_node"],
            self._kinds.relevance(links["kind"], promise, OF_NODE),
            self._kinds.relevance(links["kind"], promise, OF_TOPIC),
        )
        of_section = self._sections.relevance(links["section"], EXPECTED, OF_SECTION)
        expected = expected * np.minimum(of_section / mean, 1.0)
        expected = self._paragraphs.relevance(links["paragraph"], expected, OF_PARAGRAPH)
        scores: Floats = np.minimum(links["score"] * expected / promise, 1.0)
        return scores

    def _look_again(self) -> None:
        rows = np.flatnonzero(self._links["waits"])
        links = self._links[rows]
        scores, sent = self._expected(links), links["sent"]
        moved = np.flatnonzero(np.abs(scores - sent) > MOVED * sent)
        if len(moved) > PASSED_ON:
            matters = np.maximum(scores[moved], sent[moved])
            moved = moved[np.argsort(-matters, kind="stable")[:PASSED_ON]]
        self._links["sent"][rows[moved]] = scores[moved]
        self._changed |= zip(links["key"][moved].tolist(), scores[moved].tolist(), strict=True)

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            if not self._free:
                self._forget(next(iter(self._rows)))
            row = self._rows[key] = self._free.pop()
        return row

    def _forget(self, key: int) -> None:
        row = self._rows.pop(key)
        self._links["waits"][row] = False
        self._free.append(row)

    def state(self) -> bytes:
        """Return what waits and what is known."""
        rows = list(self._rows.values())
        return msgspec.msgpack.encode(
            {
                "links": self._links[rows].tobytes(),
                "done": list(self._done),
                "kinds": self._kinds.state(),
                "sections": self._sections.state(),
                "paragraphs": self._paragraphs.state(),
                "mean": (self._outcomes, self._relevance),
            }
        )

    def restore(self, state: bytes) -> None:
        """Go on from what ``state`` returned."""
        saved = msgspec.msgpack.decode(state)
        links = np.frombuffer(saved["links"], _LINK)
        self._links[[self._row(key) for key in links["key"].tolist()]] = links
        self._done.update(dict.fromkeys(saved["done"], True))
        self._kinds.restore(saved["kinds"])
        self._sections.restore(saved["sections"])
        self._paragraphs.restore(saved["paragraphs"])
        self._outcomes, self._relevance = saved["mean"]
