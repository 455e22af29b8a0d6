"""How the scores of the waiting links spread: a histogram, from a sample of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SAMPLE = 250
BINS = 20


def spread(sample: Sequence[float], total: int) -> dict[str, Any]:
    """Return how many of *total* links have a score in each of BINS equal parts of the range.

    The range is 0 to 1, where scores of most strategies lie, so that pictures can be compared;
    wider when some do not.
    """
    low, high = min(0.0, *sample, 0.0), max(1.0, *sample, 1.0)
    counts = [0] * BINS
    for score in sample:
        counts[min(BINS - 1, int((score - low) / (high - low) * BINS))] += 1
    scale = total / len(sample) if sample else 0.0
    return {"low": low, "high": high, "counts": [round(count * scale) for count in counts]}
