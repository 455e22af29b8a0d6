"""Faint dots: what words say that are no terms of the lexicon.

A text has many words that no class lists, and many that stand only inside a phrase. Both say
something, more faintly than a term does:

- a part of a phrase speaks for the phrase's classes ("mitral" for those of "mitral valve"), each
  by the share of its phrases that they hold;
- a word speaks for the classes whose terms keep the same company in English. Each class is a
  normal distribution over the vectors of its terms, all with the same covariance (linear
  discriminant analysis); small classes lean on their division, divisions on their main class.

Measured on the labelled sets (benchmarks/classify.py), faint dots carry most of the ranking of
pages for a topic; see docs/decisions/031-faint-dots.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from treasure.ddc.background import Background
from treasure.ddc.numbers import class_of, digits

PART, KIN = 0.2, 0.2
"""Weight of either kind beside a term's own dot."""
MOST_DOTS = 12
"""Faint dots kept for a stem."""
_TEMPER = 0.4
"""Below 1 the distributions are taken for less certain than they say."""
_LEAN = (10.0, 10.0, 20.0)
"""How many terms' worth a class leans on its division, that on its main class, that on all."""
_SHRINKAGE = 0.1
_CHUNK = 4096

Floats = NDArray[np.float64]


def faint_dots(
    stems: Sequence[str],
    terms: Sequence[Sequence[int]],
    postings: sp.csr_matrix,
    numbers: Sequence[str],
    information: Floats,
    background: Background,
) -> sp.csr_matrix:
    """Return stems x numbers: the weight of each stem's faint dots, at most ``MOST_DOTS`` each.

    *terms* are stem indices, *postings* (terms x numbers) has rows that sum to 1, *information*
    is what each stem tells.
    """
    parts = _parts(len(stems), terms, postings)
    kin = _kin(stems, terms, postings, numbers, information, background)
    weight = sp.diags(information)
    return _strongest(sp.csr_matrix(weight @ (PART * parts + KIN * kin)), MOST_DOTS)


def _parts(size: int, terms: Sequence[Sequence[int]], postings: sp.csr_matrix) -> sp.csr_matrix:
    sizes = [len(term) for term in terms]
    term = np.repeat(np.arange(len(terms)), sizes)
    stem = np.concatenate([np.asarray(term) for term in terms])
    share = 1.0 / np.repeat(sizes, sizes)
    counts = sp.csr_matrix((share, (stem, term)), shape=(size, len(terms))) @ postings
    return _rows_to_one(counts)


def _kin(
    stems: Sequence[str],
    terms: Sequence[Sequence[int]],
    postings: sp.csr_matrix,
    numbers: Sequence[str],
    information: Floats,
    background: Background,
) -> sp.csr_matrix:
    place = {stem: index for index, stem in enumerate(background.stems)}
    rows = np.array([place.get(stem, -1) for stem in stems])
    known = np.flatnonzero(rows >= 0)
    if not len(known):
        return sp.csr_matrix((len(stems), len(numbers)))
    vectors = np.zeros((len(stems), background.vectors.shape[1]))
    vectors[known] = background.vectors[rows[known]]

    classes = sorted({class_of(number) for number in numbers})
    index = {name: at for at, name in enumerate(classes)}
    to_class = sp.csr_matrix(
        (np.ones(len(numbers)), (range(len(numbers)), [index[class_of(n)] for n in numbers])),
        shape=(len(numbers), len(classes)),
    )
    examples = np.array([(vectors[t] * information[t, None]).sum(axis=0) for t in map(list, terms)])
    speak = _discriminant(_unit(examples), (postings @ to_class).tocoo(), classes)
    parts = [known[at : at + _CHUNK] for at in range(0, len(known), _CHUNK)]
    found = sp.vstack([_best_columns(speak(vectors[part])) for part in parts])

    bare = {class_of(n): at for at, n in reversed(list(enumerate(numbers))) if len(digits(n)) <= 3}
    columns = np.array([bare[name] for name in classes])
    entries = sp.coo_matrix(found)
    return _rows_to_one(
        sp.csr_matrix(
            (entries.data, (known[entries.row], columns[entries.col])),
            shape=(len(stems), len(numbers)),
        )
    )


def _discriminant(
    examples: Floats, labels: sp.coo_matrix, classes: Sequence[str]
) -> Callable[[Floats], Floats]:
    """Return a function from vectors to the probabilities of *classes*, learned from terms."""
    usable = np.linalg.norm(examples[labels.row], axis=1) > 0
    x, y, weight = examples[labels.row[usable]], labels.col[usable], labels.data[usable]
    count = np.bincount(y, weight, len(classes))
    total = np.zeros((len(classes), x.shape[1]))
    np.add.at(total, y, x * weight[:, None])

    mean = total.sum(axis=0) / count.sum()
    above = np.broadcast_to(mean, total.shape)
    for depth, lean in ((1, _LEAN[2]), (2, _LEAN[1]), (3, _LEAN[0])):
        _, group = np.unique([name[:depth] for name in classes], return_inverse=True)
        sums = np.zeros((group.max() + 1, x.shape[1]))
        np.add.at(sums, group, total)
        size = np.bincount(group, count)
        above = (sums[group] + lean * above) / (size[group] + lean)[:, None]
    centre = above

    rest = x - centre[y]
    spread = (rest * weight[:, None]).T @ rest / weight.sum()
    identity = np.eye(len(spread)) * np.trace(spread) / len(spread)
    slope = centre @ np.linalg.inv((1 - _SHRINKAGE) * spread + _SHRINKAGE * identity)
    bias = -0.5 * (slope * centre).sum(axis=1)
    slope -= slope.mean(axis=0)
    prior = 0.5 * np.log(count + 1)

    def speak(vectors: Floats) -> Floats:
        score = _TEMPER * ((vectors - mean) @ slope.T + bias) + prior
        share = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    return speak


def _best_columns(rows: Floats) -> sp.csr_matrix:
    """Return the ``MOST_DOTS`` largest entries of each row."""
    most = min(MOST_DOTS, rows.shape[1])
    best = np.sort(np.argpartition(-rows, most - 1, axis=1)[:, :most], axis=1)
    values = np.take_along_axis(rows, best, axis=1)
    starts = np.arange(len(rows) + 1) * most
    return sp.csr_matrix((values.ravel(), best.ravel(), starts), shape=rows.shape)


def _strongest(matrix: sp.csr_matrix, most: int) -> sp.csr_matrix:
    """Return *matrix* with the *most* largest entries of each row, scaled to the row's sum."""
    matrix.sort_indices()
    data, starts = matrix.data, matrix.indptr
    keep = np.zeros(len(data), np.bool_)
    scale = np.ones(len(data))
    for start, stop in pairwise(starts.tolist()):
        row = data[start:stop]
        best = np.argsort(-row, kind="stable")[:most] + start
        keep[best] = data[best] > 0
        kept = data[best].sum()
        if kept > 0:
            scale[start:stop] = row.sum() / kept
    row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(starts))
    return sp.csr_matrix(
        ((data * scale)[keep], (row_of[keep], matrix.indices[keep])), shape=matrix.shape
    )


def _rows_to_one(matrix: sp.csr_matrix) -> sp.csr_matrix:
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    return sp.csr_matrix(sp.diags(1.0 / np.where(sums > 0, sums, 1.0)) @ matrix)


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
