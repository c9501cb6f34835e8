"""Score tables of pairs: log P(x_j | y, x_i), for all parents and children."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hebnb.counts.pairs import DensePairs, Layout
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray, in_threads
from hebnb.scores.directed import Directed
from hebnb.scores.pair_numbers import PairNumbers
from hebnb.smoothing.posterior import posterior_mean


class PairTables(Protocol):
    """What the children of a parent add to the score of every class.

    Positions are of shape (F, rows), with W for a silent value. Rows whose parent is silent get anything.
    """

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """What the children conditioned on i add together, of shape (C, rows)."""

    def of_children(self, i: int, positions: IntArray) -> FloatArray:
        """What each of them adds, of shape (C, F, rows); zero for the others."""

    def block(self, parents: slice, children: IntArray) -> FloatArray:
        """The numbers of some positions of parents and of their children, of shape (C, parents, children)."""


def pair_tables(directed: Directed, means: list[FloatArray], concentration: FloatArray) -> PairTables:
    """Tables that are dense where the counts are."""
    make = dense_scores if directed.cells is None else sparse_scores
    return make(directed, np.concatenate(means), concentration)


@dataclass(frozen=True)
class DensePairTables:
    """log P(child | class, parent), of shape (C, W + 1, W + 1); zero where a pair is not in use or says nothing."""

    table: FloatArray

    def of_children(self, i: int, positions: IntArray) -> FloatArray:
        """Look up."""
        return np.stack([table.ravel().take(self._cell(i, positions)) for table in self.table])

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """Look up and add, a class at a time, which stays in the processor's cache."""
        cell = self._cell(i, positions)
        scores = np.empty((len(self.table), positions.shape[1]))
        for table, total in zip(self.table, scores, strict=True):
            np.sum(table.ravel().take(cell), axis=0, out=total)
        return scores

    def block(self, parents: slice, children: IntArray) -> FloatArray:
        """A part of the table."""
        block: FloatArray = self.table[:, parents][:, :, children]
        return block

    def _cell(self, i: int, positions: IntArray) -> IntArray:
        cell: IntArray = positions + positions[i] * self.table.shape[1]
        return cell


def dense_scores(directed: Directed, mean: FloatArray, m: FloatArray) -> DensePairTables:
    """The score tables with a cell for every pair."""
    counts, used, total = directed.counts, directed.used, directed.total
    assert isinstance(counts.pairs, DensePairs)
    layout, square = counts.layout, counts.pairs.square
    table = np.zeros((counts.classes.size, layout.width + 1, layout.width + 1))

    def fill(i: int) -> None:
        span = layout.span(i)
        strength = np.where(used[i], m[:, i], 1.0)[:, np.newaxis, layout.feature]
        rows = np.repeat(total[:, span], layout.sizes, axis=2)
        silent = ~used[i][layout.feature] | (mean == 0)
        scores = table[:, span, :-1]
        posterior_mean(square[:, span], rows, np.where(silent, 1.0, mean), strength, out=scores)
        np.log(scores, out=scores)
        scores[:, :, silent] = 0

    in_threads(fill, np.flatnonzero(used.any(axis=1)).tolist())
    return DensePairTables(table)


@dataclass(frozen=True, eq=False)
class SparsePairTables:
    """log P(child | class, parent) where most pairs of values never met.

    Without a count it is ``of_parent_value[c, p, j] + of_value[q]``; ``excess`` holds what the counted pairs have on
    top of that.
    """

    layout: Layout
    of_parent_value: FloatArray
    of_value: FloatArray
    silent: BoolArray
    excess: PairNumbers
    used: BoolArray

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """The sum over the children: the parts of all of them, less those of silent ones."""
        children = np.flatnonzero(self.used[i])
        scores = np.zeros((self.excess.n_classes, positions.shape[1]))
        if not len(children) or not self.layout.sizes[i]:
            return scores
        parent, child = self._known(i, positions), positions[children]
        scores += self._of_all_children[:, parent]
        scores += self.of_value[child].sum(axis=0)
        scores += self.excess.summed(parent, child)
        place, row = np.nonzero(self.silent[child])
        if len(row):
            np.subtract.at(scores.T, row, self.of_parent_value[:, parent[row], children[place]].T)
        return scores

    def of_children(self, i: int, positions: IntArray) -> FloatArray:
        """Add the common parts of the known children, and the excess where there is any."""
        scores = np.zeros((self.excess.n_classes, *positions.shape))
        children = np.flatnonzero(self.used[i])
        if not len(children) or not self.layout.sizes[i]:
            return scores
        parent, child = self._known(i, positions), positions[children]
        silent, common = self.silent[child], self.of_value[child]
        for c, excess in enumerate(self.excess.by_class(parent, child)):
            rest = self.of_parent_value[c][parent][:, children].T
            scores[c, children] = np.where(silent, 0, common + rest + excess)
        return scores

    def block(self, parents: slice, children: IntArray) -> FloatArray:
        """Put the parts together for pairs that met and for those that did not."""
        block = self.of_parent_value[:, parents][:, :, self.layout.feature[children]] + self.of_value[children]
        place = np.full(self.layout.width, -1)
        place[children] = np.arange(len(children))
        cells = self.excess.cells(parents)
        kept = np.flatnonzero(place[cells.child] >= 0)
        at = cells.class_[kept], cells.parent[kept] - parents.start, place[cells.child[kept]]
        block[at] += cells.count[kept]
        block[:, :, self.silent[children]] = 0
        return block

    def _known(self, i: int, positions: IntArray) -> IntArray:
        """The parent's positions, and any of its own where it is silent."""
        known: IntArray = np.minimum(positions[i], self.layout.starts[i + 1] - 1)
        return known

    @cached_property
    def _of_all_children(self) -> FloatArray:
        """The sum over the children of what belongs to the parent's value alone, of shape (C, W)."""
        sums = np.zeros(self.of_parent_value.shape[:2])
        at = _of_parents(self.layout, self.used)
        used = self.used[self.layout.feature[at]]
        for part, total in zip(self.of_parent_value, sums, strict=True):
            total[at] = np.where(used, part[at], 0).sum(axis=1)
        return sums


def _of_parents(layout: Layout, used: BoolArray) -> IntArray:
    """The positions of features that any other is conditioned on."""
    is_parent: BoolArray = np.asarray(used.any(axis=1))
    return np.flatnonzero(is_parent[layout.feature])


def sparse_scores(directed: Directed, mean: FloatArray, m: FloatArray) -> SparsePairTables:
    """The score tables without a cell for pairs that never met."""
    counts, used, total = directed.counts, directed.used, directed.total
    feature = counts.layout.feature
    of_value = np.append(np.log(np.where(mean > 0, mean, 1.0)), 0.0)
    rest, at = np.zeros(total.shape), _of_parents(counts.layout, used)
    for c, strength in enumerate(np.where(used, m, 1.0)):
        rest[c, at] = np.log(posterior_mean(0.0, total[c, at], 1.0, strength[feature[at]]))
    cells = directed.cells_of(slice(0, len(used)))

    def excess_of_cells() -> FloatArray:
        j = feature[cells.child]
        strength = m[cells.class_, feature[cells.parent], j]
        excess = posterior_mean(cells.count, total[cells.class_, cells.parent, j], mean[cells.child], strength)
        np.log(excess, out=excess)
        excess -= rest[cells.class_, cells.parent, j]
        excess -= of_value[cells.child]
        return excess

    excess = excess_of_cells()
    numbers = PairNumbers.of(cells, excess, counts.layout.width, counts.classes.size)
    return SparsePairTables(counts.layout, rest, of_value, np.append(mean == 0, True), numbers, used)
