"""How strongly the classes of a cell are shrunk towards their prior: the strength of a level, in rows.

Where the prior of a cell does not contain the cell, as for categories that are shrunk towards others as frequent, the
strength maximises the likelihood of the counts (Type II), every category being a document. Where it does, as for a node
of a tree, whose rows are also rows of the node above, that would count them twice; there the strength maximises the
likelihood of the rows, each as the others see it.
"""

from __future__ import annotations

import numpy as np

from hebnb.evidence.leaving import Units, bucket, by_bucket
from hebnb.foundation.arrays import FloatArray, IntArray
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


def of_rows(units: Units, labels: IntArray, weights: FloatArray, prior: FloatArray, errors: float) -> float:
    """The strength under which left-out rows are most likely.

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
    """
    at = np.flatnonzero(units.total > 0)
    own = labels[at], at
    n, total, q, weight = units.left[own], units.total[at], prior[own], weights[at]
    if not len(n):
        return SILENT
    log_k = _most_likely(n, total, q, weight)
    strength = float(np.exp(log_k))
    if errors:
        gain = np.log(posterior_mean(n, total, q, strength) / q)
        if weight @ gain <= errors * np.sqrt(weight @ gain**2):
            return SILENT
    return strength


def _most_likely(n: FloatArray, total: FloatArray, q: FloatArray, weight: FloatArray) -> float:
    """The log k of greatest Σ weight · log (n + k q)/(total + k).

    The best of a few is where Newton's method begins, which stays between its neighbours.
    """
    k = np.exp(_TRIED)[:, np.newaxis]
    best = int(np.argmax((np.log(n + k * q) - np.log(total + k)) @ weight))
    low, high = _TRIED[max(best - 1, 0)], _TRIED[min(best + 1, len(_TRIED) - 1)]
    at = float(_TRIED[best])
    for _ in range(_MOST_STEPS):
        share, of_total = np.exp(at) * q, np.exp(at)
        share, of_total = share / (n + share), of_total / (total + of_total)
        slope = float(weight @ (share - of_total))
        curvature = float(weight @ (share * (1 - share) - of_total * (1 - of_total)))
        newton = at - slope / curvature if curvature < 0 else np.inf
        if abs(newton - at) <= _SMALL_STEP:
            break
        low, high = (at, high) if slope > 0 else (low, at)
        there = newton if low < newton < high else (low + high) / 2
        if abs(there - at) <= _SMALL_STEP:  # at an end of the range
            break
        at = there
    return at
