"""Sums over many batches of how often cells occurred, whose number may be too large to hold them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hebnb.foundation.arrays import FloatArray, IntArray

# Most cells of a table that all have a number, whether they occur or not.
_MOST_DENSE = 1 << 18


@dataclass(frozen=True, eq=False)
class CellSums:
    """How often cells occurred, by their numbers. They add.

    Parameters
    ----------
    keys : array, optional
        The numbers of the cells, which may repeat; None if there is a count for every cell.
    count : array
    """

    keys: IntArray | None
    count: FloatArray

    @classmethod
    def of(cls, key: IntArray, weights: FloatArray | None, n_cells: float) -> CellSums:
        """Count rows by the numbers of their cells."""
        if n_cells <= _MOST_DENSE:
            return cls(None, np.bincount(key, weights, int(n_cells)).astype(float))
        return cls(*cls(key, np.ones(len(key)) if weights is None else weights).occurring())

    def occurring(self) -> tuple[IntArray, FloatArray]:
        """The numbers of the cells that occur, in order, and how often each does."""
        if self.keys is None:
            at = np.flatnonzero(self.count)
            return at, self.count[at]
        keys, at = np.unique(self.keys, return_inverse=True)
        return keys, np.bincount(at, self.count, len(keys)).astype(float)

    @staticmethod
    def total(parts: Sequence[CellSums]) -> CellSums:
        """The sum of several, either all of which have every cell or none."""
        if parts[0].keys is None:
            return CellSums(None, np.sum([part.count for part in parts], axis=0))
        keys = np.concatenate([part.keys for part in parts if part.keys is not None])
        return CellSums(*CellSums(keys, np.concatenate([part.count for part in parts])).occurring())


class Sums:
    """The sums of many batches; what many cells have is added up when there is as much of it as of the sum."""

    def __init__(self) -> None:
        self._parts: list[list[CellSums]] = []
        self._pending: list[int] = []

    def add(self, found: Sequence[CellSums]) -> None:
        """Add the counts of a batch."""
        if not self._parts:
            self._parts = [[own] for own in found]
            self._pending = [0] * len(found)
            return
        for n, own in enumerate(found):
            self._parts[n].append(own)
            self._pending[n] += len(own.count)
            if own.keys is None or self._pending[n] > len(self._parts[n][0].count):
                self._parts[n], self._pending[n] = [CellSums.total(self._parts[n])], 0

    def total(self) -> list[CellSums]:
        """The sum of every table."""
        return [CellSums.total(parts) for parts in self._parts]
