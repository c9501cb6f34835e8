"""Score tables: for some columns, a number for every cell and class, and what stands in for a cell never seen.

A ``ValueTable`` holds log P(x | y) for the values of one feature; one never seen says nothing. A ``FamilyTable`` holds
log P(x | y, parents); where the parents' values were never seen together, the table with one parent less stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from hebnb.columns.kinds import Kind
from hebnb.counts.families import FamilyCells
from hebnb.counts.index import KeyIndex
from hebnb.counts.single import CountTable, counts_at, nonzero_cells
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.left_out import Left, Rows
from hebnb.scores.lookups import BlockLookup, DenseLookup, Lookup, SparseLookup
from hebnb.smoothing.posterior import posterior_mean

# A table with at most this many numbers, or so many times its cells, has a line for every combination of codes. Those
# that have one only because they are small take no more than 32 MB together.
_SMALL_BLOCK = 1 << 18
_SMALL_BLOCKS = 1 << 22
_SPARSEST_BLOCK = 8


class ScoreTable(Protocol):
    """What the values of some columns add to the score of every class."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The features it is about."""

    @property
    def views(self) -> tuple[IntArray, ...]:
        """For each of them, what every code is here, the silent one included: tables may be coarser than columns."""

    @property
    def concentration(self) -> tuple[FloatArray, ...]:
        """The strength of the prior for every class: given no parent, given one, and so on."""

    @property
    def root(self) -> ValueTable | None:
        """The table that stands in at last, which is about the first feature alone; None if nothing stands in."""

    @property
    def families(self) -> tuple[FamilyTable, ...]:
        """The tables with one parent, two, and so on, the last of which is the table itself."""

    @property
    def n_cells(self) -> int:
        """How many cells have a number of their own."""

    def lines(self) -> tuple[IntArray, FloatArray]:
        """The cells, as one number for the codes of all columns as they are here, and what they add, of shape (…, C).

        Cells that are not among them add nothing.
        """

    @property
    def mean_shrinkage(self) -> FloatArray:
        """The share of the prior in the probabilities of training rows, on average, for every class."""

    def lookup(self, weight: float = 1.0) -> Lookup:
        """The table, times a weight, as rows look it up."""

    def scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """What the values of rows add, of shape (rows, C). Of all features, those of its columns have codes."""

    def shrinkage(self, codes: Sequence[IntArray]) -> FloatArray:
        """The share of the prior in the probabilities of rows, of shape (rows, C); 1 where nothing is said."""

    def counted(self, codes: Sequence[IntArray]) -> FloatArray:
        """How many training rows of every class have the values of rows, of shape (rows, C)."""

    def left_out_scores(self, rows: Rows, left: Left) -> FloatArray:
        """What the table says of each row without it, of shape (C, rows)."""


@dataclass(frozen=True, eq=False)
class ValueTable:
    """log P(x | y) for the values of a feature.

    Parameters
    ----------
    feature : int
    kind : Kind
    count : table of shape (K, C)
    total : array of shape (C,)
        Rows of every class that have a known value.
    mean : array of shape (K,)
        What the probabilities are shrunk towards.
    m : array of shape (C,)
        How strongly.
    """

    feature: int
    kind: Kind
    count: CountTable
    total: FloatArray
    mean: FloatArray
    m: FloatArray

    @property
    def columns(self) -> tuple[int, ...]:
        """The feature."""
        return (self.feature,)

    @property
    def concentration(self) -> tuple[FloatArray, ...]:
        """The strength of the prior for every class."""
        return (self.m,)

    @cached_property
    def views(self) -> tuple[IntArray, ...]:
        """The codes as they are."""
        return (np.arange(len(self.mean) + 1),)

    def lines(self) -> tuple[IntArray, FloatArray]:
        """All codes."""
        return self.views[0], self.scores([*[np.empty(0, dtype=np.intp)] * self.feature, self.views[0]])

    @property
    def mean_shrinkage(self) -> FloatArray:
        """m / (N + m)."""
        return posterior_mean(0.0, self.total, 1.0, self.m)

    @property
    def root(self) -> ValueTable:
        """The table itself."""
        return self

    @property
    def families(self) -> tuple[FamilyTable, ...]:
        """None."""
        return ()

    @property
    def contexts(self) -> None:
        """None: there are no parents."""

    @property
    def n_cells(self) -> int:
        """K."""
        return len(self.mean)

    def lookup(self, weight: float = 1.0) -> Lookup:
        """``weight`` times the log posterior mean, for every category (K) and class (C).

        A category that no row has (an empty bin) and that the prior gives no mass says nothing about the class.
        """
        count, total, mean, m = self.count, self.total, self.mean, self.m
        if isinstance(count, csr_array):
            value, class_, n = nonzero_cells(count)
            of_class = weight * np.log(posterior_mean(0.0, total, 1.0, m))
            of_value = weight * self.log_mean[:-1]
            seen = weight * np.log(posterior_mean(n, total[class_], mean[value], m[class_]))
            excess = csr_array((seen - of_class[class_] - of_value[value], (value, class_)), shape=count.shape)
            return SparseLookup(self.feature, of_class, of_value, self.silent, excess)
        scores = np.zeros((count.shape[0] + 1, count.shape[1]))
        possible = np.flatnonzero(mean)
        scores[possible] = weight * np.log(posterior_mean(count[possible], total, mean[possible, np.newaxis], m))
        return DenseLookup(self.feature, scores)

    def scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """What the values of rows add, of shape (rows, C)."""
        scores = np.zeros((len(codes[self.feature]), len(self.m)))
        self._unweighted.add_to(scores, codes)
        return scores

    @cached_property
    def _unweighted(self) -> Lookup:
        return self.lookup()

    @cached_property
    def log_mean(self) -> FloatArray:
        """The log of the prior mean of every code, of shape (K + 1,); zero where it says nothing."""
        return np.append(np.log(np.where(self.mean > 0, self.mean, 1.0)), 0.0)

    @cached_property
    def silent(self) -> BoolArray:
        """Whether a code says nothing, of shape (K + 1,)."""
        return np.append(self.mean == 0, True)

    def shrinkage(self, codes: Sequence[IntArray]) -> FloatArray:
        """m / (N + m), the same for all values."""
        share = posterior_mean(0.0, self.total, 1.0, self.m)
        return np.where(self.silent[codes[self.feature]][:, np.newaxis], 1.0, share)

    def counted(self, codes: Sequence[IntArray]) -> FloatArray:
        """How many training rows of every class have the values of rows, of shape (rows, C)."""
        return counts_at(self.count, codes[self.feature])

    def left_out_scores(self, rows: Rows, left: Left) -> FloatArray:
        """The log of the probability of each row's value from the other rows."""
        return np.log(self.left_out(rows, left))

    def left_out(self, rows: Rows, left: Left) -> FloatArray:
        """(n + mθ)/(N + m), with the row taken out of n, of N and of θ; 1 where nothing is said."""
        if not len(self.mean):
            return np.ones((len(self.total), len(rows)))
        f = self.feature
        count = rows.without(class_counts(self.count, rows.codes[f]), left.known[f])
        rest = rows.without(np.repeat(self.total[:, np.newaxis], len(rows), axis=1), left.known[f])
        probability = posterior_mean(count, rest, left.mean[f], self.m[:, np.newaxis], out=count)
        probability[:, left.silent[f]] = 1
        return probability


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """log P(x | y, parents) for the values of a feature and of its parents.

    They are shrunk towards those of the table ``above``, which are given one parent less, or, where the prior does not
    back off, towards the prior mean of the value.

    Parameters
    ----------
    cells : FamilyCells
        Counts, with all parents known.
    sizes : array of int
        K of every feature.
    backs_off : bool
    m : array of shape (C,)
        Strength of the prior.
    above : ScoreTable
        The table with one parent less.
    """

    cells: FamilyCells
    sizes: IntArray
    backs_off: bool
    m: FloatArray
    above: ValueTable | FamilyTable

    @property
    def columns(self) -> tuple[int, ...]:
        """The feature and its parents."""
        return (self.cells.child, *self.cells.parents)

    @property
    def concentration(self) -> tuple[FloatArray, ...]:
        """The strength of the prior for every class: given no parent, given one, and so on."""
        return (*self.above.concentration, self.m)

    @cached_property
    def views(self) -> tuple[IntArray, ...]:
        """The codes as they are."""
        return tuple(np.arange(self.sizes[f] + 1) for f in self.columns)

    def lines(self) -> tuple[IntArray, FloatArray]:
        """All combinations of codes."""
        numbers = every_combination(self, self.sizes)
        return np.arange(len(numbers)), numbers

    @property
    def mean_shrinkage(self) -> FloatArray:
        """That of the table of the feature alone."""
        return self.root.mean_shrinkage

    @property
    def root(self) -> ValueTable:
        """The table of the feature alone."""
        return self.above.root

    @property
    def families(self) -> tuple[FamilyTable, ...]:
        """Those above, and the table itself."""
        return (*self.above.families, self)

    @property
    def n_cells(self) -> int:
        """Cells and contexts, those of the tables above included."""
        return self.above.n_cells + len(self.cells.codes) + len(self.contexts.total)

    @cached_property
    def contexts(self) -> Contexts:
        """The combinations of the parents' values that occur, and which of them each cell belongs to."""
        return Contexts.of(self.cells, self.sizes, self.above.contexts)

    @cached_property
    def log_probability(self) -> FloatArray:
        """log P(x | y, parents) of the cells that occur, of shape (cells, C)."""
        total = self.contexts.total[self.contexts.of_cell]
        prior = prior_of_cells(self.cells, self.above, self.backs_off)
        return np.log(posterior_mean(self.cells.count, total, prior, self.m))

    @cached_property
    def rest(self) -> FloatArray:
        """log m/(N + m) of every context, of shape (contexts + 1, C): what a value that it lacks has of its prior."""
        return np.log(posterior_mean(0.0, self.contexts.total, 1.0, self.m))

    def scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """What the values of rows add, of shape (rows, C)."""
        scores = self.above.scores(codes)
        context = self.contexts.places(codes)
        cell = self._cell_places(codes, context)
        met, unmet = np.flatnonzero(cell >= 0), np.flatnonzero((cell < 0) & (context >= 0))
        if not self.backs_off:
            scores[unmet] = self.root.log_mean[codes[self.columns[0]][unmet], np.newaxis]
        scores[unmet] += self.rest[context[unmet]]
        scores[met] = self.log_probability[cell[met]]
        scores[self.root.silent[codes[self.columns[0]]]] = 0
        return scores

    def lookup(self, weight: float = 1.0) -> Lookup:
        """A line for every combination of codes where these are not too many."""
        sizes = self.sizes[list(self.columns)] + 1
        numbers = float(np.prod(sizes, dtype=float)) * len(self.m)
        if numbers > most_numbers(self.n_cells, len(self.m), len(self.sizes)):
            return FamilyLookup(self, weight)
        steps = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        return BlockLookup(self.columns, steps, weight * every_combination(self, self.sizes))

    def shrinkage(self, codes: Sequence[IntArray]) -> FloatArray:
        """The share of the table above in these probabilities, or of its own prior where it stands in."""
        context = self.contexts.places(codes)[:, np.newaxis]
        share = posterior_mean(0.0, self.contexts.total[context[:, 0]], 1.0, self.m)
        silent = self.root.silent[codes[self.columns[0]]][:, np.newaxis]
        return np.where(silent | (context < 0), self.above.shrinkage(codes), share)

    def counted(self, codes: Sequence[IntArray]) -> FloatArray:
        """How many training rows of every class have the feature's value."""
        return self.root.counted(codes)

    def left_out_scores(self, rows: Rows, left: Left) -> FloatArray:
        """The log of the probability of each row's value from the other rows."""
        return np.log(self.left_out(rows, left))

    def left_out(self, rows: Rows, left: Left) -> FloatArray:
        """(n + mθ)/(N + m), with the row taken out of n, of N and of what θ is made of; 1 where nothing is said."""
        above = self.above.left_out(rows, left)
        if not len(self.cells.codes):
            return above
        context = self.contexts.places(rows.codes)
        cell = self._cell_places(rows.codes, context)
        counted = (context >= 0) & left.known[self.columns[0]]
        total = rows.without(np.where(context >= 0, self.contexts.total[context].T, 0.0), counted)
        count = rows.without(np.where(cell >= 0, self.cells.count[cell].T, 0.0), counted)
        mean = above if self.backs_off else left.mean[self.columns[0]]
        probability = posterior_mean(count, total, mean, self.m[:, np.newaxis])
        # Parents' values that only this row had together have never been seen without it.
        probability = np.where(total.any(axis=0), probability, above)
        probability[:, left.silent[self.columns[0]]] = 1
        return probability

    def _cell_places(self, codes: Sequence[IntArray], context: IntArray) -> IntArray:
        size = int(self.sizes[self.columns[0]])
        value = codes[self.columns[0]]
        places = self._cell_index.places(np.maximum(context, 0) * (size + 1) + value)
        return np.where(context >= 0, places, -1)

    @cached_property
    def _cell_index(self) -> KeyIndex:
        size = int(self.sizes[self.columns[0]]) + 1
        keys = self.contexts.of_cell * size + self.cells.codes[:, 0]
        return KeyIndex(keys, max(len(self.contexts.total), 1) * size)


@dataclass(frozen=True, eq=False)
class Contexts:
    """Combinations of parents' values.

    Parameters
    ----------
    parent : int
        The last parent.
    size : int
        Its K.
    codes : array of shape (contexts, parents)
    total : array of shape (contexts + 1, C)
        Rows of every class; a line of zeros at the end, for what is at place −1.
    of_cell : array of int
        The context of every cell.
    above : Contexts, optional
        Those with one parent less, if there is one.
    """

    parent: int
    size: int
    codes: IntArray
    total: FloatArray
    of_cell: IntArray
    above: Contexts | None

    @classmethod
    def of(cls, cells: FamilyCells, sizes: IntArray, above: Contexts | None) -> Contexts:
        """Those that occur."""
        codes = cells.codes[:, 1:]
        new = np.ones(len(codes), dtype=bool)
        new[1:] = (codes[1:] != codes[:-1]).any(axis=1)  # cells stand in the order of their parents
        of_cell = np.cumsum(new) - 1
        total = np.zeros((int(new.sum()) + 1, cells.count.shape[1]))
        np.add.at(total, of_cell, cells.count)
        parent = cells.parents[-1]
        return cls(parent, int(sizes[parent]), codes[new], total, of_cell, above)

    def places(self, codes: Sequence[IntArray]) -> IntArray:
        """The context of every row, −1 where it never occurred. Of all features, the parents have codes."""
        before = None if self.above is None else self.above.places(codes)
        return self._found(before, codes[self.parent])

    def _places_of(self, lines: IntArray) -> IntArray:
        """The same for codes of the parents, of shape (lines, parents)."""
        before = None if self.above is None else self.above._places_of(lines[:, :-1])
        return self._found(before, lines[:, -1])

    def _found(self, before: IntArray | None, code: IntArray) -> IntArray:
        """Contexts by the place of the one with a parent less, of which there are few, and the last parent's code."""
        if before is None:
            return self._index.places(code)
        places = self._index.places(np.maximum(before, 0) * (self.size + 1) + code)
        return np.where(before >= 0, places, -1)

    @cached_property
    def _index(self) -> KeyIndex:
        code = self.codes[:, -1]
        if self.above is None:
            return KeyIndex(code, self.size + 1)
        before = self.above._places_of(self.codes[:, :-1])
        return KeyIndex(before * (self.size + 1) + code, max(len(self.above.codes), 1) * (self.size + 1))


@dataclass(frozen=True, eq=False)
class FamilyLookup:
    """A table of a family, times a weight, looked up cell by cell."""

    table: FamilyTable
    weight: float

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up and add."""
        scores += self.weight * self.table.scores(codes)


def most_numbers(n_cells: float, n_classes: int, n_features: int) -> float:
    """How many numbers a table of so many cells has at most, if it has a line for every combination of codes."""
    return max(min(_SMALL_BLOCK, _SMALL_BLOCKS // n_features), _SPARSEST_BLOCK * n_cells * n_classes)


def every_combination(table: ScoreTable, sizes: IntArray) -> FloatArray:
    """What a table adds for every combination of codes of its columns, silent ones included, of shape (…, C)."""
    grid = np.meshgrid(*(np.arange(sizes[f] + 1) for f in table.columns), indexing="ij")
    return table.scores(_placed(table.columns, [part.ravel() for part in grid]))


def prior_of_cells(cells: FamilyCells, above: ValueTable | FamilyTable, backs_off: bool) -> FloatArray:
    """What the probabilities of cells are shrunk towards, of shape (cells, C)."""
    if not backs_off:
        return np.repeat(above.root.mean[cells.codes[:, 0], np.newaxis], cells.count.shape[1], axis=1)
    return np.exp(above.scores(_placed((cells.child, *cells.parents), list(cells.codes.T))))


def codes_at(table: ScoreTable, nodes: IntArray, n_features: int) -> list[IntArray]:
    """Codes of all features that lead to some cells of a table, given as it sees them, of shape (cells, columns)."""
    codes = [np.empty(0, dtype=np.intp)] * n_features
    for f, view, own in zip(table.columns, table.views, nodes.T, strict=True):
        some_code = np.empty(int(view.max()) + 1, dtype=np.intp)
        some_code[view] = np.arange(len(view))
        codes[f] = some_code[own]
    return codes


def _placed(columns: tuple[int, ...], codes: list[IntArray]) -> list[IntArray]:
    """Codes of some features at their places among those of all, which have none."""
    placed = [np.empty(0, dtype=np.intp)] * (max(columns) + 1)
    for f, own in zip(columns, codes, strict=True):
        placed[f] = own
    return placed


def class_counts(table: CountTable, codes: IntArray) -> FloatArray:
    """How often every class has these categories of a feature, of shape (C, rows); the last for a silent code."""
    found = table[np.minimum(codes, table.shape[0] - 1)]
    return np.ascontiguousarray((found.toarray() if isinstance(found, csr_array) else found).T)
