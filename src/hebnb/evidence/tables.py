"""Score tables of evidence: for the cells of a column or of a cross, what they add to the score of every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from hebnb.columns.kinds import Kind
from hebnb.counts.index import KeyIndex
from hebnb.counts.single import dense
from hebnb.evidence.choice import Cross
from hebnb.evidence.counts import EvidenceCounts, nodes_of
from hebnb.evidence.leaving import EachRow, Leaving, grouped
from hebnb.evidence.paths import Cells, Path, given, of_column, of_cross, together
from hebnb.evidence.sampled import n_nodes_at, silent
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.left_out import Left, Rows
from hebnb.scores.lookups import DenseLookup, Lookup
from hebnb.scores.tables import FamilyTable


def added_up(place: IntArray, count: FloatArray, size: int) -> FloatArray:
    """Counts of shape (cells, C), added up by place, of shape (C, size)."""
    return (
        np.stack([np.bincount(place, own, size) for own in count.T]) if len(count) else np.zeros((count.shape[1], size))
    )


@dataclass(frozen=True, eq=False)
class LevelCells:
    """The cells of some columns at one level, and their counts.

    Parameters
    ----------
    columns : tuple of int
    nodes : tuple of arrays
        The node of every code of each of them.
    sizes : tuple of int
        How many nodes each of them has.
    keys : array of int
        The cells that occur, as one number each.
    count : array of shape (C, cells + 1)
        Zeros at the end, for a cell that does not occur.
    """

    columns: tuple[int, ...]
    nodes: tuple[IntArray, ...]
    sizes: tuple[int, ...]
    keys: IntArray
    count: FloatArray

    @cached_property
    def _index(self) -> KeyIndex:
        return KeyIndex(self.keys, prod(self.sizes))

    def of(self, codes: Sequence[IntArray]) -> IntArray:
        """The cell of every row, −1 for one that does not occur."""
        key = self.nodes[0].take(codes[self.columns[0]])
        for f, nodes, size in zip(self.columns[1:], self.nodes[1:], self.sizes[1:], strict=True):
            key *= size
            key += nodes.take(codes[f])
        return self._index.places(key)


@dataclass(frozen=True, eq=False)
class EvidenceModel:
    """Counts and strengths: what every table's evidence is computed from, whatever is left out."""

    counts: EvidenceCounts

    @property
    def features(self) -> tuple[Kind, ...]:
        """The kinds of the columns."""
        return self.counts.vocabulary.features

    @property
    def silence(self) -> bool:
        """Whether a silent code says nothing, as where gaps are ignored."""
        return self.counts.vocabulary.missing == "ignore"

    def columns_of(self, t: int) -> tuple[int, ...]:
        """The columns of a table."""
        n_columns = len(self.features)
        return (t,) if t < n_columns else self.counts.choice.crosses[t - n_columns].columns

    def path(self, t: int, codes: Sequence[IntArray], leaving: Leaving, known: dict[int, Path]) -> Path:
        """What a table says of rows at every level; ``known`` are the paths of tables that were asked before."""
        if t not in known:
            choice = self.counts.choice
            cells = self._cells(t, codes)
            if t < len(self.features):
                own = choice.columns[t]
                known[t] = of_column(leaving, cells, given(own.levels), own.buckets, self._mute((t,), codes))
            else:
                cross = choice.crosses[t - len(self.features)]
                parts = [
                    (self.path(part, codes, leaving, known), weight)
                    for part, weight in zip(cross.parts, cross.part_weights, strict=True)
                ]
                mute = self._mute(cross.columns, codes)
                known[t] = of_cross(leaving, cells, given(cross.strengths), together(parts), mute)
        return known[t]

    def _cells(self, t: int, codes: Sequence[IntArray]) -> list[Cells]:
        return [(level.of(codes), level.count) for level in self.levels[t]]

    def _mute(self, columns: Sequence[int], codes: Sequence[IntArray]) -> BoolArray | None:
        if not self.silence:
            return None
        return silent(self.features, codes, columns)

    @cached_property
    def levels(self) -> list[list[LevelCells]]:
        """The cells of every table, at every level."""
        columns = [self._column_levels(f) for f in range(len(self.features))]
        parts = zip(self.counts.choice.crosses, self.counts.cells, strict=True)
        return columns + [self._cross_levels(cross, cells.codes, cells.count) for cross, cells in parts]

    def _column_levels(self, f: int) -> list[LevelCells]:
        count = dense(self.counts.tables[f])
        silent = np.maximum(self.counts.class_count - count.sum(axis=0), 0.0)
        silent[silent < 1e-9 * self.counts.class_count] = 0.0
        count = np.vstack([count, np.zeros_like(silent) if self.silence else silent])
        levels = []
        kind = self.features[f]
        for nodes, n_nodes in zip(kind.levels, kind.n_nodes, strict=True):
            own = added_up(nodes, count, n_nodes + 1)
            levels.append(LevelCells((f,), (nodes,), (n_nodes,), np.arange(n_nodes), own))
        return levels

    def _cross_levels(self, cross: Cross, codes: IntArray, count: FloatArray) -> list[LevelCells]:
        kinds = [self.features[f] for f in cross.columns]
        if self.silence:  # rows with a gap were not counted
            known = np.all(
                [own < nodes_of(kind, cross.depth)[-1] for kind, own in zip(kinds, codes.T, strict=True)], axis=0
            )
            codes, count = codes[known], count[known]
        levels = []
        for level in range(cross.depth):
            nodes = tuple(nodes_of(kind, level + 1) for kind in kinds)
            sizes = tuple(n_nodes_at(kind, level) for kind in kinds)
            key = np.zeros(len(codes), dtype=np.intp)
            for f, own, size in zip(cross.columns, codes.T, sizes, strict=True):
                key = key * size + self._coarser(f, cross.depth, level).take(own)
            at, _, keys = grouped(key, prod(sizes))
            levels.append(LevelCells(cross.columns, nodes, sizes, keys, added_up(at, count, len(keys) + 1)))
        return levels

    def _coarser(self, f: int, depth: int, level: int) -> IntArray:
        """The node at a level of every node at the finest level of a cross."""
        if (f, depth, level) not in self._coarse:
            kind = self.features[f]
            places = np.zeros(n_nodes_at(kind, depth - 1), dtype=np.intp)
            places[nodes_of(kind, depth)] = nodes_of(kind, level + 1)
            self._coarse[f, depth, level] = places
        return self._coarse[f, depth, level]

    @cached_property
    def _coarse(self) -> dict[tuple[int, int, int], IntArray]:
        """Those that were asked for."""
        return {}


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """What the cells of a column, or of several together, add to the score of every class.

    Parameters
    ----------
    model : EvidenceModel
    number : int
        Among the tables of the model.
    columns : tuple of int
    views : tuple of arrays
        For every code of each column, the silent one included, its node in this table.
    keys : array of int
        The cells, as one number each, in order; others add nothing.
    numbers : array of shape (cells, C)
        What they add.
    count : array of shape (cells, C)
        How many training rows of every class they have.
    prior_share : array of shape (cells,)
        How much of the probability behind the numbers is prior.
    """

    model: EvidenceModel
    number: int
    columns: tuple[int, ...]
    views: tuple[IntArray, ...]
    keys: IntArray
    numbers: FloatArray
    count: FloatArray
    prior_share: FloatArray

    @property
    def concentration(self) -> tuple[FloatArray, ...]:
        """The strength of the prior at the finest level, the same for every class."""
        choice, n_columns = self.model.counts.choice, len(self.model.features)
        if self.number < n_columns:
            strengths = choice.columns[self.number].levels
        else:
            strengths = choice.crosses[self.number - n_columns].strengths
        return (np.full(self.numbers.shape[1], strengths[-1]),)

    @property
    def root(self) -> None:
        """None: a cell that does not occur adds nothing."""

    @property
    def families(self) -> tuple[FamilyTable, ...]:
        """None."""
        return ()

    def lines(self) -> tuple[IntArray, FloatArray]:
        """Those that have a number."""
        return self.keys, self.numbers

    @property
    def mean_shrinkage(self) -> FloatArray:
        """The share of what is known without the column, or the cross, on average over the rows of every class."""
        share: FloatArray = self.prior_share @ self.count / np.maximum(self.count.sum(axis=0), 1e-300)
        return share

    @property
    def n_cells(self) -> int:
        """How many cells have a number of their own."""
        return len(self.keys)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes every column has here."""
        return tuple(int(view.max()) + 1 for view in self.views)

    @cached_property
    def nodes(self) -> IntArray:
        """The nodes of every cell, of shape (cells, columns)."""
        return np.stack(np.unravel_index(self.keys, self.sizes), axis=1)

    @property
    def is_full(self) -> bool:
        """Whether every combination of nodes has a number."""
        return len(self.keys) == float(np.prod(self.sizes, dtype=float))

    @cached_property
    def _steps(self) -> tuple[IntArray, ...]:
        return tuple(view * int(np.prod(self.sizes[n + 1 :], dtype=object)) for n, view in enumerate(self.views))

    @cached_property
    def _index(self) -> KeyIndex | None:
        return None if self.is_full else KeyIndex(self.keys, int(np.prod(self.sizes, dtype=object)))

    def places(self, codes: Sequence[IntArray]) -> IntArray:
        """The cell of every row, −1 for one that has none."""
        key = self._steps[0].take(codes[self.columns[0]])
        for f, step in zip(self.columns[1:], self._steps[1:], strict=True):
            key += step.take(codes[f])
        return key if self._index is None else self._index.places(key)

    def lookup(self, weight: float = 1.0) -> Lookup:
        """The table, times a weight, as rows look it up."""
        if len(self.columns) == 1:
            return DenseLookup(self.columns[0], weight * self.numbers)
        nothing = np.zeros((1, self.numbers.shape[1]))
        return CellLookup(self, np.concatenate([weight * self.numbers, nothing]))

    def scores(self, codes: Sequence[IntArray]) -> FloatArray:
        """What the values of rows add, of shape (rows, C)."""
        scores = np.zeros((len(codes[self.columns[0]]), self.numbers.shape[1]))
        self._unweighted.add_to(scores, codes)
        return scores

    @cached_property
    def _unweighted(self) -> Lookup:
        return self.lookup()

    def shrinkage(self, codes: Sequence[IntArray]) -> FloatArray:
        """The share of the prior in the probabilities of rows, the same for all classes."""
        share = np.append(self.prior_share, 1.0)[self.places(codes)]
        return np.repeat(share[:, np.newaxis], self.numbers.shape[1], axis=1)

    def counted(self, codes: Sequence[IntArray]) -> FloatArray:
        """How many training rows of every class are in the cells of rows, of shape (rows, C)."""
        return np.concatenate([self.count, np.zeros((1, self.count.shape[1]))])[self.places(codes)]

    def left_out_scores(self, rows: Rows, left: Left) -> FloatArray:
        """What the table says of each row without it, of shape (C, rows)."""
        known: dict[int, Any] = left.shared.setdefault("paths", {})
        leaving = left.shared.setdefault("leaving", EachRow(rows, self.model.counts.class_count))
        level = self.model.path(self.number, rows.codes, leaving, known)[-1]
        return level.evidence.take(level.of_row, axis=1)


@dataclass(frozen=True, eq=False)
class CellLookup:
    """The numbers of a table's cells, times a weight; zeros at the end, for a cell that has none."""

    table: EvidenceTable
    numbers: FloatArray

    def add_to(self, scores: FloatArray, codes: Sequence[IntArray]) -> None:
        """Look up and add."""
        scores += self.numbers.take(self.table.places(codes), axis=0, mode="wrap")
