"""Pair counts seen from parents to children, and the concentrations of P(x_j | y, x_i).

Every (class, parent, child) has one concentration, shared by the parent's values, each of which is a document of the
evidence (paper, eqs. 11 to 13).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hebnb.counts.pair_memory import CHUNK
from hebnb.counts.pairs import DensePairs, PairCounts, SparsePairs
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray, in_threads
from hebnb.scores.pair_numbers import Cells, PairNumbers
from hebnb.smoothing.smoothers import Smoother
from hebnb.smoothing.strength import CountLikelihood, Terms, merge_cells


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
        # Memory that is never written to, that of parents without children, is never taken.
        sums: FloatArray = np.bincount(key, cells.count, int(np.prod(shape))).astype(float, copy=False)
        return cls(counts, used, cells, sums.reshape(shape))

    def concentrations(self, rule: Smoother) -> FloatArray:
        """The concentration of every (class, parent, child), of shape (C, F, F), NaN where none is in use."""
        chunks = self.chunks()
        m = np.full((self.counts.classes.size, *self.used.shape), np.nan)
        solved = in_threads(lambda parents: self.concentration(rule, parents), chunks)
        for parents, concentration in zip(chunks, solved, strict=True):
            m[:, parents] = np.where(self.used[parents], concentration, np.nan)
        return m

    def counts_by_class(self, parent: IntArray, child: IntArray) -> Iterator[FloatArray]:
        """How often the classes, one after the other, have these positions of parents and children."""
        if self.cells is not None:
            yield from self._pair_counts.by_class(parent, child)
            return
        assert isinstance(self.counts.pairs, DensePairs)
        key = child + parent * self.counts.layout.width
        for square in self.counts.pairs.square:
            yield square.ravel().take(key)

    @cached_property
    def _pair_counts(self) -> PairNumbers:
        assert self.cells is not None
        return PairNumbers.of(self.cells, self.cells.count, self.counts.layout.width, self.counts.classes.size)

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
        return rule.concentration(sizes, largest, lambda: self._count_likelihood(rule, parents))

    def _count_likelihood(self, rule: Smoother, parents: slice) -> CountLikelihood:
        """The cells, and the totals of the parents' values, of every (class, parent, child)."""
        counts, layout, n_features = self.counts, self.counts.layout, len(self.used)
        n_parents = parents.stop - parents.start
        feature, size = layout.feature, counts.classes.size * n_parents * n_features
        cells = self.cells_of(parents)
        problem = (cells.class_ * n_parents + feature[cells.parent] - parents.start) * n_features + feature[cells.child]
        # Equal cells are merged by the child's marginal count, of which its prior mean is a function.
        marginal = np.concatenate(counts.marginal)[cells.child]
        problem, marginal, count, multiplicity = merge_cells(problem, marginal, cells.count)
        child = problem % n_features
        rows = np.array([values.sum() for values in counts.marginal])
        mean = rule.prior.of_value(marginal, rows[child], counts.sizes[child])

        span = slice(layout.starts[parents.start], layout.starts[parents.stop])
        documents = np.where(self.used[feature[span]], self.total[:, span], 0)
        class_, row, child = np.nonzero(documents)
        length = documents[class_, row, child]
        document = (class_ * n_parents + feature[span][row] - parents.start) * n_features + child
        document, length, _, repeated = merge_cells(document, length, length)
        return CountLikelihood(
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
