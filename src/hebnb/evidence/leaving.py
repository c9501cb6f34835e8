"""Which rows are left out of the counts that answer for a row, and what is then left of its cell.

The evidence of a cell is made of counts. To learn from a row, or to test on it, the row has to be taken out of them;
the formulas are the same whatever is taken out. Rows that are alike, in the same cell and left out of the same counts,
are one *unit* and computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.left_out import Rows
from hebnb.smoothing.posterior import class_log_prior

# Counts below this are what rounding leaves of those that are gone.
_DUST = 1e-9


@dataclass(frozen=True, eq=False)
class Units:
    """Rows of a table's cells, those that are alike together.

    Parameters
    ----------
    of_row : array of shape (S,)
        The unit of every row.
    first : array of shape (U,)
        A row of every unit.
    cell : array of shape (U,)
        The cell of every unit.
    left : array of shape (C, U)
        What is left of the counts of its cell.
    """

    of_row: IntArray
    first: IntArray
    cell: IntArray
    left: FloatArray

    @cached_property
    def total(self) -> FloatArray:
        """How many rows of all classes are left in the cell, of shape (U,)."""
        total: FloatArray = self.left.sum(axis=0)
        return total


class Leaving(Protocol):
    """A way of leaving rows out."""

    def log_prior(self, rows: IntArray) -> FloatArray:
        """The log prior of the classes for some rows, of shape (C, rows)."""

    def n_rows(self, rows: IntArray) -> FloatArray:
        """How many rows are left in the whole table, for some rows."""

    def units(self, cell: IntArray, count: FloatArray) -> Units:
        """The units of rows that are in these cells, whose counts have shape (C, cells + 1), zeros at the end."""

    def others(self, units: Units, cell: IntArray, count: FloatArray) -> FloatArray:
        """What is left of the other cells that have about as many rows as a unit's own, of shape (C, U)."""


def bucket(rows: FloatArray) -> IntArray:
    """How often something occurs, in powers of two: cells without rows are like those with one.

    Examples
    --------
    >>> bucket(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1000.0]))
    array([0, 0, 1, 1, 2, 9])
    """
    # Weights that add up to a power of two may miss it by a rounding, in whatever order they are added.
    return np.frexp(np.maximum(rows, 1.0) * (1 + _DUST))[1].astype(np.intp) - 1


def by_bucket(count: FloatArray) -> FloatArray:
    """Counts of cells, of shape (C, cells), added up by how often they occur, of shape (C, 64)."""
    place = np.minimum(bucket(count.sum(axis=0)), 63)
    return np.stack([np.bincount(place, own, 64) for own in count])


def _others(counted: FloatArray, full: FloatArray, units: Units) -> FloatArray:
    """The other cells as often as what is left of a unit's, which is counted whole, and where it would be if whole."""
    of_left, of_full = bucket(units.total), bucket(full.sum(axis=0))
    return np.maximum(counted.take(of_left, axis=1) - np.where(of_left == of_full, full, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class NoRow:
    """Nothing is left out: new rows. Those of one cell are alike."""

    class_count: FloatArray

    def log_prior(self, rows: IntArray) -> FloatArray:
        """The same for all."""
        return np.repeat(class_log_prior(self.class_count)[:, np.newaxis], len(rows), axis=1)

    def n_rows(self, rows: IntArray) -> FloatArray:
        """All of them."""
        return np.full(len(rows), self.class_count.sum())

    def units(self, cell: IntArray, count: FloatArray) -> Units:
        """Of every cell."""
        of_row, first, _ = grouped(cell, count.shape[1])
        return Units(of_row, first, cell[first], count.take(cell[first], axis=1))

    def others(self, units: Units, cell: IntArray, count: FloatArray) -> FloatArray:
        """The counts by bucket, less the own."""
        return _others(by_bucket(count), count[:, units.cell], units)


@dataclass(frozen=True, eq=False)
class EachRow:
    """Every row is left out of its own counts, and by itself."""

    rows: Rows
    class_count: FloatArray

    def log_prior(self, rows: IntArray) -> FloatArray:
        """From the other rows."""
        return self.rows.log_priors(self.class_count)[:, rows]

    def n_rows(self, rows: IntArray) -> FloatArray:
        """All but the row."""
        left: FloatArray = self.class_count.sum() - self.rows.amount[rows]
        return left

    def units(self, cell: IntArray, count: FloatArray) -> Units:
        """Every row by itself, less what it counts."""
        rows = np.arange(len(cell))
        return Units(rows, rows, cell, self.rows.without(count[:, cell]))

    def others(self, units: Units, cell: IntArray, count: FloatArray) -> FloatArray:
        """A row leaves the other cells alone."""
        return _others(by_bucket(count), count[:, units.cell], units)


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """Every row is left out of its own counts; rows of one cell and class, which all count once, are alike.

    A row here may stand for several; ``class_count`` is that of all.
    """

    labels: IntArray
    class_count: FloatArray

    def log_prior(self, rows: IntArray) -> FloatArray:
        """From the other rows."""
        return self._log_priors.take(self.labels[rows], axis=1)

    def n_rows(self, rows: IntArray) -> FloatArray:
        """All but one."""
        return np.full(len(rows), self.class_count.sum() - 1.0)

    def units(self, cell: IntArray, count: FloatArray) -> Units:
        """Of every cell and class."""
        n_classes = len(self.class_count)
        of_row, first, key = grouped(cell * n_classes + self.labels, count.size)
        cells, own = np.divmod(key, n_classes)
        left = count.take(cells, axis=1)
        at = own, np.arange(len(own))
        left[at] = np.maximum(left[at] - 1, 0.0)  # where gaps are ignored, they were not counted
        return Units(of_row, first, cells, left)

    def others(self, units: Units, cell: IntArray, count: FloatArray) -> FloatArray:
        """A row leaves the other cells alone."""
        return _others(by_bucket(count), count[:, units.cell], units)

    @cached_property
    def _log_priors(self) -> FloatArray:
        without = np.maximum(self.class_count[:, np.newaxis] - np.eye(len(self.class_count)), 0.0)
        return class_log_prior(without)


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows of a fold are left out together, so what is said of a row does not depend on its label.

    The rows are those of some folds, and may be there several times, once for every table; ``left`` is what the other
    folds have of every class, of shape (C, folds).
    """

    fold: IntArray
    labels: IntArray
    weights: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, fold: IntArray, labels: IntArray, weights: FloatArray, n_folds: int, class_count: FloatArray) -> Folds:
        """Rows that are there once, of some folds; ``class_count`` is that of all rows."""
        key = labels * n_folds + fold
        own = np.bincount(key, weights, n_folds * len(class_count)).reshape(len(class_count), -1)
        return cls(fold, labels, weights, _without_dust(class_count[:, np.newaxis] - own))

    @property
    def n_folds(self) -> int:
        """How many there are."""
        return int(self.left.shape[1])

    def log_prior(self, rows: IntArray) -> FloatArray:
        """From the other folds."""
        return class_log_prior(self.left).take(self.fold[rows], axis=1)

    def n_rows(self, rows: IntArray) -> FloatArray:
        """Those of the other folds."""
        left: FloatArray = self.left.sum(axis=0)
        return left[self.fold[rows]]

    def units(self, cell: IntArray, count: FloatArray) -> Units:
        """Of every cell and fold."""
        of_row, first, key = grouped(cell * self.n_folds + self.fold, count.shape[1] * self.n_folds)
        left = count.take(key // self.n_folds, axis=1)
        left -= self._counted(of_row, len(first), slice(None))
        return Units(of_row, first, key // self.n_folds, _without_dust(left))

    def others(self, units: Units, cell: IntArray, count: FloatArray) -> FloatArray:
        """The other cells without the fold."""
        counted = []
        for fold in range(self.n_folds):
            rows = np.flatnonzero(self.fold == fold)
            counted.append(by_bucket(_without_dust(count - self._counted(cell, count.shape[1], rows))))
        of_fold = np.stack(counted, axis=1)[:, self.fold[units.first], bucket(units.total)]
        return np.maximum(of_fold - units.left, 0.0)

    def _counted(self, place: IntArray, n_places: int, rows: IntArray | slice) -> FloatArray:
        """The weight of every class at every place, of shape (C, places)."""
        key = self.labels[rows] * n_places + place[rows]
        n_classes = len(self.left)
        return np.bincount(key, self.weights[rows], n_places * n_classes).reshape(n_classes, -1).astype(float)


def grouped(key: IntArray, space: int) -> tuple[IntArray, IntArray, IntArray]:
    """Which of the distinct keys each one is, where one of each stands, and the distinct keys.

    Examples
    --------
    >>> grouped(np.array([5, 2, 5]), 6)
    (array([1, 0, 1]), array([1, 2]), array([2, 5]))
    """
    if (key[1:] > key[:-1]).all():  # as where rows that are alike have been put together before
        every = np.arange(len(key))
        return every, every, key
    if space > 8 * len(key) + 1024:
        return _grouped_by_order(key, space)
    seen = np.zeros(space, dtype=bool)
    seen[key] = True
    distinct = np.flatnonzero(seen)
    place = np.empty(space, dtype=np.intp)
    place[distinct] = np.arange(len(distinct))
    of_row = place.take(key)
    first = np.empty(len(distinct), dtype=np.intp)
    first[of_row] = np.arange(len(key))
    return of_row, first, distinct


def _grouped_by_order(key: IntArray, space: int) -> tuple[IntArray, IntArray, IntArray]:
    """The same by sorting, sixteen bits at a time: NumPy sorts so few by counting, several times as fast as others."""
    order = np.argsort(key.astype(np.uint16), kind="stable")
    for bits in range(16, int(space - 1).bit_length(), 16):
        order = order[np.argsort((key >> bits).astype(np.uint16)[order], kind="stable")]
    ordered = key[order]
    is_new = np.ones(len(key), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    of_row = np.empty(len(key), dtype=np.intp)
    of_row[order] = np.cumsum(is_new) - 1
    begins = np.flatnonzero(is_new)
    return of_row, order[begins], ordered[begins]


def _without_dust(left: FloatArray) -> FloatArray:
    """Counts without what rounding leaves of those that are gone."""
    return np.where(left > _DUST, left, 0.0)
