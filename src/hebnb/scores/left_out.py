"""Training rows as the other rows see them: exact leave-one-out scores from the counts.

A row is taken out of the counts of its class, of the marginal counts and of the class prior; concentrations and bins
stay. What is left of a count is all a lookup needs, so the scores of all rows cost some ten times as much as predicting
them, and nothing is fitted again. A category that only this row has becomes unseen, as it would be to a new row.

A row of weight 3 stands for three, of which one is left out; one of weight 0.5 is left out whole.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hebnb.columns.column import Name
from hebnb.counts.single import Counts, counts_at
from hebnb.errors import InputError
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.smoothing.posterior import class_log_prior
from hebnb.smoothing.priors import PriorMean

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
            may_be_silent = feature.may_be_silent or counts.vocabulary.names[f] in dropped
            if counts.vocabulary.missing != "ignore" and not may_be_silent:
                foreign |= ~known
            if feature.size:
                count = counts_at(counts.tables[f], column)[at, labels]
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
        counts[at] = less(counts[at], self.amount * known)
        return counts

    def log_priors(self, class_count: FloatArray) -> FloatArray:
        """The log prior of every class, of shape (C, S), from the other rows."""
        return class_log_prior(self.without(np.repeat(class_count[:, np.newaxis], len(self), axis=1)))


@dataclass(frozen=True)
class Left:
    """What is left of the marginal counts of every row's values without the row; all arrays have shape (F, S).

    Parameters
    ----------
    mean : array
        Prior mean θ of the value, or 1 for one that says nothing.
    silent : array of bool
        Whether the value says nothing.
    known : array of bool
        Whether the value has a category, so that the row was counted.
    marginal : array
        How often the other rows have the value.
    shared : dict
        What tables that are asked about these rows one after the other have in common.
    """

    mean: FloatArray
    silent: BoolArray
    known: BoolArray
    marginal: FloatArray
    shared: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Counts, prior: PriorMean, rows: Rows) -> Left:
        """Look up the marginal counts and take the rows out of them."""
        shape = len(rows.codes), len(rows)
        mean, marginal = np.ones(shape), np.zeros(shape)
        known, silent = np.zeros(shape, dtype=bool), np.ones(shape, dtype=bool)
        for f, (column, count, feature) in enumerate(
            zip(rows.codes, counts.marginal, counts.vocabulary.features, strict=True)
        ):
            if not feature.size:
                continue
            known[f] = column < feature.size
            amount = rows.amount * known[f]
            marginal[f] = less(count[np.minimum(column, feature.size - 1)], amount) * known[f]
            theta = prior.of_value(marginal[f], np.maximum(count.sum() - amount, 0), feature.size)
            silent[f] = ~(known[f] & ((marginal[f] > 0) | feature.outlives(column)) & (theta > 0))
            mean[f] = np.where(silent[f], 1.0, theta)
        return cls(mean, silent, known, marginal)


def less(counts: FloatArray, amount: FloatArray) -> FloatArray:
    """What is left of counts, without the dust of rounding."""
    rest = counts - amount
    rest[rest <= _ROUNDING * counts] = 0
    return rest
