"""How strongly the classes of a cell are shrunk towards their prior: the strength of a level, in rows.

Where the prior of a cell does not contain the cell, as for categories that are shrunk towards others as frequent, the
strength maximises the likelihood of the counts (Type II), every category being a document. Where it does, as for a node
of a tree, whose rows are also rows of the node above, that would count them twice; there the strength maximises the
likelihood of the rows, each as the others see it, and of one row more, whose class differs from that of the only other
row of its cell. Without that one a few cells that happen to be of one class would do without a prior, and a first row
that differs would be next to impossible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hebnb.evidence.leaving import Units, bucket, by_bucket
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.smoothing.posterior import class_log_prior, posterior_mean
from hebnb.smoothing.strength import CountLikelihood, Terms, maximize

# The weakest and the strongest prior that is looked for, and that of a level that says nothing.
WEAKEST, STRONGEST, SILENT = 1e-2, 1e6, 1e12
# Strengths that are tried first, and steps of Newton's method from the best of them: their number, and the last's size.
_TRIED = np.linspace(np.log(WEAKEST), np.log(STRONGEST), 8)
_MOST_STEPS, _SMALL_STEP = 30, 1e-9


def of_categories(count: FloatArray, class_count: FloatArray) -> tuple[float, float]:
    """Strengths that maximise the likelihood of the counts of categories: of the buckets, and of the categories.

    A category is shrunk towards the other categories that are about as frequent, and those towards all rows.
    """
    count = count[:, count.any(axis=0)]
    buckets = by_bucket(count)
    prior = np.exp(class_log_prior(class_count))[:, np.newaxis]
    of_buckets = _type_two(buckets, np.repeat(prior, buckets.shape[1], axis=1), 1e4)
    others = buckets[:, bucket(count.sum(axis=0))] - count
    mean = posterior_mean(others, others.sum(axis=0), prior, of_buckets)
    return of_buckets, _type_two(count, mean, STRONGEST)


def _type_two(count: FloatArray, mean: FloatArray, strongest: float) -> float:
    """The strength of greatest evidence; documents are columns."""
    at = np.nonzero(count)
    total = np.sort(count.sum(axis=0))
    total = total[total > 0]
    if not len(total):
        return strongest
    order = np.argsort(count[at], kind="stable")
    cells = Terms(np.zeros(len(order), dtype=np.intp), mean[at][order], count[at][order], np.ones(len(order)), 1)
    totals = Terms(np.zeros(len(total), dtype=np.intp), np.ones(len(total)), total, np.ones(len(total)), 1)
    return float(maximize(CountLikelihood(cells, totals), (WEAKEST, strongest))[0])


def of_rows(
    units: Units,
    labels: IntArray,
    weights: FloatArray,
    prior: FloatArray,
    *,
    errors: float,
    table: IntArray | None = None,
    n_tables: int = 1,
) -> FloatArray:
    """The strength under which left-out rows are most likely, of every table.

    Parameters
    ----------
    units : Units
        Of rows that are left out one by one.
    labels : array of shape (U,)
    weights : array of shape (U,)
        How many rows a unit stands for.
    prior : array of shape (C, U)
    errors : float
        By how many standard errors the rows have to be more likely than under the prior alone; else the level says
        nothing.
    table : array of shape (U,), optional
        Which table each unit is of; by default there is one.
    n_tables : int, default=1
    """
    at = np.flatnonzero(units.total > 0)
    own = labels[at], at
    cells = _Cells(
        units.left[own],
        units.total[at],
        prior[own],
        weights[at],
        np.zeros(len(at), dtype=np.intp) if table is None else table[at],
        n_tables,
    )
    found = np.exp(_most_likely(cells.contradicted()))
    found[np.bincount(cells.table, minlength=n_tables) == 0] = SILENT
    if errors:
        gain = np.log(posterior_mean(cells.n, cells.total, cells.q, found[cells.table]) / cells.q)
        found[cells.summed(gain) <= errors * np.sqrt(cells.summed(gain**2))] = SILENT
    return found


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of tables with rows of a class: how many of their class and of all are left, and its prior."""

    n: FloatArray
    total: FloatArray
    q: FloatArray
    weight: FloatArray
    table: IntArray
    n_tables: int

    def summed(self, numbers: FloatArray) -> FloatArray:
        """The sum over the rows of every table."""
        return np.bincount(self.table, self.weight * numbers, self.n_tables).astype(float)

    def contradicted(self) -> _Cells:
        """With one row more in every table, alone of its class beside one other row; its prior does not matter."""
        none, one = np.zeros(self.n_tables), np.ones(self.n_tables)
        arrays = (self.n, none), (self.total, one), (self.q, one), (self.weight, one)
        n, total, q, weight = (np.concatenate(pair) for pair in arrays)
        return _Cells(n, total, q, weight, np.concatenate([self.table, np.arange(self.n_tables)]), self.n_tables)

    def of(self, tables: BoolArray) -> _Cells:
        """Those of some tables."""
        at = np.flatnonzero(tables[self.table])
        return _Cells(self.n[at], self.total[at], self.q[at], self.weight[at], self.table[at], self.n_tables)


def _most_likely(cells: _Cells) -> FloatArray:
    """The log k of greatest Σ weight · log (n + k q)/(total + k) of every table.

    The best of a few is where Newton's method begins, which stays between its neighbours.
    """
    tried = [cells.summed(np.log((cells.n + k * cells.q) / (cells.total + k))) for k in np.exp(_TRIED)]
    best = np.argmax(tried, axis=0)
    low, high = _TRIED[np.maximum(best - 1, 0)], _TRIED[np.minimum(best + 1, len(_TRIED) - 1)]
    at: FloatArray = _TRIED[best]
    seeking = np.ones(len(at), dtype=bool)
    for _ in range(_MOST_STEPS):
        k = np.exp(at)[cells.table]
        share, of_total = k * cells.q, k / (cells.total + k)
        share /= cells.n + share
        slope = cells.summed(share - of_total)
        curvature = cells.summed(share * (1 - share) - of_total * (1 - of_total))
        concave = curvature < 0
        newton = np.where(concave, at - slope / np.where(concave, curvature, 1.0), np.inf)
        seeking &= np.abs(newton - at) > _SMALL_STEP
        low, high = np.where(slope > 0, at, low), np.where(slope > 0, high, at)
        there = np.where((low < newton) & (newton < high), newton, (low + high) / 2)
        seeking &= np.abs(there - at) > _SMALL_STEP  # else it is at an end of the range
        at = np.where(seeking, there, at)
        if not seeking.any():
            break
        cells = cells.of(seeking)
    return at
