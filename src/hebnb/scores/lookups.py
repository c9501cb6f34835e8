"""Numbers by code: what rows look up, and add to the scores of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray

# Scores that differ by no more than this are equal: what is left is the order in which a program added up.
TIE = 1e-10
# Rows scored at a time: the running sums of a block stay in the processor's cache.
_BLOCK = 1 << 14


class Lookup(Protocol):
    """What a table adds to the scores of rows."""

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Add to the scores of rows, of shape (rows, C), in place. The codes are those of all features."""


@dataclass(frozen=True)
class DenseLookup:
    """A line for every code of a feature; the last, of the silent code, is zero."""

    feature: int
    table: FloatArray

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up and add."""
        scores += self.table.take(codes[self.feature], axis=0)


@dataclass(frozen=True)
class SparseLookup:
    """Scores of a feature whose categories meet few of the classes.

    Where the count is zero the log probability is ``of_class + of_value``; ``excess`` holds what the others have
    on top of that. Nothing here grows with categories × classes.
    """

    feature: int
    of_class: FloatArray
    of_value: FloatArray
    silent: BoolArray
    excess: csr_array

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Add the two common parts to every known row, and the excess where there is any."""
        known = np.flatnonzero(~self.silent[codes[self.feature]])
        own = codes[self.feature][known]
        scores[known] += self.of_class + self.of_value[own, np.newaxis]
        excess = self.excess[own].tocoo()
        scores[known[excess.row], excess.col] += excess.data


@dataclass(frozen=True)
class BlockLookup:
    """A line for every combination of codes of some features, silent ones included.

    Parameters
    ----------
    columns : tuple of int
    steps : array of int
        How far a code of each of them goes in the table.
    table : array of shape (combinations, C)
    """

    columns: tuple[int, ...]
    steps: IntArray
    table: FloatArray

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up and add."""
        line = codes[self.columns[0]] * self.steps[0]
        for column, step in zip(self.columns[1:], self.steps[1:].tolist(), strict=True):
            line += codes[column] * step
        scores += self.table.take(line, axis=0)


def best_classes(scores: FloatArray) -> IntArray:
    """The class of the greatest score in every row, and the first of those that are equal to it.

    Examples
    --------
    >>> best_classes(np.array([[0.5, 0.5 + 1e-15], [0.1, 0.2]]))
    array([0, 1])
    """
    best: IntArray = np.argmax(scores >= scores.max(axis=1, keepdims=True) - TIE, axis=1)
    return best


def separate(lookups: Sequence[Lookup], codes: Sequence[IntArray], n_classes: int) -> FloatArray:
    """What each table adds, of shape (rows, tables, C)."""
    found = np.zeros((len(codes[0]), len(lookups), n_classes))
    for t, lookup in enumerate(lookups):
        lookup.add_to(found[:, t], codes)
    return found


def summed(start: FloatArray, lookups: Sequence[Lookup], codes: Sequence[IntArray]) -> FloatArray:
    """A number for every class plus what all tables add, of shape (rows, C).

    Held class by class in memory, which makes sums and maxima over a few classes fast.
    """
    n_rows = len(codes[0])
    scores_cs = np.empty((len(start), n_rows))
    for first in range(0, n_rows, _BLOCK):
        block = slice(first, min(first + _BLOCK, n_rows))
        here = [column[block] for column in codes]
        scores_sc = np.tile(start, (block.stop - first, 1))
        for lookup in lookups:
            lookup.add_to(scores_sc, here)
        scores_cs[:, block] = scores_sc.T
    return scores_cs.T
