"""Probabilities of a child's value given the class and a parent's value: P(x_j | y, x_i), for all parents and children.

Every (class, parent, child) has one concentration, shared by the parent's values, each of which is a document of the
evidence (paper, eqs. 11 to 13).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from hebnb.arrays import BoolArray, FloatArray, IntArray
from hebnb.concentration import Evidence, Terms, merge_cells
from hebnb.pairs import DensePairs, PairCounts, SparsePairs
from hebnb.probability import posterior_mean
from hebnb.smoothing import Smoother

# Cells whose concentrations are solved for at a time: few enough to stay in the processor's cache.
_CHUNK = 1 << 18


class ChildScores(Protocol):
    """What the children of a parent add to the score of every class."""

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """Σ_j log P(x_j | y, x_i) over the children conditioned on i, of shape (C, rows).

        Positions are of shape (F, rows), with W for what says nothing. Rows without a known parent value get anything.
        """


@dataclass(frozen=True)
class Cells:
    """Counts of children's positions with parents' positions and classes, for the pairs in use."""

    class_: IntArray
    parent: IntArray
    child: IntArray
    count: FloatArray

    def at(self, kept: IntArray) -> Cells:
        """Some of the cells."""
        return Cells(self.class_[kept], self.parent[kept], self.child[kept], self.count[kept])


def learn(
    counts: PairCounts, used: BoolArray, rule: Smoother, means: list[FloatArray]
) -> tuple[FloatArray, ChildScores]:
    """The concentration of every (class, parent, child), NaN where none is in use, and the score tables."""
    mean = np.concatenate(means)
    total = _totals(counts)
    m = np.full((counts.classes.size, *used.shape), np.nan)
    chunks = _chunks(counts, used)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the solver works outside the interpreter lock
        solved = pool.map(lambda parents: _concentration(counts, total, used, rule, parents), chunks)
        for parents, concentration in zip(chunks, solved, strict=True):
            m[:, parents] = np.where(used[parents], concentration, np.nan)
    scores = _dense_scores if isinstance(counts.pairs, DensePairs) else _sparse_scores
    return m, scores(counts, used, mean, total, m)


def _totals(counts: PairCounts) -> FloatArray:
    """The rows of every class and parent's position in which the child is known, of shape (C, W, F)."""
    layout, n_classes, n_features = counts.layout, counts.classes.size, len(counts.layout.sizes)
    if isinstance(counts.pairs, DensePairs):
        total = np.zeros((n_classes, layout.width, n_features))
        present = np.flatnonzero(layout.sizes)
        total[:, :, present] = np.add.reduceat(counts.pairs.square, layout.starts[present], axis=2)
        return total
    cells = _both_ways(counts.pairs)
    key = (cells.class_ * layout.width + cells.parent) * n_features + layout.feature[cells.child]
    summed = np.bincount(key, cells.count, n_classes * layout.width * n_features)
    return summed.reshape(n_classes, layout.width, n_features).astype(float)


def _chunks(counts: PairCounts, used: BoolArray) -> list[slice]:
    """Runs of parents with about as many cells each, and at least one parent."""
    sizes = counts.layout.sizes
    if isinstance(counts.pairs, DensePairs):
        cells = counts.classes.size * counts.layout.width * sizes
    else:
        positions = np.concatenate([counts.pairs.first, counts.pairs.second])
        cells = np.bincount(counts.layout.feature[positions], minlength=len(sizes))
    number = np.cumsum(cells) // _CHUNK
    starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(starts) if used[a:b].any()]


def _concentration(
    counts: PairCounts, total: FloatArray, used: BoolArray, rule: Smoother, parents: slice
) -> FloatArray:
    """m of some parents, of shape (C, parents, F)."""
    layout, n_features = counts.layout, len(counts.layout.sizes)
    shape = counts.classes.size, parents.stop - parents.start, n_features
    largest = np.stack(
        [total[:, layout.span(i)].max(axis=1, initial=0) for i in range(parents.start, parents.stop)], axis=1
    )

    def evidence() -> Evidence:
        cells = _cells_of(counts, used, parents)
        feature, size = layout.feature, int(np.prod(shape))
        child = feature[cells.child]
        problem = (cells.class_ * shape[1] + feature[cells.parent] - parents.start) * n_features + child
        # Equal cells are merged by the child's pooled count, of which its prior mean is a function.
        pooled = np.concatenate(counts.pooled)[cells.child]
        problem, pooled, count, multiplicity = merge_cells(problem, pooled, cells.count)
        child = problem % n_features
        rows = np.array([values.sum() for values in counts.pooled])
        mean = rule.mean(pooled, rows[child], counts.sizes[child])

        span = slice(layout.starts[parents.start], layout.starts[parents.stop])
        documents = np.where(used[feature[span]], total[:, span], 0)
        class_, row, child = np.nonzero(documents)
        length = documents[class_, row, child]
        document = (class_ * shape[1] + feature[span][row] - parents.start) * n_features + child
        document, length, _, repeated = merge_cells(document, length, length)
        return Evidence(
            Terms(problem, mean, count, multiplicity, size),
            Terms(document, np.ones(len(length)), length, repeated, size),
        )

    sizes = np.broadcast_to(np.maximum(layout.sizes, 1).astype(float), shape)
    return rule.concentration(sizes, largest, evidence)


def _cells_of(counts: PairCounts, used: BoolArray, parents: slice) -> Cells:
    """The cells of some parents."""
    layout = counts.layout
    if isinstance(counts.pairs, DensePairs):
        span = slice(int(layout.starts[parents.start]), int(layout.starts[parents.stop]))
        block = counts.pairs.square[:, span]
        class_, parent, child = _unravel(np.flatnonzero(block != 0), block.shape)
        cells = Cells(class_, parent + span.start, child, block[class_, parent, child])
    else:
        cells = _both_ways(counts.pairs)
        feature = layout.feature[cells.parent]
        here = np.flatnonzero((feature >= parents.start) & (feature < parents.stop))
        cells = cells.at(here)
    if (used | np.eye(len(used), dtype=bool))[parents].all():
        return cells
    kept = np.flatnonzero(used[layout.feature[cells.parent], layout.feature[cells.child]])
    return cells.at(kept)


def _both_ways(pairs: SparsePairs) -> Cells:
    """Each pair once with the first as parent and once with the second."""
    return Cells(
        np.concatenate([pairs.class_, pairs.class_]),
        np.concatenate([pairs.first, pairs.second]),
        np.concatenate([pairs.second, pairs.first]),
        np.concatenate([pairs.count, pairs.count]),
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

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """Look up and add."""
        n_classes, width, _ = self.table.shape
        cell = positions + positions[i] * width
        scores = np.empty((n_classes, positions.shape[1]))
        for c in range(n_classes):
            np.sum(self.table[c].ravel().take(cell), axis=0, out=scores[c])
        return scores


def _dense_scores(
    counts: PairCounts, used: BoolArray, mean: FloatArray, total: FloatArray, m: FloatArray
) -> DenseChildScores:
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

    Without a count it is ``of_parent_value[c, p, j] + of_value[q]``; ``excess`` holds, by sorted key of (parent, child)
    in every class, what the counted pairs have on top of that.
    """

    of_parent_value: FloatArray
    of_value: FloatArray
    keys: tuple[IntArray, ...]
    excess: tuple[FloatArray, ...]
    used: BoolArray

    def of_parent(self, i: int, positions: IntArray) -> FloatArray:
        """Add the common parts of the known children, and the excess where there is any."""
        n_classes, width = len(self.keys), len(self.of_value) - 1
        children = np.flatnonzero(self.used[i])
        n_rows = positions.shape[1]
        if not len(children):
            return np.zeros((n_classes, n_rows))
        parent = np.minimum(positions[i], width - 1)
        child = positions[children]
        known = child < width
        common = self.of_value[child].sum(axis=0)
        cell = child + parent * width
        scores = np.empty((n_classes, n_rows))
        for c in range(n_classes):
            rest = self.of_parent_value[c][parent][:, children].T
            scores[c] = common + np.where(known, rest, 0).sum(axis=0)
            if len(self.keys[c]):
                at = np.minimum(np.searchsorted(self.keys[c], cell), len(self.keys[c]) - 1)
                met = known & (self.keys[c][at] == cell)
                scores[c] += np.where(met, self.excess[c][at], 0).sum(axis=0)
        return scores


def _sparse_scores(
    counts: PairCounts, used: BoolArray, mean: FloatArray, total: FloatArray, m: FloatArray
) -> SparseChildScores:
    feature = counts.layout.feature
    cells = _cells_of(counts, used, slice(0, len(used)))
    strength = np.where(used, m, 1.0)[:, feature]  # of (class, parent's position, child)
    rest = np.log(posterior_mean(0.0, total, 1.0, strength))
    of_value = np.append(np.log(np.where(mean > 0, mean, 1.0)), 0.0)
    j = feature[cells.child]
    seen = posterior_mean(
        cells.count, total[cells.class_, cells.parent, j], mean[cells.child], m[cells.class_, feature[cells.parent], j]
    )
    excess = np.log(seen) - rest[cells.class_, cells.parent, j] - of_value[cells.child]
    key = cells.parent * counts.layout.width + cells.child
    keys, sums = [], []
    for c in range(counts.classes.size):
        here = np.flatnonzero(cells.class_ == c)
        here = here[np.argsort(key[here])]
        keys.append(key[here])
        sums.append(excess[here])
    return SparseChildScores(rest, of_value, tuple(keys), tuple(sums), used)
