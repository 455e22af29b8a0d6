"""What a crawl of a labelled web was worth, after so many pages.

The judge is the web's own list of targets, never ours. Training pages are neither found nor missed.
After n fetched pages, with h targets among them:

- harvest rate: h / n; target recall: h / targets;
- share of the oracle's hits: h / what ``oracle`` has after n pages;
- precision and recall of our verdicts among the fetched pages;
- target length (CBP-SLC 2014, eq. 10, as a mean): links walked from the seed or the last target on
  the way to a target; 1 means straight from target to target;
- CPU: milliseconds a page for judging it and scoring its links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import msgspec

from treasure.evaluation.simulate import Fetch

MEASURES = (
    "hits",
    "harvest_rate",
    "recall",
    "oracle_share",
    "verdict_precision",
    "verdict_recall",
    "target_length",
    "cpu_ms",
)


class Figures(msgspec.Struct, frozen=True):
    """The measures after *pages* pages."""

    pages: int
    hits: int
    harvest_rate: float
    recall: float
    oracle_hits: int
    oracle_share: float
    verdict_precision: float
    verdict_recall: float
    target_length: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over topics with its 95 % confidence interval."""

    value: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ±{self.half_width:.3f}"


def hit_curve(fetches: Iterable[Fetch], targets: frozenset[str]) -> list[int]:
    """Return the number of different targets after each fetch."""
    found: set[str] = set()
    curve = []
    for fetch in fetches:
        if fetch.url in targets:
            found.add(fetch.url)
        curve.append(len(found))
    return curve


def figures(
    fetches: Sequence[Fetch],
    targets: frozenset[str],
    ignored: frozenset[str],
    oracle: Sequence[int],
    marks: Iterable[int],
) -> list[Figures]:
    """Return the measures after each of *marks* pages; *ignored* are the training pages."""
    curve = hit_curve(fetches, targets)
    lengths = target_lengths(fetches, targets)
    answer = []
    for mark in marks:
        done = fetches[:mark]
        hits = curve[len(done) - 1] if done else 0
        best = oracle[mark - 1] if oracle else 0
        judged = [fetch for fetch in done if fetch.found and fetch.url not in ignored]
        kept = [fetch for fetch in judged if fetch.on_topic]
        right = sum(fetch.url in targets for fetch in kept)
        present = sum(fetch.url in targets for fetch in judged)
        walked = [lengths[fetch.url] for fetch in done if fetch.url in targets]
        answer.append(
            Figures(
                pages=mark,
                hits=hits,
                harvest_rate=hits / mark,
                recall=_share(hits, len(targets)),
                oracle_hits=best,
                oracle_share=_share(hits, best),
                verdict_precision=_share(right, len(kept)),
                verdict_recall=_share(right, present),
                target_length=fmean(walked) if walked else 0.0,
                cpu_ms=1000 * fmean(fetch.cpu_seconds for fetch in done) if done else 0.0,
            )
        )
    return answer


def target_lengths(fetches: Iterable[Fetch], targets: frozenset[str]) -> dict[str, int]:
    """Return, for each fetched page, the links walked to it since the last target or the seed."""
    lengths: dict[str, int] = {}
    for fetch in fetches:
        start = 0 if fetch.referrer in targets else lengths.get(fetch.referrer, 0)
        lengths.setdefault(fetch.url, start + 1 if fetch.referrer else 0)
    return lengths


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of *values*, one a topic, with Student's 95 % interval."""
    if len(values) < 2:
        return Mean(fmean(values) if values else 0.0, 0.0)
    from scipy.stats import t

    width = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return Mean(fmean(values), width)


def means(per_topic: Mapping[str, Sequence[Figures]]) -> dict[str, Mean]:
    """Return the mean over topics of every measure; repeats of a topic are averaged first."""
    return {
        measure: mean([fmean(getattr(f, measure) for f in runs) for runs in per_topic.values()])
        for measure in MEASURES
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
