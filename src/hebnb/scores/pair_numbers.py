"""Numbers for the pairs of values that met, found by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.counts.index import KeyIndex
from hebnb.foundation.arrays import FloatArray, IntArray

# Pairs have a number for every class unless that makes more than so many times the cells.
_FEWEST_CLASSES = 4


@dataclass(frozen=True)
class Cells:
    """Counts of children's positions with parents' positions and classes, for the pairs in use."""

    class_: IntArray
    parent: IntArray
    child: IntArray
    count: FloatArray

    def at(self, kept: IntArray | slice) -> Cells:
        """Some of the cells."""
        return Cells(self.class_[kept], self.parent[kept], self.child[kept], self.count[kept])


@dataclass(frozen=True, eq=False)
class PairNumbers:
    """A number for every class of pairs of positions, parent and child, that met; zero for all others.

    Parameters
    ----------
    keys : array of int
        ``parent · (W + 1) + child`` in order; with classes apart, that times C plus the class. Silence is position W.
    values : array of shape (keys + 1, C), or (keys + 1, 1) with classes apart
        The last line is zero.
    width : int
        W, the number of positions.
    n_classes : int
    """

    keys: IntArray
    values: FloatArray
    width: int
    n_classes: int

    @classmethod
    def of(cls, cells: Cells, numbers: FloatArray, width: int, n_classes: int) -> PairNumbers:
        """From a number for every cell. Classes are kept apart where most pairs met in few of them."""
        pair = cells.parent * (width + 1) + cells.child
        keys, at = np.unique(pair, return_inverse=True)
        if len(keys) * n_classes <= _FEWEST_CLASSES * len(pair):
            values = np.zeros((len(keys) + 1, n_classes))
            values[at, cells.class_] = numbers
            return cls(keys, values, width, n_classes)
        order = np.argsort(pair * n_classes + cells.class_)
        keys = (pair * n_classes + cells.class_)[order]
        return cls(keys, np.append(numbers[order], 0.0)[:, np.newaxis], width, n_classes)

    @property
    def classes_apart(self) -> bool:
        """Whether a key belongs to one class."""
        return bool(self.values.shape[1] < self.n_classes)

    def by_class(self, parent: IntArray, child: IntArray) -> Iterator[FloatArray]:
        """The numbers of pairs, class after class, each of the shape of ``child``."""
        pair = child + parent * (self.width + 1)
        if self.classes_apart:
            for c in range(self.n_classes):
                yield self.values[:, 0].take(self._index.places(pair * self.n_classes + c))
            return
        places = self._index.places(pair)
        for c in range(self.n_classes):
            yield self.values[:, c].take(places)

    def summed(self, parent: IntArray, child: IntArray) -> FloatArray:
        """The numbers of all children of a row added up, of shape (C, rows)."""
        if self.classes_apart:
            return np.stack([numbers.sum(axis=0) for numbers in self.by_class(parent, child)])
        total = np.zeros((child.shape[1], self.n_classes))
        for own in child:
            total += self.values.take(self._index.places(own + parent * (self.width + 1)), axis=0)
        return total.T

    def cells(self, parents: slice) -> Cells:
        """The cells whose parents are at these positions, with the numbers for counts."""
        per_pair = self.n_classes if self.classes_apart else 1
        first, last = np.searchsorted(
            self.keys, np.array([parents.start, parents.stop]) * (self.width + 1) * per_pair
        ).tolist()
        pair, class_ = np.divmod(self.keys[first:last], per_pair)
        values = self.values[first:last]
        if not self.classes_apart:
            pair, class_ = np.repeat(pair, self.n_classes), np.tile(np.arange(self.n_classes), len(pair))
        parent, child = np.divmod(pair, self.width + 1)
        return Cells(class_, parent, child, values.ravel())

    def by_pair(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Parent and child of every pair that met, and its numbers, of shape (pairs, C)."""
        cells = self.cells(slice(0, self.width))
        pair = cells.parent * (self.width + 1) + cells.child
        keys, at = np.unique(pair, return_inverse=True)
        values = np.zeros((len(keys), self.n_classes))
        values[at, cells.class_] = cells.count
        return *np.divmod(keys, self.width + 1), values

    @cached_property
    def _index(self) -> KeyIndex:
        per_pair = self.n_classes if self.classes_apart else 1
        return KeyIndex(self.keys, (self.width + 1) ** 2 * per_pair)
