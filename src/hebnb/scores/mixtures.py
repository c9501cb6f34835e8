"""Score tables that are means: of the probabilities of a feature's values given one parent each.

A ``MixtureTable`` holds log Σ_i w_i P(x | y, x_i) over the parents i of a feature. The numbers depend on all parents at
once, so there is one for every combination of their values; rows look up the terms of the sum instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.errors import InputError
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.left_out import Left, Rows
from hebnb.scores.lookups import BlockLookup, Lookup
from hebnb.scores.tables import FamilyTable, ValueTable, every_combination

# Most combinations of values that are written out, for programs that know tables only.
_MOST_LINES = 2_000_000


@dataclass(frozen=True, eq=False)
class MixtureTable:
    """log Σ_i w_i P(x | y, x_i) for the values of a feature and of all its parents.

    Where a parent's value was never seen, P(x | y) stands in for its term.

    Parameters
    ----------
    parts : tuple of FamilyTable
        log P(x | y, x_i), a table for every parent.
    weights : array of shape (parents,)
        They sum to one.
    """

    parts: tuple[FamilyTable, ...]
    weights: FloatArray

    @property
    def feature(self) -> ValueTable:
        """The table of the feature alone, which stands in for a term."""
        return self.parts[0].root

    @property
    def columns(self) -> tuple[int, ...]:
        """The feature and its parents."""
        return (self.parts[0].columns[0], *(part.columns[1] for part in self.parts))

    @cached_property
    def views(self) -> tuple[IntArray, ...]:
        """The codes as they are."""
        return tuple(np.arange(self.parts[0].sizes[f] + 1) for f in self.columns)

    @property
    def concentration(self) -> tuple[FloatArray, ...]:
        """The strength of the prior for every class: given no parent, and given one."""
        return self.parts[0].concentration

    @property
    def root(self) -> None:
        """None: no single table stands in for a mean."""

    @property
    def families(self) -> tuple[FamilyTable, ...]:
        """None that the table ends with."""
        return ()

    @property
    def n_cells(self) -> int:
        """Every combination of codes has a number of its own."""
        return math.prod(map(len, self.views))

    def lines(self) -> tuple[IntArray, FloatArray]:
        """All combinations of codes, where these are not too many."""
        if self.n_cells > _MOST_LINES:
            raise InputError(
                f"A feature of this model depends on {len(self.columns) - 1} others at once, and {self.n_cells:.1e} "
                "combinations of values are too many for a table.",
                "TAN and KDB have few parents a feature, and tables that can be exported.",
            )
        numbers = every_combination(self, self.parts[0].sizes)
        return np.arange(len(numbers)), numbers

    @property
    def mean_shrinkage(self) -> FloatArray:
        """That of the table of the feature alone."""
        return self.feature.mean_shrinkage

    def lookup(self, weight: float = 1.0) -> Lookup:
        """The terms, looked up and summed."""
        terms = zip(self.parts, self.weights.tolist(), strict=True)
        return MixtureLookup(weight, tuple(_share(part.lookup(), share) for part, share in terms))

    @cached_property
    def _unweighted(self) -> Lookup:
        return self.lookup()

    def scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """What the values of rows add, of shape (rows, C)."""
        scores = np.zeros((len(codes[self.columns[0]]), len(self.feature.m)))
        self._unweighted.add_to(scores, codes)
        return scores

    def shrinkage(self, codes: Sequence[IntArray]) -> FloatArray:
        """The mean of the terms' shares of the prior."""
        terms = zip(self.parts, self.weights.tolist(), strict=True)
        return sum((share * part.shrinkage(codes) for part, share in terms), start=np.zeros(1))

    def counted(self, codes: Sequence[IntArray]) -> FloatArray:
        """How many training rows of every class have the feature's value."""
        return self.feature.counted(codes)

    def left_out_scores(self, rows: Rows, left: Left) -> FloatArray:
        """The log of the mean of the terms from the other rows; weights are those of all rows."""
        terms = zip(self.parts, self.weights.tolist(), strict=True)
        return np.log(sum((share * part.left_out(rows, left) for part, share in terms), start=np.zeros(1)))


@dataclass(frozen=True)
class ShareLookup:
    """A share of the probabilities whose logarithms a lookup has."""

    logarithms: Lookup
    share: float

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up and add."""
        found = np.zeros_like(scores)
        self.logarithms.add_to(found, codes)
        scores += self.share * np.exp(found)


@dataclass(frozen=True)
class MixtureLookup:
    """The log of a sum of terms, times a weight."""

    weight: float
    terms: tuple[Lookup, ...]

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up, add, and take the logarithm."""
        total = np.zeros_like(scores)
        for term in self.terms:
            term.add_to(total, codes)
        scores += self.weight * np.log(total)


def _share(logarithms: Lookup, share: float) -> Lookup:
    """A share of probabilities: where every combination has a line, these are made once."""
    if isinstance(logarithms, BlockLookup):
        return BlockLookup(logarithms.columns, logarithms.steps, share * np.exp(logarithms.table))
    return ShareLookup(logarithms, share)
