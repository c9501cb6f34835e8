"""How much each feature's evidence counts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, nonzero_cells
from hebnb.foundation.arrays import THREADS, FloatArray, blas_threads_for
from hebnb.scores.left_out import Rows
from hebnb.weighting.log_linear import Likelihood, Pool, Prior, learn

# Leave-one-out weights are learned from no more rows than this, and from no more scores (256 MB).
MOST_ROWS = 50_000
_MOST_SCORES = 1 << 25
# Scores computed at a time.
_BLOCK_SCORES = 1 << 19

# The unweighted part of the scores of rows, of shape (C, S), and the parts to be weighted, of shape (D, C, S).
Parts: TypeAlias = Callable[[Rows], tuple[FloatArray, FloatArray]]


def mutual_information(counts: Counts) -> FloatArray:
    """I(X_f; Y) in bits, from the observed frequencies, for every feature.

    The paper leaves the unit open; bits, not normalised, reproduce its tables.
    """
    information = np.zeros(len(counts.tables))
    for f, (table, pooled, total) in enumerate(zip(counts.tables, counts.pooled, counts.totals.T, strict=True)):
        value, class_, n = nonzero_cells(table)
        if len(n):
            rows = total.sum()
            information[f] = np.sum(n * np.log2(n * rows / (pooled[value] * total[class_]))) / rows
    return np.maximum(information, 0.0)


def row_limit(n_components: int, n_classes: int) -> int:
    """From how many rows leave-one-out weights are learned at most.

    Examples
    --------
    >>> row_limit(10, 2), row_limit(100, 1_000)
    (50000, 335)
    """
    return max(min(MOST_ROWS, _MOST_SCORES // (n_components * max(n_classes - 1, 1))), 1)


def score_bytes(n_components: int, n_classes: int, n_rows: int) -> float:
    """Memory of the scores that leave-one-out weights are learned from."""
    return 8.0 * n_components * (n_classes - 1) * min(n_rows, row_limit(n_components, n_classes))


def leave_one_out_pool(parts: Parts, sample: Sample | None, prior: Prior, start: Pool | None) -> Pool:
    """The weights of the parts and the offsets of the classes that predict left-out rows best.

    Without rows they are those of ``start``.
    """
    if sample is None:
        assert start is not None
        return start
    likelihood = left_out_likelihood(parts, sample, prior)
    with blas_threads_for(likelihood.n_components):
        return learn(likelihood, prior, start)


def left_out_likelihood(parts: Parts, sample: Sample, prior: Prior) -> Likelihood:
    """The likelihood of the labels of left-out rows, as a function of weights and offsets."""
    n_components, n_classes = sum(prior.sizes), prior.n_classes
    scores = np.empty((n_components, n_classes - 1, len(sample)))
    base = np.empty((n_classes - 1, len(sample)))
    rows = Rows.weighing(sample.codes, sample.labels, sample.weights)

    def fill(block: slice) -> None:
        unweighted, weighted = parts(rows[block])
        np.subtract(weighted[:, 1:], weighted[:, :1], out=scores[:, :, block])
        base[:, block] = unweighted[1:] - unweighted[0]

    with ThreadPoolExecutor(THREADS) as pool:  # looking up is outside the interpreter lock
        list(pool.map(fill, blocks(len(rows), n_components * n_classes)))
    return Likelihood.weighing(scores, base, sample.labels, sample.representative_weights)


def blocks(n_rows: int, scores_a_row: int) -> list[slice]:
    """Runs of rows whose scores are computed together."""
    size = max(64, _BLOCK_SCORES // scores_a_row)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
