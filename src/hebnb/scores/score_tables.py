"""What every model is once learning is over: a class prior, score tables, and a way of putting them together.

Whoever reads a model reads this: scoring, explanations, leave-one-out, engines, SQL, ONNX, the page and files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hebnb.counts.single import Counts
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.combination import Combination, completed
from hebnb.scores.directed import Directed
from hebnb.scores.estimates import Estimates
from hebnb.scores.left_out import Left, Rows
from hebnb.scores.lookups import Lookup, summed
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.posterior import class_log_prior
from hebnb.smoothing.smoothers import Smoother

# Scores looked up at a time, so that they stay in the processor's cache.
_BLOCK_CELLS = 1 << 18
# Between the names of columns that are crossed, and between their values.
CROSSED = " × "


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """A model that can answer.

    Parameters
    ----------
    counts : Counts
        What was counted of the training rows.
    rule : Smoother
        How probabilities were made from counts.
    log_prior : array of shape (C,)
    prior_is_given : bool
        Whether the user gave the class prior, so that it does not depend on the rows.
    tables : tuple of ScoreTable
        One for every feature, in their order; then those of several features together, if there are any.
    estimates : Estimates, optional
        Other sums of tables, one for every parent.
    combination : Combination
    """

    counts: Counts
    rule: Smoother
    log_prior: FloatArray
    prior_is_given: bool
    tables: tuple[ScoreTable, ...]
    estimates: Estimates | None
    combination: Combination

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.log_prior)

    @property
    def parents(self) -> IntArray:
        """The features whose estimates are put together; none where the score is one sum."""
        return np.empty(0, dtype=np.intp) if self.estimates is None else self.estimates.parents

    @property
    def is_mean(self) -> bool:
        """Whether estimates are averaged, so that nothing has a weight."""
        return self.estimates is not None and self.combination.estimate_weights is None

    @property
    def adds_up_by_feature(self) -> bool:
        """Whether every feature adds a number of its own, whatever the values of the others are."""
        return not len(self.parents) and all(len(table.columns) == 1 for table in self.tables)

    @property
    def titles(self) -> list[str]:
        """What every table is called: like its column, or like all of them where they are crossed."""
        names = [str(name) for name in self.counts.vocabulary.names]
        return names + [CROSSED.join(names[f] for f in table.columns) for table in self.tables[len(names) :]]

    @property
    def start(self) -> FloatArray:
        """What the weighted tables are added to."""
        offsets = self.combination.offsets
        return offsets if len(self.parents) else self.log_prior + offsets

    def combined(self, combination: Combination) -> ScoreTables:
        """The same tables, put together in another way."""
        return replace(self, combination=combination)

    def with_prior(self, log_prior: FloatArray) -> ScoreTables:
        """The same for rows whose classes have other shares: every score changes by what their logarithm does.

        The prior is in every estimate, and in the plain sum, once; where weights make it count more or less than once,
        offsets make up for that.
        """
        change = log_prior - self.log_prior
        estimates = self.estimates and self.estimates.shifted(change)
        offsets = self.combination.offsets + (1 - self.combination.weight_of_prior()) * change
        combination = replace(self.combination, offsets=offsets)
        return replace(self, log_prior=log_prior, prior_is_given=True, estimates=estimates, combination=combination)

    def as_learned(self) -> ScoreTables:
        """The same under the class prior that the estimates were learned with."""
        return self if self.estimates is None else self.with_prior(class_log_prior(self.counts.class_count))

    def with_own_prior(self) -> ScoreTables:
        """The same under the class prior that the training rows have."""
        return replace(self, prior_is_given=False)

    def weights_for(self, other: ScoreTables) -> Combination:
        """The weights here for the parts of a model with other classes and parents: new ones have none."""
        classes = self.counts.classes.codes_of(other.counts.classes.values)
        offsets = np.append(self.combination.offsets, 0.0)[classes]
        weights = self.combination.estimate_weights
        if weights is not None:
            known = dict(zip(self.parents.tolist(), weights.tolist(), strict=True))
            weights = np.array([known.get(i, 0.0) for i in other.parents.tolist()])
        return replace(self.combination, offsets=offsets, estimate_weights=weights)

    @cached_property
    def lookups(self) -> tuple[Lookup, ...]:
        """The tables."""
        return tuple(table.lookup() for table in self.tables)

    @cached_property
    def weighted_lookups(self) -> tuple[Lookup, ...]:
        """The tables times their weights."""
        weights = self.combination.table_weights
        if (weights == 1).all():
            return self.lookups
        return tuple(table.lookup(weight) for table, weight in zip(self.tables, weights.tolist(), strict=True))

    def prepared(self) -> ScoreTables:
        """The same, with the tables made that every row looks up."""
        _ = self.weighted_lookups
        return self

    def joint_log_scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """log P(class, row), of shape (rows, C)."""
        if self.estimates is None or not len(self.parents):
            return summed(self.start, self.weighted_lookups, codes)
        positions = self.estimates.layout.positions(codes)
        n_rows = positions.shape[1]
        scores = np.empty((self.n_classes, n_rows))
        block = max(16, _BLOCK_CELLS // (len(codes) * (self.n_classes + 2)))
        for start in range(0, n_rows, block):
            rows = slice(start, min(start + block, n_rows))
            scores[:, rows] = self._block_scores(self.estimates, positions[:, rows], [own[rows] for own in codes])
        return scores.T

    def _block_scores(self, estimates: Estimates, positions: IntArray, codes: list[IntArray]) -> FloatArray:
        start = np.empty(0) if self.is_mean else summed(self.start, self.weighted_lookups, codes).T
        alone = {j: self._alone(j, codes) for j in set().union(*estimates.unconditioned)}
        return self.combination.scores(
            start,
            *estimates.scores(positions, alone),
            lambda rows: summed(self.log_prior, self.lookups, [own[rows] for own in codes]).T,
        )

    def _alone(self, j: int, codes: list[IntArray]) -> FloatArray:
        """What the table of a feature adds, of shape (C, rows)."""
        scores = np.zeros((len(codes[j]), self.n_classes))
        self.lookups[j].add_to(scores, codes)
        return np.ascontiguousarray(scores.T)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What tables and estimates say of rows that are left out.

    Parameters
    ----------
    log_prior : array of shape (C, S)
    tables : array of shape (F, C, S)
    estimates : array of shape (P, C, S)
    in_effect : array of shape (P, S)
    """

    log_prior: FloatArray
    tables: FloatArray
    estimates: FloatArray
    in_effect: BoolArray

    def components(self) -> tuple[FloatArray, FloatArray]:
        """What has no weight in a weighted sum, of shape (C, S), and what has one, of shape (P + F, C, S).

        A weight of 1 on all estimates makes their geometric mean.
        """
        if not len(self.estimates):
            return self.log_prior, self.tables
        estimates = completed(self.estimates, self.in_effect, self.plain_sum) / len(self.estimates)
        return np.zeros_like(self.log_prior), np.concatenate([estimates, self.tables])

    def plain_sum(self, rows: IntArray) -> FloatArray:
        """Log prior plus tables."""
        total: FloatArray = self.log_prior[:, rows] + self.tables[:, :, rows].sum(axis=0)
        return total

    def scores(self, combination: Combination) -> FloatArray:
        """Put together, of shape (C, S)."""
        start = combination.offsets[:, np.newaxis] + np.tensordot(combination.table_weights, self.tables, axes=1)
        if not len(self.estimates):
            start = start + self.log_prior
        return combination.scores(start, self.estimates, self.in_effect, self.plain_sum)


class LeavingOut:
    """Leaves rows out of a model, as many at a time as wanted."""

    def __init__(self, model: ScoreTables) -> None:
        self.model = model
        self.directed: Directed | None = model.estimates.directed if model.estimates is not None else None

    def __call__(self, rows: Rows) -> LeftOut:
        """What the model says of each row without it."""
        model = self.model
        left = Left.of(model.counts, model.rule.prior, rows)
        if model.prior_is_given:
            log_prior = np.repeat(model.log_prior[:, np.newaxis], len(rows), axis=1)
        else:
            log_prior = rows.log_priors(model.counts.class_count)
        tables = np.empty((len(model.tables), *log_prior.shape))
        for table, scores in zip(model.tables, tables, strict=True):
            scores[:] = table.left_out_scores(rows, left)
        if model.estimates is None or self.directed is None:
            return LeftOut(log_prior, tables, np.empty((0, *log_prior.shape)), np.empty((0, len(rows)), dtype=bool))
        return LeftOut(log_prior, tables, *model.estimates.left_out(rows, left, self.directed, tables))
