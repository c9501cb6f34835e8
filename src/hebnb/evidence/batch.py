"""Tables of sampled rows that are looked at together: their own rows, and the cells these are in.

Rows that are alike, in the same cells and of the same class, are one row of a table's own that stands for all of them.
The own rows of several tables stand one after the other, so that one pass of NumPy serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.evidence.leaving import AlikeRows, EachRow, Leaving, Units
from hebnb.evidence.paths import Cells, Level
from hebnb.evidence.sampled import Alike, SampledRows
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.left_out import Rows

# Numbers, classes times own rows, of tables that are looked at together.
_TOGETHER = 1 << 16


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The own rows of some tables, one table after the other.

    Parameters
    ----------
    sizes : list of int
        How many each table has.
    """

    sizes: Sequence[int]

    @cached_property
    def start(self) -> IntArray:
        """Where those of every table begin, and where the last end."""
        return np.cumsum([0, *self.sizes])

    @cached_property
    def table(self) -> IntArray:
        """The table of every own row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def parted(self, path: Sequence[Level]) -> list[list[Level]]:
        """What each table says at every level; the units of a table are neighbours."""
        every = np.arange(len(self.sizes) + 1)
        limits = [np.searchsorted(self.table[level.first], every).tolist() for level in path]
        start = self.start.tolist()
        return [
            [
                level.part(slice(start[n], start[n + 1]), slice(*own[n : n + 2]))
                for level, own in zip(path, limits, strict=True)
            ]
            for n in range(len(self.sizes))
        ]


@dataclass(frozen=True, eq=False)
class Batch:
    """Tables of as many columns and levels, of rows that are left out one by one.

    Parameters
    ----------
    alike : list of Alike
        The own rows of every table.
    rows : SampledRows
    columns : array of shape (tables, columns)
    depth : int
        How many levels they have.
    """

    alike: Sequence[Alike]
    rows: SampledRows
    columns: IntArray
    depth: int

    def __len__(self) -> int:
        return len(self.alike)

    @cached_property
    def own_rows(self) -> OwnRows:
        """One table after the other."""
        return OwnRows([len(own.first) for own in self.alike])

    @property
    def table(self) -> IntArray:
        """The table of every own row."""
        return self.own_rows.table

    @cached_property
    def row(self) -> IntArray:
        """One of the sampled rows that every own row stands for."""
        return np.concatenate([own.first for own in self.alike])

    @cached_property
    def labels(self) -> IntArray:
        """Of every own row."""
        return self.rows.labels[self.row]

    @cached_property
    def weights(self) -> FloatArray:
        """How many rows every own row stands for."""
        return np.concatenate([own.weights for own in self.alike])

    @cached_property
    def leaving(self) -> Leaving:
        """Leaving out every row by itself."""
        if self.rows.once:
            return AlikeRows(self.labels, self.rows.class_count)
        return EachRow(Rows.weighing((), self.labels, self.weights), self.rows.class_count)

    @cached_property
    def mute(self) -> BoolArray | None:
        """Own rows that their table says nothing about."""
        if not self.rows.silence:
            return None
        sizes = np.array([kind.size for kind in self.rows.features])
        pairs = zip(self._codes, self.columns.T, strict=True)
        any_of: BoolArray = np.any([code == sizes[f][self.table] for code, f in pairs], axis=0)
        return any_of

    def cells(self) -> list[Cells]:
        """The cells of own rows, from coarse to fine."""
        levels = range(self.depth - 1)
        coarse = [self.rows.nodes_at(level).cells(self.columns, self._codes, self.table) for level in levels]
        n_cells = np.array([own.n_cells for own in self.alike])
        finest = np.concatenate([own.cell for own in self.alike]) + (np.cumsum(n_cells) - n_cells)[self.table]
        return [self._counted(*cells) for cells in (*coarse, (finest, int(n_cells.sum())))]

    @cached_property
    def _codes(self) -> list[IntArray]:
        """For the first column of the tables, and so on: the code of every own row."""
        return [
            np.concatenate([self.rows.codes[f][own.first] for f, own in zip(column, self.alike, strict=True)])
            for column in self.columns.T
        ]

    def _counted(self, cell: IntArray, n_cells: int) -> Cells:
        """Cells, of which there are so many, with their counts."""
        n_classes = self.rows.n_classes
        weights = self.weights if self.mute is None else self.weights * ~self.mute
        count = np.bincount(self.labels * (n_cells + 1) + cell, weights, (n_cells + 1) * n_classes)
        return cell, count.reshape(n_classes, -1).astype(float)

    def of_units(self, units: Units) -> tuple[IntArray, FloatArray, IntArray]:
        """Of every unit: its label, how many rows it stands for, and its table."""
        weights = np.bincount(units.of_row, self.weights).astype(float)
        return self.labels[units.first], weights, self.table[units.first]

    def gains(self, level: Level) -> tuple[FloatArray, FloatArray]:
        """How much more likely the labels become with every table, in nats, and how many standard errors that is."""
        told = level.evidence[self.labels[level.first], np.arange(len(level.first))]
        weights, table = np.bincount(level.of_row, self.weights), self.table[level.first]
        gain = np.bincount(table, weights * told, len(self)).astype(float)
        squares = np.bincount(table, weights * told**2, len(self)).astype(float)
        return gain, gain / np.maximum(np.sqrt(squares), 1e-12)


def batches(rows: SampledRows, depth: int, tables: Iterable[tuple[tuple[int, ...], Alike]]) -> Iterator[Batch]:
    """Tables, given by their columns and own rows, in batches that fit the cache."""
    waiting: list[tuple[tuple[int, ...], Alike]] = []
    for table in tables:
        waiting.append(table)
        if sum(len(own.first) for _, own in waiting) * rows.n_classes >= _TOGETHER:
            yield _batch(rows, depth, waiting)
            waiting = []
    if waiting:
        yield _batch(rows, depth, waiting)


def _batch(rows: SampledRows, depth: int, tables: Sequence[tuple[tuple[int, ...], Alike]]) -> Batch:
    return Batch([own for _, own in tables], rows, np.array([columns for columns, _ in tables]), depth)
