"""Weights learned on the leave-one-out likelihood of training rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from hebnb.counts.sample import Sample
from hebnb.foundation.arrays import FloatArray, blas_threads_for, blocks, in_threads
from hebnb.scores.combination import Combination
from hebnb.scores.left_out import Rows
from hebnb.scores.score_tables import LeavingOut, ScoreTables
from hebnb.weighting.log_linear import Likelihood, Pool, Prior, learn
from hebnb.weighting.ties import MOST_FREE, Ties

# Leave-one-out weights are learned from no more rows than this, and from no more scores (256 MB).
MOST_ROWS = 50_000
_MOST_SCORES = 1 << 25
# More classes have no offsets: rows that leave so many apart are few beside them, and learning takes the cube of them.
MOST_OFFSETS = 2048

# The unweighted part of the scores of rows, of shape (C, S), and the parts to be weighted, of shape (D, C, S).
Parts: TypeAlias = Callable[[Rows], tuple[FloatArray, FloatArray]]


class LeaveOneOut:
    """The weights and offsets that predict left-out rows best.

    Tables are expected to count once, or not at all beside estimates, which together are expected to count once.
    """

    needs_rows: ClassVar[bool] = True
    weighs_estimates: ClassVar[bool] = True

    def combination(self, model: ScoreTables, sample: Sample | None, start: Combination | None) -> Combination:
        """Learn them from the rows of a sample."""
        if sample is None:
            assert start is not None
            return start
        # A prior that was given is for new rows; these have the one they have.
        pool = leave_one_out_pool(parts_of(model), sample, prior_of(model), _as_pool(start))
        n_parents = len(model.parents)
        of_estimates, of_tables = np.split(pool.weights, [n_parents])
        weights = None if model.estimates is None else of_estimates / max(n_parents, 1)
        return Combination(pool.offsets, of_tables, weights, pool.log_loss)


def parts_of(model: ScoreTables) -> Parts:
    """What a model's parts say of rows that are left out, under the prior that the rows have."""
    leave_out = LeavingOut(model.with_own_prior())
    return lambda rows: leave_out(rows).components()


def prior_of(model: ScoreTables) -> Prior:
    """What is expected of the weights of a model's parts."""
    n_parents, n_features = len(model.parents), len(model.tables)
    has_offsets = model.n_classes <= MOST_OFFSETS
    if not n_parents:
        return Prior((n_features,), (1.0,), model.n_classes, has_offsets)
    return Prior((n_parents, n_features), (1.0, 0.0), model.n_classes, has_offsets)


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


def leave_one_out_pool(parts: Parts, sample: Sample, prior: Prior, start: Pool | None) -> Pool:
    """The weights of the parts and the offsets of the classes that predict left-out rows best."""
    likelihood = left_out_likelihood(parts, sample, prior)
    if likelihood.n_components > MOST_FREE:
        ties = Ties.between(likelihood, prior)
        return ties.pool(learn(ties.likelihood(likelihood), ties.prior(prior), ties.start(start)))
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

    in_threads(fill, blocks(len(rows), n_components * n_classes))
    return Likelihood.weighing(scores, base, sample.labels, sample.representative_weights, prior.has_offsets)


def _as_pool(start: Combination | None) -> Pool | None:
    if start is None:
        return None
    of_estimates = np.empty(0) if start.estimate_weights is None else start.estimate_weights
    return Pool(np.concatenate([len(of_estimates) * of_estimates, start.table_weights]), start.offsets)
