"""Scores from unbounded values, monotone so that the order of the paper stays; repeatable draws."""

from __future__ import annotations

import math
from hashlib import blake2b


def logistic(value: float) -> float:
    """Return 1 / (1 + e^-value): any number to a score, 0 being one half."""
    return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, value))))


def saturated(value: float) -> float:
    """Return value / (1 + value): numbers from 0 upwards to a score."""
    return value / (1.0 + value)


def firm(relevance: float) -> float:
    """Return *relevance* as a vote: what is half-likely counts half, what is unlikely hardly.

    Many pages that may have to do with the topic a little, all of one host, are no find.
    """
    pro, contra = relevance * relevance, (1.0 - relevance) * (1.0 - relevance)
    return pro / (pro + contra)


def uniform(*values: object) -> float:
    """Return a draw between 0 and 1 that depends on *values* and on nothing else."""
    text = "\0".join(map(str, values)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=6).digest(), "big") / (1 << 48)
