"""One-dependence estimates: for every parent, the sum of tables that its value is in.

The estimate of parent i is log P(y, x_i) + Σ_j log P(x_j | y, x_i). A child that is not conditioned on the parent adds
log P(x_j | y) instead. An estimate is in effect for rows whose parent's value occurred often enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hebnb.counts.pairs import Layout, PairCounts
from hebnb.counts.single import dense
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.directed import Directed
from hebnb.scores.left_out import Left, Rows, less
from hebnb.scores.pair_tables import PairTables, pair_tables
from hebnb.scores.tables import class_counts
from hebnb.smoothing.posterior import posterior_mean
from hebnb.smoothing.smoothers import Smoother, prior_means

# Factors multiplied before their logarithm is taken: few enough not to underflow with any sensible weights.
_FACTORS = 8


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of some parents.

    Parameters
    ----------
    counts : PairCounts
    rule : Smoother
        How probabilities were made from counts.
    parents : array of int
        The features that act as parents.
    concentration : array of shape (C, F, F)
        Strength of the prior for (class, parent, child); NaN where the child depends on the class alone.
    min_count : float
        A value acts as a parent only if it occurred in at least this weight of rows.
    prior_change : array of shape (C,) or 0
        What the log of the class prior exceeds that of the training rows by.
    """

    counts: PairCounts
    rule: Smoother
    parents: IntArray
    concentration: FloatArray
    min_count: float
    prior_change: FloatArray | float = 0.0

    @classmethod
    def of(
        cls,
        counts: PairCounts,
        rule: Smoother,
        parents: IntArray,
        *,
        used: BoolArray,
        min_count: float,
        concentration: FloatArray | None = None,
    ) -> Estimates:
        """Learn the concentrations of the pairs in use, unless they are known."""
        m = Directed.of(counts, used).concentrations(rule) if concentration is None else concentration
        return cls(counts, rule, parents, m, min_count)

    def shifted(self, change: FloatArray) -> Estimates:
        """The same under a class prior whose log is changed by so much."""
        return replace(self, prior_change=self.prior_change + change)

    @cached_property
    def pairs(self) -> PairTables:
        """log P(x_j | y, x_i), made when the first row is scored: learning needs none of it."""
        return pair_tables(self.directed, prior_means(self.counts, self.rule), self.concentration)

    @property
    def used(self) -> BoolArray:
        """Whether the child (column) is conditioned on the parent (row)."""
        used: BoolArray = ~np.isnan(self.concentration[0])
        return used

    @property
    def layout(self) -> Layout:
        """Where values lie in one line."""
        return self.counts.layout

    @property
    def directed(self) -> Directed:
        """The pair counts seen from parents to children; made anew, for they take memory."""
        return Directed.of(self.counts, self.used)

    @cached_property
    def unconditioned(self) -> list[list[int]]:
        """For every parent, the other features that depend on the class alone."""
        return [[j for j in np.flatnonzero(~self.used[i]).tolist() if j != i] for i in self.parents.tolist()]

    @cached_property
    def may_be_parent(self) -> BoolArray:
        """Whether the value at a position acts as a parent; nothing at W does."""
        return np.append(_at_least(np.concatenate(self.counts.marginal), self.min_count), False)

    @cached_property
    def log_joint(self) -> FloatArray:
        """log (N_cu + 1)/(S + C·K_i) for every class and position (paper, eq. 9), with a last one for silence.

        It is the posterior mean with one imaginary row in every one of the C·K_i combinations. Under another class
        prior it changes by as much as the log of that.
        """
        rows = self.counts.class_count.sum()
        combinations = np.maximum(self.counts.classes.size * self.counts.sizes, 1)
        tables = [
            np.log(posterior_mean(dense(table), rows, 1 / number, number)) + self.prior_change
            for table, number in zip(self.counts.tables, combinations, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate([*tables, np.zeros((1, self.counts.classes.size))]).T)

    def children(self, place: int) -> list[int]:
        """The features conditioned on a parent, which is known by its place among the parents."""
        return np.flatnonzero(self.used[self.parents[place]]).tolist()

    def scores(self, positions: IntArray, alone: dict[int, FloatArray]) -> tuple[FloatArray, BoolArray]:
        """The estimates of rows, of shape (P, C, rows), and whether they are in effect, of shape (P, rows).

        ``alone`` has log P(x_j | y), of shape (C, rows), of the features that some parent does not condition.
        """
        estimates = np.empty((len(self.parents), self.counts.classes.size, positions.shape[1]))
        for place, i in enumerate(self.parents.tolist()):
            estimates[place] = self.log_joint[:, positions[i]] + self.pairs.of_parent(i, positions)
            for j in self.unconditioned[place]:
                estimates[place] += alone[j]
        return estimates, self.may_be_parent[positions[self.parents]]

    def parts(self, place: int, positions: IntArray, alone: FloatArray, log_prior: FloatArray) -> FloatArray:
        """What every feature adds to the class's prior in the estimate of a parent, of shape (rows, F, C).

        What the parent's own value adds is that feature's. ``alone`` is what features add by themselves.
        """
        i = int(self.parents[place])
        used = self.used[i][:, np.newaxis]
        parts = np.where(used, self.pairs.of_children(i, positions).transpose(2, 1, 0), alone)
        parts[:, i] = self.log_joint[:, positions[i]].T - log_prior
        return parts

    def shrinkage(self, place: int, positions: IntArray, total: FloatArray, alone: FloatArray) -> FloatArray:
        """The share of the prior in these parts; ``total`` is that of ``directed``, ``alone`` that of the features."""
        i = int(self.parents[place])
        m = self.concentration[:, i]
        used = self.used[i][:, np.newaxis]
        parent = np.minimum(positions[i], total.shape[1] - 1)
        of_children = posterior_mean(0.0, total[:, parent], 1.0, m[:, np.newaxis]).transpose(1, 2, 0)
        shares = np.where(used & (alone < 1), of_children, alone)
        imaginary = self.counts.classes.size * self.counts.sizes[i]
        shares[:, i] = posterior_mean(0.0, self.counts.class_count.sum(), 1.0, imaginary)
        return shares

    def left_out(self, rows: Rows, left: Left, directed: Directed, alone: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The estimates from the other rows, of shape (P, C, S), and whether they are in effect, of shape (P, S).

        ``alone`` has log P(x_j | y) from the other rows, of shape (F, C, S).
        """
        parents = self.parents
        in_effect = ~left.silent[parents] & _at_least(left.marginal[parents], self.min_count)
        estimates = np.zeros((len(parents), *alone.shape[1:]))
        if not len(parents):
            return estimates, in_effect
        positions = np.minimum(self.layout.positions(rows.codes), self.layout.width - 1)
        for place, effective in enumerate(in_effect):
            if effective.any():
                estimates[place] = self._joint_left_out(int(parents[place]), rows, left)
                estimates[place] += alone[self.unconditioned[place]].sum(axis=0)
                self._add_children_left_out(estimates[place], int(parents[place]), rows, left, (directed, positions))
        return estimates, in_effect

    def _joint_left_out(self, i: int, rows: Rows, left: Left) -> FloatArray:
        """log P(y, x_i) from the other rows, of shape (C, S)."""
        counts = self.counts
        joint = rows.without(class_counts(counts.tables[i], rows.codes[i]), left.known[i])
        combinations = counts.classes.size * self.layout.sizes[i]
        others = counts.class_count.sum() - rows.amount
        change = np.broadcast_to(self.prior_change, counts.classes.size)[:, np.newaxis]
        log_joint: FloatArray = np.log(posterior_mean(joint, others, 1 / combinations, combinations)) + change
        return log_joint

    def _add_children_left_out(
        self, scores: FloatArray, i: int, rows: Rows, left: Left, where: tuple[Directed, IntArray]
    ) -> None:
        """Add Σ_j log P(x_j | y, x_i) from the other rows; anything where the parent is silent."""
        children = np.flatnonzero(self.used[i])
        if not len(children):
            return
        directed, positions = where
        amount = rows.amount * (left.known[i] & left.known[children])
        for c, count in enumerate(directed.counts_by_class(positions[i], positions[children])):
            total = directed.total[c].T[children].take(positions[i], axis=1)
            own = np.flatnonzero(rows.labels == c)
            for number in count, total:
                number[:, own] = less(number[:, own], amount[:, own])
            m = self.concentration[c, i, children][:, np.newaxis]
            probability = posterior_mean(count, total, left.mean[children], m, out=count)
            probability[left.silent[children]] = 1
            scores[c] += _log_product(probability)


def _at_least(weights: FloatArray, least: float) -> BoolArray:
    """Whether a sum of weights is positive and reaches a number, but for rounding."""
    return (weights > 0) & (weights >= least * (1 - 1e-9))


def _log_product(probability: FloatArray) -> FloatArray:
    """The sum of logarithms over the first axis, with few logarithms."""
    n, n_rows = probability.shape
    even = n - n % _FACTORS
    logs: FloatArray = np.log(probability[:even].reshape(-1, _FACTORS, n_rows).prod(axis=1)).sum(axis=0)
    logs += np.log(probability[even:].prod(axis=0))
    return logs
