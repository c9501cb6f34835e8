"""Sampled rows as cells of columns and of crosses, from coarse to fine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hebnb.columns.kinds import Kind
from hebnb.counts.sample import Sample
from hebnb.evidence.leaving import AlikeRows, grouped
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.left_out import Rows

# Levels of a cross at most, and cells of one that goes through several levels.
DEEPEST, MOST_CELLS = 5, 1 << 12
# Numbers that a cell may have.
_MOST_KEYS = 1 << 62


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Sampled rows as cells of columns and of crosses.

    Parameters
    ----------
    features : tuple of Kind
    codes : tuple of F arrays of shape (S,)
    labels : array of shape (S,)
    weights : array of shape (S,)
    n_classes : int
    silence : bool
        Whether a silent code says nothing, as where gaps are ignored.
    once : bool
        Whether rows count once, each for itself or for as many as its weight says.
    """

    features: tuple[Kind, ...]
    codes: tuple[IntArray, ...]
    labels: IntArray
    weights: FloatArray
    n_classes: int
    silence: bool
    once: bool

    @classmethod
    def of(cls, sample: Sample) -> SampledRows:
        """The rows of a sample."""
        vocabulary = sample.vocabulary
        return cls(
            vocabulary.features,
            sample.codes,
            sample.labels,
            sample.weights,
            sample.classes.size,
            vocabulary.missing == "ignore",
            bool((sample.weights == 1).all()),
        )

    def __len__(self) -> int:
        return len(self.labels)

    def of_rows(self, some: IntArray) -> SampledRows:
        """Some of the rows."""
        codes = tuple(column[some] for column in self.codes)
        return replace(self, codes=codes, labels=self.labels[some], weights=self.weights[some])

    @cached_property
    def class_count(self) -> FloatArray:
        """The weight of every class."""
        return np.bincount(self.labels, self.weights, self.n_classes).astype(float)

    @cached_property
    def _counted(self) -> FloatArray | None:
        """The weights, if they are not all one."""
        return None if (self.weights == 1).all() else self.weights

    @cached_property
    def log_prior(self) -> FloatArray:
        """The log prior of the classes from all rows but each, of shape (C, S)."""
        if self.once:
            return AlikeRows(self.labels, self.class_count).log_prior(np.arange(len(self)))
        return Rows.weighing((), self.labels, self.weights).log_priors(self.class_count)

    def nodes_at(self, level: int) -> Nodes:
        """The nodes of all columns at a level, or at their last."""
        if level not in self._nodes:
            self._nodes[level] = Nodes.of(self.features, level)
        return self._nodes[level]

    @cached_property
    def _nodes(self) -> dict[int, Nodes]:
        """Those that were asked for."""
        return {}

    def alike(self, columns: Sequence[int], depth: int) -> Alike:
        """One row for all that are in the same cell of some columns and of the same class, if each counts once."""
        key, space = self._keys(columns, depth - 1)
        if not self.once:
            distinct, cell = np.unique(key, return_inverse=True)
            every = np.arange(len(self))
            return Alike(every, every, self.weights, cell.reshape(-1), len(distinct))
        of_row, first, distinct = grouped(key * self.n_classes + self.labels, space * self.n_classes)
        own = distinct // self.n_classes
        cell = np.cumsum(np.concatenate([[0], np.diff(own) != 0])).astype(np.intp)
        times = np.bincount(of_row, self._counted).astype(float)
        return Alike(of_row, first, times, cell, int(cell[-1]) + 1)

    def _keys(self, columns: Sequence[int], level: int) -> tuple[IntArray, int]:
        """The cell of every row as one number, and a number above all of them."""
        key, space = np.zeros(len(self), dtype=np.intp), 1
        for f in columns:
            n_nodes = n_nodes_at(self.features[f], level)
            if space * n_nodes * self.n_classes >= _MOST_KEYS:  # those that occur are no more than rows
                distinct, at = np.unique(key, return_inverse=True)
                key, space = at.reshape(-1), len(distinct)
            key = key * n_nodes + self._node_of_row(f, level)
            space *= n_nodes
        return key, space

    def _node_of_row(self, f: int, level: int) -> IntArray:
        """The node of every row at a level of a column, or at its last."""
        levels = self.features[f].levels
        level = min(level, len(levels) - 1)
        if (f, level) not in self._node_of_rows:
            self._node_of_rows[f, level] = levels[level][self.codes[f]]
        return self._node_of_rows[f, level]

    @cached_property
    def _node_of_rows(self) -> dict[tuple[int, int], IntArray]:
        """Those that were asked for."""
        return {}


@dataclass(frozen=True, eq=False)
class Alike:
    """The rows of a table's own, each for all sampled rows that are like it.

    Parameters
    ----------
    of_row : array of shape (S,)
        Which of them every sampled row is like.
    first : array of int
        One of the sampled rows that each stands for.
    weights : array of float
        How many rows each stands for.
    cell : array of int
        The cell of each at the finest level.
    n_cells : int
    """

    of_row: IntArray
    first: IntArray
    weights: FloatArray
    cell: IntArray
    n_cells: int


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of all columns at a level: those of the codes of every column, where these begin, their number."""

    node: IntArray
    start: IntArray
    number: IntArray

    @classmethod
    def of(cls, features: Sequence[Kind], level: int) -> Nodes:
        """At a level of crosses."""
        own = [kind.levels[min(level, len(kind.levels) - 1)] for kind in features]
        number = np.array([n_nodes_at(kind, level) for kind in features])
        return cls(np.concatenate(own), np.cumsum([0, *map(len, own[:-1])]), number)

    def cells(self, columns: IntArray, codes: Sequence[IntArray], table: IntArray) -> tuple[IntArray, int]:
        """The cell of every own row of some tables, no two of which have one in common, and how many there are.

        Parameters
        ----------
        columns : array of shape (tables, columns)
        codes : list of arrays
            For the first column of the tables, and so on: the code of every own row.
        table : array
            The table of every own row.
        """
        key, space = np.zeros(len(table), dtype=np.intp), np.ones(len(columns), dtype=np.intp)
        for code, f in zip(codes, columns.T, strict=True):
            key = key * self.number[f][table] + self.node.take(self.start[f][table] + code)
            space *= self.number[f]
        return key + (np.cumsum(space) - space)[table], int(space.sum())


def silent(features: Sequence[Kind], codes: Sequence[IntArray], columns: Sequence[int]) -> BoolArray:
    """Which rows have the silent code in one of some columns."""
    any_of: BoolArray = np.any([codes[f] == features[f].size for f in columns], axis=0)
    return any_of


def n_nodes_at(kind: Kind, level: int) -> int:
    """How many nodes a kind has at a level of crosses."""
    return kind.n_nodes[min(level, len(kind.n_nodes) - 1)]


def depth_of(features: Sequence[Kind], columns: Sequence[int]) -> int:
    """How many levels a cross goes through: as long as its cells are not too many."""
    depth = min(max(len(features[f].levels) for f in columns), DEEPEST)
    while depth > 1 and np.prod([float(n_nodes_at(features[f], depth - 1)) for f in columns]) > MOST_CELLS:
        depth -= 1
    return depth
