"""Smoothed counts as log-probability tables, and what a row of codes looks up in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from hebnb.counts.single import Counts, CountTable, nonzero_cells
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray

# Scores that differ by no more than this are equal: what is left is the order in which a program added up.
TIE = 1e-10
# Rows scored at a time: the running sums of a block stay in the processor's cache.
_BLOCK = 1 << 14


def posterior_mean(
    count: FloatArray | float,
    total: FloatArray | float,
    mean: FloatArray | float,
    m: FloatArray | float,
    out: FloatArray | None = None,
) -> FloatArray:
    """(count + m · mean) / (total + m), the mean of a Dirichlet(m · mean) posterior (paper, eq. 2).

    Examples
    --------
    >>> posterior_mean(np.array([3.0, 0.0]), np.array(3.0), np.array([0.5, 0.5]), np.array(1.0))
    array([0.875, 0.125])
    """
    numerator = np.add(count, m * mean, out=out)
    return np.asarray(np.divide(numerator, total + m, out=out))


def class_log_prior(class_count: FloatArray) -> FloatArray:
    """log (N_c + 1)/(S + C): the posterior mean with one imaginary row a class.

    Examples
    --------
    >>> np.exp(class_log_prior(np.array([3.0, 1.0])))
    array([0.66666667, 0.33333333])
    """
    n_classes = len(class_count)
    return np.log(posterior_mean(class_count, class_count.sum(axis=0), 1 / n_classes, n_classes))


def best_classes(scores: FloatArray) -> IntArray:
    """The class of the greatest score in every row, and the first of those that are equal to it.

    Examples
    --------
    >>> best_classes(np.array([[0.5, 0.5 + 1e-15], [0.1, 0.2]]))
    array([0, 1])
    """
    best: IntArray = np.argmax(scores >= scores.max(axis=1, keepdims=True) - TIE, axis=1)
    return best


class ScoreTable(Protocol):
    """What every value of a feature adds to the score of every class."""

    def add_to(self, scores: FloatArray, codes: IntArray) -> None:
        """Add the contributions of rows with these codes to their scores, of shape (rows, C), in place."""


@dataclass(frozen=True)
class DenseScores:
    """A row for every code; the last, of the silent code, is zero."""

    table: FloatArray

    def add_to(self, scores: FloatArray, codes: IntArray) -> None:
        """Look up and add."""
        scores += self.table.take(codes, axis=0)


@dataclass(frozen=True)
class SparseScores:
    """Scores of a feature whose categories meet few of the classes.

    Where the count is zero the log probability is ``of_class + of_value``; ``excess`` holds what the others have
    on top of that. Nothing here grows with categories × classes.
    """

    of_class: FloatArray
    of_value: FloatArray
    says_something: BoolArray
    excess: csr_array

    def add_to(self, scores: FloatArray, codes: IntArray) -> None:
        """Add the two common parts to every known row, and the excess where there is any."""
        known = np.flatnonzero(self.says_something[codes])
        codes = codes[known]
        scores[known] += self.of_class + self.of_value[codes, np.newaxis]
        excess = self.excess[codes].tocoo()
        scores[known[excess.row], excess.col] += excess.data


def log_scores(table: CountTable, total: FloatArray, mean: FloatArray, m: FloatArray, weight: float) -> ScoreTable:
    """``weight`` times the log posterior mean of one feature, for every category (K) and class (C).

    A category that no row has (an empty bin) and that the prior gives no mass says nothing about the class.
    """
    if isinstance(table, csr_array):
        value, class_, count = nonzero_cells(table)
        of_class = weight * np.log(posterior_mean(0.0, total, 1.0, m))
        of_value = weight * np.log(np.where(mean > 0, mean, 1.0))
        seen = weight * np.log(posterior_mean(count, total[class_], mean[value], m[class_]))
        excess = seen - of_class[class_] - of_value[value]
        says_something = np.append(mean > 0, False)
        return SparseScores(of_class, of_value, says_something, csr_array((excess, (value, class_)), shape=table.shape))
    scores = np.zeros((table.shape[0] + 1, table.shape[1]))
    possible = np.flatnonzero(mean)
    scores[possible] = weight * np.log(posterior_mean(table[possible], total, mean[possible, np.newaxis], m))
    return DenseScores(scores)


def score_tables(
    counts: Counts, means: Sequence[FloatArray], concentration: FloatArray, weights: FloatArray
) -> tuple[ScoreTable, ...]:
    """The score tables of all features."""
    features = zip(counts.tables, counts.totals.T, means, concentration.T, weights.tolist(), strict=True)
    return tuple(log_scores(*feature) for feature in features)


def scores_by_code(table: ScoreTable, size: int, n_classes: int) -> FloatArray:
    """What every code of a feature of that size adds to every class, of shape (K + 1, C), the silent one last."""
    scores = np.zeros((size + 1, n_classes))
    table.add_to(scores, np.arange(size + 1))
    return scores


def separate_scores(tables: Sequence[ScoreTable], codes: list[IntArray], n_classes: int) -> FloatArray:
    """The contributions of the features, each by itself, of shape (rows, F, C)."""
    found = np.zeros((len(codes[0]), len(codes), n_classes))
    for f, (table, column) in enumerate(zip(tables, codes, strict=True)):
        table.add_to(found[:, f], column)
    return found


def silent_codes(means: Sequence[FloatArray], codes: list[IntArray]) -> BoolArray:
    """Whether a row's value of a feature says nothing about the class, of shape (rows, F)."""
    return np.stack([np.append(mean == 0, True)[column] for mean, column in zip(means, codes, strict=True)], axis=1)


def joint_log_scores(log_prior: FloatArray, tables: tuple[ScoreTable, ...], codes: list[IntArray]) -> FloatArray:
    """log prior plus the contributions of all features, of shape (rows, C).

    Held class by class in memory, which makes sums and maxima over a few classes fast.
    """
    n_rows = len(codes[0])
    scores_cs = np.empty((len(log_prior), n_rows))
    for start in range(0, n_rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, n_rows))
        scores_sc = np.tile(log_prior, (block.stop - start, 1))
        for table, column in zip(tables, codes, strict=True):
            table.add_to(scores_sc, column[block])
        scores_cs[:, block] = scores_sc.T
    return scores_cs.T
