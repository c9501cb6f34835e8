"""Sampled rows as cells of columns and of crosses, from coarse to fine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hebnb.columns.kinds import Kind
from hebnb.counts.sample import Sample
from hebnb.evidence.leaving import AlikeRows, EachRow, Leaving, Units, grouped
from hebnb.evidence.paths import Cells
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.left_out import Rows

# Levels of a cross at most, and cells of one that goes through several levels.
DEEPEST, MOST_CELLS = 5, 1 << 12


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
    def each(self) -> Leaving:
        """Leaving out every row by itself."""
        if self.once:
            return AlikeRows(self.labels, self.class_count)
        return EachRow(Rows.weighing(self.codes, self.labels, self.weights), self.class_count)

    def nodes(self, f: int, level: int) -> IntArray:
        """The node of every row at a level of a column, or at its last."""
        levels = self.features[f].levels
        level = min(level, len(levels) - 1)
        if (f, level) not in self._nodes:
            self._nodes[f, level] = levels[level][self.codes[f]]
        return self._nodes[f, level]

    @cached_property
    def _nodes(self) -> dict[tuple[int, int], IntArray]:
        """Those that were asked for."""
        return {}

    def mute(self, columns: Sequence[int]) -> BoolArray | None:
        """Rows that the columns say nothing about."""
        if not self.silence:
            return None
        return silent(self.features, self.codes, columns)

    def cells(self, columns: Sequence[int], depth: int) -> list[Cells]:
        """The cells of some columns, from coarse to fine."""
        mute = self.mute(columns)
        return [self._cells(columns, level, mute) for level in range(depth)]

    def alike(self, columns: Sequence[int], depth: int) -> tuple[SampledRows, IntArray, IntArray]:
        """One row for all that are in the same cell of some columns and of the same class, if each counts once.

        Returns
        -------
        rows : SampledRows
        first : array of int
            Which row each of them is.
        of_row : array of int
            Which of them every row is like.
        """
        if not self.once:
            every = np.arange(len(self))
            return self, every, every
        key, space = self._keys(columns, depth - 1)
        of_row, first, _ = grouped(key * self.n_classes + self.labels, space * self.n_classes)
        nothing = np.empty(0, dtype=np.intp)
        codes = tuple(own[first] if f in columns else nothing for f, own in enumerate(self.codes))
        times = np.bincount(of_row, self._counted).astype(float)
        return replace(self, codes=codes, labels=self.labels[first], weights=times), first, of_row

    def _keys(self, columns: Sequence[int], level: int) -> tuple[IntArray, int]:
        """The cell of every row as one number, and a number above all of them."""
        key, space = np.zeros(len(self), dtype=np.intp), 1
        for f in columns:
            n_nodes = n_nodes_at(self.features[f], level)
            key = key * n_nodes + self.nodes(f, level)
            space *= n_nodes
        return key, space

    def _cells(self, columns: Sequence[int], level: int, mute: BoolArray | None) -> Cells:
        key, space = self._keys(columns, level)
        if space > 4 * len(self) + 1024:
            distinct, key = np.unique(key, return_inverse=True)
            space = len(distinct)
        counted = self._counted if mute is None else self.weights * ~mute
        count = np.bincount(self.labels * (space + 1) + key, counted, (space + 1) * self.n_classes)
        return key, count.reshape(self.n_classes, -1).astype(float)

    def own(self, units: Units) -> tuple[IntArray, FloatArray]:
        """The label of every unit of rows left out one by one, and the weight of its rows."""
        return self.labels[units.first], np.bincount(units.of_row, self._counted).astype(float)


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
