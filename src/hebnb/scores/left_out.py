"""Training rows as the other rows see them: exact leave-one-out scores from the counts.

A row is taken out of the counts of its class, of the pooled counts and of the class prior; concentrations and bins
stay. What is left of a count is all a lookup needs, so the scores of all rows cost some ten times as much as predicting
them, and nothing is fitted again. A category that only this row has becomes unseen, as it would be to a new row.

A row of weight 3 stands for three, of which one is left out; one of weight 0.5 is left out whole.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hebnb.columns.column import Name
from hebnb.columns.vocabulary import Bins
from hebnb.counts.single import Counts
from hebnb.errors import InputError
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.pair_tables import Directed
from hebnb.scores.tables import class_log_prior, posterior_mean
from hebnb.smoothing.smoothers import Smoother

# Factors multiplied before their logarithm is taken: few enough not to underflow with any sensible weights.
_FACTORS = 8
# The largest share of a count that is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Rows:
    """Encoded training rows to be left out, one at a time.

    Parameters
    ----------
    codes : sequence of F arrays of shape (S,)
    labels : array of shape (S,)
        Class of every row.
    amount : array of shape (S,)
        How much of every row is left out.
    """

    codes: Sequence[IntArray]
    labels: IntArray
    amount: FloatArray

    @classmethod
    def weighing(cls, codes: Sequence[IntArray], labels: IntArray, weights: FloatArray | None) -> Rows:
        """Rows that count so often."""
        amount = np.ones(len(labels)) if weights is None else np.minimum(weights, 1.0)
        return cls(codes, labels, amount)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: slice) -> Rows:
        return Rows([column[rows] for column in self.codes], self.labels[rows], self.amount[rows])

    def check_counted(self, counts: Counts, dropped: Container[Name] = ()) -> None:
        """Complain of the first row that cannot be among those counted; categories of some columns were dropped."""
        n_classes = counts.classes.size
        foreign = self.labels >= n_classes
        labels = np.minimum(self.labels, n_classes - 1)
        at = np.arange(len(self))
        for f, (column, feature) in enumerate(zip(self.codes, counts.vocabulary.features, strict=True)):
            known = column < feature.size
            may_be_silent = isinstance(feature, Bins) or counts.vocabulary.names[f] in dropped
            if counts.vocabulary.missing != "ignore" and not may_be_silent:
                foreign |= ~known
            if feature.size:
                count = _class_counts(counts, f, column)[labels, at]
                foreign |= known & (count < self.amount * (1 - _ROUNDING))
        foreign &= self.amount > 0
        if foreign.any():
            raise InputError(
                f"Row {int(np.flatnonzero(foreign)[0])} is not one of the rows of fit, so it cannot be left out.",
                "Pass the table, labels and weights of fit; predict_proba takes new rows.",
            )

    def without(self, counts: FloatArray, known: BoolArray | bool = True) -> FloatArray:
        """Counts of shape (C, S), less each row in its own class where it was counted; changed in place."""
        at = self.labels, np.arange(len(self))
        counts[at] = _less(counts[at], self.amount * known)
        return counts


def log_priors(class_count: FloatArray, rows: Rows) -> FloatArray:
    """The log prior of every class, of shape (C, S), from the other rows."""
    return class_log_prior(rows.without(np.repeat(class_count[:, np.newaxis], len(rows), axis=1)))


def factors(counts: Counts, rule: Smoother, concentration: FloatArray, rows: Rows) -> FloatArray:
    """log P(x_f | y) from the other rows, for every feature and class, of shape (F, C, S)."""
    scores = np.empty((len(counts.tables), counts.classes.size, len(rows)))
    means = Means.of(counts, rule, rows)
    for f, (table, total, m) in enumerate(zip(counts.tables, counts.totals.T, concentration.T, strict=True)):
        if not table.shape[0]:
            scores[f] = 0
            continue
        count, known = _class_counts(counts, f, rows.codes[f]), means.known[f]
        rest = rows.without(np.repeat(total[:, np.newaxis], len(rows), axis=1), known)
        posterior_mean(rows.without(count, known), rest, means.mean[f], m[:, np.newaxis], out=scores[f])
        np.log(scores[f], out=scores[f], where=means.speaks[f])
        scores[f][:, ~means.speaks[f]] = 0
    return scores


@dataclass(frozen=True)
class Means:
    """The prior mean of every row's values, from the other rows; all arrays have shape (F, S).

    Parameters
    ----------
    mean : array
        θ, or 1 for values that say nothing.
    speaks : array of bool
        Whether the value says anything.
    known : array of bool
        Whether the value has a category, so that the row was counted.
    pooled : array
        How often the other rows have the value.
    """

    mean: FloatArray
    speaks: BoolArray
    known: BoolArray
    pooled: FloatArray

    @classmethod
    def of(cls, counts: Counts, rule: Smoother, rows: Rows) -> Means:
        """Look up the pooled counts and take the rows out of them."""
        shape = len(rows.codes), len(rows)
        mean, pooled = np.ones(shape), np.zeros(shape)
        known, speaks = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for f, (column, pool, feature) in enumerate(
            zip(rows.codes, counts.pooled, counts.vocabulary.features, strict=True)
        ):
            if not feature.size:
                continue
            known[f] = column < feature.size
            amount = rows.amount * known[f]
            pooled[f] = _less(pool[np.minimum(column, feature.size - 1)], amount) * known[f]
            # A bin outlives its last row, a category does not.
            stays = column <= len(feature.edges) if isinstance(feature, Bins) else np.zeros(len(rows), dtype=bool)
            theta = rule.mean(pooled[f], np.maximum(pool.sum() - amount, 0), feature.size)
            speaks[f] = known[f] & ((pooled[f] > 0) | stays) & (theta > 0)
            mean[f] = np.where(speaks[f], theta, 1.0)
        return cls(mean, speaks, known, pooled)


@dataclass(frozen=True)
class NaiveBayesParts:
    """What naive Bayes says of rows that are left out, part by part.

    Parameters
    ----------
    counts : Counts
    rule : Smoother
    concentration : array of shape (C, F)
    log_prior : array of shape (C,), optional
        Class prior that does not depend on the rows.
    """

    counts: Counts
    rule: Smoother
    concentration: FloatArray
    log_prior: FloatArray | None = None

    def __call__(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """The log priors, of shape (C, S), and the log factors, of shape (F, C, S)."""
        if self.log_prior is None:
            prior = log_priors(self.counts.class_count, rows)
        else:
            prior = np.repeat(self.log_prior[:, np.newaxis], len(rows), axis=1)
        return prior, factors(self.counts, self.rule, self.concentration, rows)


@dataclass(frozen=True)
class OneDependenceParts:
    """What the one-dependence estimators and the factors of naive Bayes say of rows that are left out.

    Parameters
    ----------
    naive_bayes : NaiveBayesParts
        Stands in for a parent whose value says nothing, and for children that do not depend on their parent.
    directed : Directed
    concentration : array of shape (C, F, F)
    parents : array of int
    may_be_parent : function
        Whether values that occurred so often may be parents.
    """

    naive_bayes: NaiveBayesParts
    directed: Directed
    concentration: FloatArray
    parents: IntArray
    may_be_parent: Callable[[FloatArray], BoolArray]

    def __call__(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Zeros, of shape (C, S), and the logs of the estimates and of the factors, of shape (parents + F, C, S)."""
        prior, factor_scores = self.naive_bayes(rows)
        if not len(self.parents):
            return prior, factor_scores
        means = Means.of(self.directed.counts, self.naive_bayes.rule, rows)
        layout = self.directed.counts.layout
        positions = np.minimum(layout.positions(rows.codes), layout.width - 1)
        naive = prior + factor_scores.sum(axis=0)
        scores = np.empty((len(self.parents) + len(factor_scores), *prior.shape))
        for i, score in zip(self.parents.tolist(), scores, strict=False):
            absent = ~(means.speaks[i] & self.may_be_parent(means.pooled[i]))
            score[:] = naive if absent.all() else self._estimate(i, rows, means, positions, factor_scores)
            score[:, absent] = naive[:, absent]
        scores[: len(self.parents)] /= len(self.parents)
        scores[len(self.parents) :] = factor_scores
        return np.zeros_like(prior), scores

    def _estimate(self, i: int, rows: Rows, means: Means, positions: IntArray, factor_scores: FloatArray) -> FloatArray:
        """log P(y, x_i) Π_j P(x_j | y, x_i), of shape (C, S); anything where the parent's value says nothing."""
        counts, used = self.directed.counts, self.directed.used[i]
        children = np.flatnonzero(used)
        loose = np.delete(np.arange(len(used)), [i, *children])
        joint = rows.without(_class_counts(counts, i, rows.codes[i]), means.known[i])
        combinations = counts.classes.size * counts.layout.sizes[i]
        others = counts.class_count.sum() - rows.amount
        score = np.log(posterior_mean(joint, others, 1 / combinations, combinations))
        score += factor_scores[loose].sum(axis=0)
        if not len(children):
            return score
        left_out = rows.amount * (means.known[i] & means.known[children])
        silent = ~means.speaks[children]
        for c in range(counts.classes.size):
            count = self.directed.counts_of(c, positions[i], positions[children])
            total = self.directed.total[c].T[children].take(positions[i], axis=1)
            own = np.flatnonzero(rows.labels == c)
            for number in count, total:
                number[:, own] = _less(number[:, own], left_out[:, own])
            m = self.concentration[c, i, children][:, np.newaxis]
            probability = posterior_mean(count, total, means.mean[children], m, out=count)
            probability[silent] = 1
            score[c] += _log_product(probability)
        return score


def _class_counts(counts: Counts, f: int, codes: IntArray) -> FloatArray:
    """How often every class has these categories of a feature, of shape (C, S)."""
    table = counts.tables[f]
    found = table[np.minimum(codes, table.shape[0] - 1)]
    return np.ascontiguousarray((found.toarray() if isinstance(found, csr_array) else found).T)


def _less(counts: FloatArray, amount: FloatArray) -> FloatArray:
    """What is left of counts, without the dust of rounding."""
    rest = counts - amount
    rest[rest <= _ROUNDING * counts] = 0
    return rest


def _log_product(probability: FloatArray) -> FloatArray:
    """The sum of logarithms over the first axis, with few logarithms."""
    n, n_rows = probability.shape
    even = n - n % _FACTORS
    logs: FloatArray = np.log(probability[:even].reshape(-1, _FACTORS, n_rows).prod(axis=1)).sum(axis=0)
    logs += np.log(probability[even:].prod(axis=0))
    return logs
