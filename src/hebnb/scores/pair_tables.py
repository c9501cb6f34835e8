"""Probabilities of a child's value given the class and a parent's value: P(x_j | y, x_i), for all parents and children.

Every (class, parent, child) has one concentration, shared by the parent's values, each of which is a document of the
evidence (paper, eqs. 11 to 13).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from hebnb.counts.pairs import DensePairs, PairCounts, SparsePairs
from hebnb.foundation.arrays import THREADS, BoolArray, FloatArray, IntArray
from hebnb.scores.tables import posterior_mean
from hebnb.smoothing.smoothers import Smoother
from hebnb.smoothing.strength import Evidence, Terms, merge_cells

# Cells whose concentrations are solved for at a time: few enough to stay in the processor's cache.
CHUNK = 1 << 18


class ChildScores(Protocol):
    """What the children of a parent add to the score of every class."""

    def of_children(self, i: int, positions: IntArray) -> FloatArray:
        """log P(x_j | y, x_i) for the children conditioned on i, of shape (C, F, rows); zero for the others.

        Positions are of shape (F, rows), with W for what says nothing. Rows without a known parent value get anything.
        """

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """Their sum over the children, of shape (C, rows)."""


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

    def of_class(self, class_: int) -> Cells:
        """The cells of a class."""
        return self.at(np.flatnonzero(self.class_ == class_))


@dataclass(frozen=True)
class SortedCells:
    """Numbers that belong to pairs of positions, by increasing key ``parent · W + child``."""

    keys: IntArray
    values: FloatArray

    @classmethod
    def of(cls, keys: IntArray, values: FloatArray) -> SortedCells:
        """Put them in order."""
        order = np.argsort(keys)
        return cls(keys[order], values[order])

    def at(self, keys: IntArray) -> FloatArray:
        """The numbers of these keys, zero where there is none."""
        if not len(self.keys):
            return np.zeros(keys.shape)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)


@dataclass(frozen=True)
class Directed:
    """Pair counts seen from parents to children.

    Parameters
    ----------
    counts : PairCounts
    used : array of shape (F, F)
        Whether the child (column) is conditioned on the parent (row).
    cells : Cells or None
        For sparse pairs, each cell once with either side as the parent, in order of the parents.
    total : array of shape (C, W, F)
        The rows of every class and parent's position in which the child is known.
    """

    counts: PairCounts
    used: BoolArray
    cells: Cells | None
    total: FloatArray

    @classmethod
    def of(cls, counts: PairCounts, used: BoolArray) -> Directed:
        """Look at the pairs from both sides, and add up the totals."""
        layout, n_classes, n_features = counts.layout, counts.classes.size, len(used)
        shape = n_classes, layout.width, n_features
        if isinstance(counts.pairs, DensePairs):
            total = np.zeros(shape)
            present = np.flatnonzero(layout.sizes)
            total[:, :, present] = np.add.reduceat(counts.pairs.square, layout.starts[present], axis=2)
            return cls(counts, used, None, total)
        cells = _both_ways(counts.pairs)
        key = (cells.class_ * layout.width + cells.parent) * n_features + layout.feature[cells.child]
        return cls(counts, used, cells, np.bincount(key, cells.count, int(np.prod(shape))).reshape(shape).astype(float))

    def concentrations(self, rule: Smoother) -> FloatArray:
        """The concentration of every (class, parent, child), of shape (C, F, F), NaN where none is in use."""
        chunks = self.chunks()
        m = np.full((self.counts.classes.size, *self.used.shape), np.nan)
        with ThreadPoolExecutor(THREADS) as pool:  # solving is outside the interpreter lock
            solved = pool.map(lambda parents: self.concentration(rule, parents), chunks)
            for parents, concentration in zip(chunks, solved, strict=True):
                m[:, parents] = np.where(self.used[parents], concentration, np.nan)
        return m

    def scores(self, means: list[FloatArray], concentration: FloatArray) -> ChildScores:
        """The score tables."""
        make = _dense_scores if self.cells is None else sparse_scores
        return make(self, np.concatenate(means), concentration)

    def counts_of(self, class_: int, parent: IntArray, child: IntArray) -> FloatArray:
        """How often a class has these positions of parents and children."""
        key = child + parent * self.counts.layout.width
        if isinstance(self.counts.pairs, DensePairs):
            found: FloatArray = self.counts.pairs.square[class_].ravel().take(key)
            return found
        return self._sorted_counts[class_].at(key)

    @cached_property
    def _sorted_counts(self) -> list[SortedCells]:
        assert self.cells is not None
        return [
            SortedCells.of(here.parent * self.counts.layout.width + here.child, here.count)
            for here in map(self.cells.of_class, range(self.counts.classes.size))
        ]

    def chunks(self) -> list[slice]:
        """Runs of parents with about as many cells each, and at least one parent."""
        layout = self.counts.layout
        if self.cells is None:
            cells = self.counts.classes.size * layout.width * layout.sizes
        else:
            cells = np.bincount(layout.feature[self.cells.parent], minlength=len(layout.sizes))
        number = np.cumsum(cells) // CHUNK
        starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(layout.sizes)]
        return [slice(a, b) for a, b in pairwise(starts) if self.used[a:b].any()]

    def concentration(self, rule: Smoother, parents: slice) -> FloatArray:
        """m of some parents, of shape (C, parents, F)."""
        layout, n_features = self.counts.layout, len(self.used)
        spans = [layout.span(i) for i in range(parents.start, parents.stop)]
        largest = np.stack([self.total[:, span].max(axis=1, initial=0) for span in spans], axis=1)
        sizes = np.broadcast_to(np.maximum(layout.sizes, 1).astype(float), (len(largest), len(spans), n_features))
        return rule.concentration(sizes, largest, lambda: self._evidence(rule, parents))

    def _evidence(self, rule: Smoother, parents: slice) -> Evidence:
        """The cells, and the totals of the parents' values, of every (class, parent, child)."""
        counts, layout, n_features = self.counts, self.counts.layout, len(self.used)
        n_parents = parents.stop - parents.start
        feature, size = layout.feature, counts.classes.size * n_parents * n_features
        cells = self.cells_of(parents)
        problem = (cells.class_ * n_parents + feature[cells.parent] - parents.start) * n_features + feature[cells.child]
        # Equal cells are merged by the child's pooled count, of which its prior mean is a function.
        pooled = np.concatenate(counts.pooled)[cells.child]
        problem, pooled, count, multiplicity = merge_cells(problem, pooled, cells.count)
        child = problem % n_features
        rows = np.array([values.sum() for values in counts.pooled])
        mean = rule.mean(pooled, rows[child], counts.sizes[child])

        span = slice(layout.starts[parents.start], layout.starts[parents.stop])
        documents = np.where(self.used[feature[span]], self.total[:, span], 0)
        class_, row, child = np.nonzero(documents)
        length = documents[class_, row, child]
        document = (class_ * n_parents + feature[span][row] - parents.start) * n_features + child
        document, length, _, repeated = merge_cells(document, length, length)
        return Evidence(
            Terms(problem, mean, count, multiplicity, size),
            Terms(document, np.ones(len(length)), length, repeated, size),
        )

    def cells_of(self, parents: slice) -> Cells:
        """The cells in use of some parents."""
        layout = self.counts.layout
        start, stop = layout.starts[[parents.start, parents.stop]].tolist()
        if self.cells is None:
            assert isinstance(self.counts.pairs, DensePairs)
            block = self.counts.pairs.square[:, start:stop]
            class_, parent, child = _unravel(np.flatnonzero(block != 0), block.shape)
            cells = Cells(class_, parent + start, child, block[class_, parent, child])
        else:
            first, last = np.searchsorted(self.cells.parent, [start, stop]).tolist()
            cells = self.cells.at(slice(first, last))
        if (self.used | np.eye(len(self.used), dtype=bool))[parents].all():
            return cells
        return cells.at(np.flatnonzero(self.used[layout.feature[cells.parent], layout.feature[cells.child]]))


def _both_ways(pairs: SparsePairs) -> Cells:
    """Each pair once with the first as parent and once with the second, in order of the parents."""
    parent = np.concatenate([pairs.first, pairs.second])
    order = np.argsort(parent, kind="stable")
    return Cells(
        np.concatenate([pairs.class_, pairs.class_])[order],
        parent[order],
        np.concatenate([pairs.second, pairs.first])[order],
        np.concatenate([pairs.count, pairs.count])[order],
    )


def _unravel(at: IntArray, shape: tuple[int, ...]) -> tuple[IntArray, IntArray, IntArray]:
    """``np.unravel_index`` for three axes, several times faster."""
    pair = at // shape[2]
    first = pair // shape[1]
    return first, pair - first * shape[1], at - pair * shape[2]


@dataclass(frozen=True)
class DenseChildScores:
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

    def _cell(self, i: int, positions: IntArray) -> IntArray:
        cell: IntArray = positions + positions[i] * self.table.shape[1]
        return cell


def _dense_scores(directed: Directed, mean: FloatArray, m: FloatArray) -> DenseChildScores:
    counts, used, total = directed.counts, directed.used, directed.total
    assert isinstance(counts.pairs, DensePairs)
    layout = counts.layout
    table = np.zeros((counts.classes.size, layout.width + 1, layout.width + 1))
    for i in np.flatnonzero(used.any(axis=1)).tolist():
        span = layout.span(i)
        strength = np.where(used[i], m[:, i], 1.0)[:, np.newaxis, layout.feature]
        rows = np.repeat(total[:, span], layout.sizes, axis=2)
        silent = ~used[i][layout.feature] | (mean == 0)
        scores = table[:, span, :-1]
        posterior_mean(counts.pairs.square[:, span], rows, np.where(silent, 1.0, mean), strength, out=scores)
        np.log(scores, out=scores)
        scores[:, :, silent] = 0
    return DenseChildScores(table)


@dataclass(frozen=True)
class SparseChildScores:
    """log P(child | class, parent) where most pairs of values never met.

    Without a count it is ``of_parent_value[c, p, j] + of_value[q]``; ``excess`` holds, for every class, what the
    counted pairs have on top of that.
    """

    of_parent_value: FloatArray
    of_value: FloatArray
    says_something: BoolArray
    excess: tuple[SortedCells, ...]
    used: BoolArray

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """The sum over the children."""
        total: FloatArray = self.of_children(i, positions).sum(axis=1)
        return total

    def of_children(self, i: int, positions: IntArray) -> FloatArray:
        """Add the common parts of the known children, and the excess where there is any."""
        n_classes, width = len(self.excess), len(self.of_value) - 1
        scores = np.zeros((n_classes, *positions.shape))
        children = np.flatnonzero(self.used[i])
        if not len(children):
            return scores
        parent = np.minimum(positions[i], width - 1)
        child = positions[children]
        known = self.says_something[child]
        common, cell = self.of_value[child], child + parent * width
        for c in range(n_classes):
            rest = self.of_parent_value[c][parent][:, children].T
            scores[c, children] = np.where(known, common + rest + self.excess[c].at(cell), 0)
        return scores


def sparse_scores(directed: Directed, mean: FloatArray, m: FloatArray) -> SparseChildScores:
    """The score tables without a cell for pairs that never met."""
    counts, used, total = directed.counts, directed.used, directed.total
    feature = counts.layout.feature
    of_value = np.append(np.log(np.where(mean > 0, mean, 1.0)), 0.0)
    rest = np.empty_like(total)
    for c, strength in enumerate(np.where(used, m, 1.0)):
        posterior_mean(0.0, total[c], 1.0, strength[feature], out=rest[c])
    np.log(rest, out=rest)
    cells = directed.cells_of(slice(0, len(used)))
    excesses = []
    for c, here in enumerate(map(cells.of_class, range(counts.classes.size))):
        i, j = feature[here.parent], feature[here.child]
        seen = posterior_mean(here.count, total[c, here.parent, j], mean[here.child], m[c, i, j])
        excess = np.log(seen) - rest[c, here.parent, j] - of_value[here.child]
        excesses.append(SortedCells.of(here.parent * counts.layout.width + here.child, excess))
    return SparseChildScores(rest, of_value, np.append(mean > 0, False), tuple(excesses), used)
