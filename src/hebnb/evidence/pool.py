"""The weights of columns and crosses in a log-linear pool, learned from left-out rows.

Components come in groups: single columns; for every order of crosses the best few by themselves; and for every column
the sum of what all its crosses of that order say, which ties their weights. The mean weight of a group is what is
expected, one for columns and none for the rest, give or take one; how far single weights stray from the mean is
governed by a precision for each group, which is chosen by its evidence (MacKay's fixed point).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.weighting.log_linear import ROUNDING, Likelihood

# The precision of every group before anything is known, its range, and the precision of mean weights and offsets.
FIRST_PRECISION, _LEAST, _MOST, _OF_MEANS = 10.0, 0.3, 3e5, 1.0
# Steps of Newton's method at most; one step's gain in likelihood, a row, and change of a precision that end it.
_STEPS, _SMALL_GAIN, _SMALL_CHANGE = 40, 1e-5, 0.25
# Precisions that are tried between two looks at the rows, how far from the first they may go, and what ends it.
_ROUNDS, _FARTHEST, _SAME = 30, 30.0, 0.02
# The largest factor by which changes of a precision are taken to shrink, so that what does not end has an end.
_LARGEST_RATIO = 0.9
# Of all directions in which a group may stray, the share of one that the rows have to determine to have a say.
_DETERMINED = 1e-6


@dataclass(frozen=True, eq=False)
class Pool:
    """Learned weights.

    Parameters
    ----------
    at : array of shape (D + C,)
        The weights of the components and the offsets of the classes.
    penalty : array of shape (D + C, D + C)
        What keeps them where they were expected.
    centre : array of shape (D + C,)
        Where that is.
    hessian : array of shape (D + C, D + C)
        Of the loss, where the last step began.
    """

    at: FloatArray
    penalty: FloatArray
    centre: FloatArray
    hessian: FloatArray


def learn(likelihood: Likelihood, group: IntArray, start: FloatArray) -> Pool:
    """The most probable weights and offsets, with the precision of every group by its evidence.

    Parameters
    ----------
    likelihood : Likelihood
        Of the labels of left-out rows.
    group : array of shape (D,)
        The group of every component, from 0, which is that of single columns.
    start : array of shape (D + C,)
        Where to begin.
    """
    centre = np.concatenate([np.where(group == 0, 1.0, 0.0), np.zeros(likelihood.n_classes)])
    precision = np.full(int(group.max(initial=0)) + 1, FIRST_PRECISION)
    penalty = _penalty(group, precision, likelihood.n_classes)
    at, log_proba = start, likelihood.log_proba(start)
    rows = float(likelihood.weights.sum())
    for _ in range(_STEPS):
        gradient, hessian = likelihood.derivatives(log_proba)
        better = _most_evident(group, centre, hessian, hessian @ at - gradient, precision)
        penalty = _penalty(group, better, likelihood.n_classes)
        slope = gradient + penalty @ (at - centre)
        step = -np.linalg.solve(hessian + penalty, slope)
        value = _value(likelihood, log_proba, at - centre, penalty)
        most = value + ROUNDING * max(value, 1.0)
        for size in 0.5 ** np.arange(20):
            there = likelihood.log_proba(at + size * step)
            if _value(likelihood, there, at + size * step - centre, penalty) <= most:
                break
        else:
            break  # as far down as floating point goes
        at, log_proba = at + size * step, there
        changed = float(np.abs(np.log(better / precision)).max())
        if -float(slope @ step) <= _SMALL_GAIN * rows and changed <= _SMALL_CHANGE:
            break
        if size > 0.5:  # else the rows are not yet what precisions could be learned from
            precision = better
    return Pool(at, penalty, centre, hessian)


def _most_evident(
    group: IntArray, centre: FloatArray, hessian: FloatArray, pull: FloatArray, precision: FloatArray
) -> FloatArray:
    """Precisions of greatest evidence while the loss is ½ atᵀ hessian at − pull at, as it is near where it was taken.

    MacKay's fixed point takes many rounds where a group wants no straying at all. Here they cost no look at the rows.
    """
    low, high = np.maximum(precision / _FARTHEST, _LEAST), np.minimum(precision * _FARTHEST, _MOST)
    before = None
    for _ in range(_ROUNDS):
        penalty = _penalty(group, precision, len(centre) - len(group))
        covariance = _inverse(hessian + penalty)
        at = covariance @ (pull + penalty @ centre)
        change = np.log(np.clip(_precisions(group, at, covariance, precision), low, high) / precision)
        if np.abs(change).max() <= _SAME:
            break
        step = change
        if before is not None:  # every second time to where a change that shrinks by the same factor would end (Aitken)
            ratio = np.divide(change, before, out=np.zeros_like(change), where=before != 0)
            step = change / (1 - np.clip(ratio, 0.0, _LARGEST_RATIO))
        before = change if before is None else None
        precision = np.clip(precision * np.exp(step), low, high)
    return precision


def _inverse(curvature: FloatArray) -> FloatArray:
    """Of a positive definite matrix; by Cholesky in half the time."""
    factor, failed = dpotrf(curvature, lower=1)
    inverse, _ = dpotri(factor, lower=1)
    if failed:
        return np.linalg.inv(curvature).astype(float)
    lower = np.tril(inverse)
    whole: FloatArray = lower + np.tril(lower, -1).T
    return whole


def mean_loss(likelihood: Likelihood, pool: Pool) -> float:
    """The mean loss of rows under the weights that were learned."""
    return likelihood.loss(likelihood.log_proba(pool.at)) / float(likelihood.weights.sum())


def left_out_loss(likelihood: Likelihood, fold: IntArray, pool: Pool, tested: Likelihood, of_tested: IntArray) -> float:
    """The mean loss of rows under weights learned without their fold, by one step of Newton's method from the pool's.

    Parameters
    ----------
    likelihood : Likelihood
        Of the rows that the pool was learned from.
    fold : array of int
        Their folds.
    pool : Pool
    tested : Likelihood
        Of rows of some of the folds, given what tables without the fold say of them.
    of_tested : array of int
        The folds of these.
    """
    loss = 0.0
    for number in np.unique(of_tested).tolist():
        left = _of_rows(likelihood, np.flatnonzero(fold == number))
        gradient, hessian = left.derivatives(left.log_proba(pool.at))
        step = np.linalg.solve(pool.hessian - hessian + pool.penalty, gradient).astype(float)
        at = pool.at + _size_that_pays(likelihood, left, pool, step) * step
        part = _of_rows(tested, np.flatnonzero(of_tested == number))
        loss += part.loss(part.log_proba(at))
    return loss / float(tested.weights.sum())


def _size_that_pays(likelihood: Likelihood, left: Likelihood, pool: Pool, step: FloatArray) -> float:
    """The largest of some sizes of a step after which the rows that are not left out are not less likely."""

    def value(at: FloatArray) -> float:
        away = at - pool.centre
        loss = likelihood.loss(likelihood.log_proba(at)) - left.loss(left.log_proba(at))
        return loss + 0.5 * float(away @ pool.penalty @ away)

    here = value(pool.at)
    return next((size for size in (1.0, 0.5, 0.25, 0.1, 0.03) if value(pool.at + size * step) <= here), 0.0)


def _of_rows(likelihood: Likelihood, rows: IntArray) -> Likelihood:
    return Likelihood(
        likelihood.scores[:, :, rows], likelihood.base[:, rows], likelihood.labels[rows], likelihood.weights[rows]
    )


def _value(likelihood: Likelihood, log_proba: FloatArray, away: FloatArray, penalty: FloatArray) -> float:
    return likelihood.loss(log_proba) + 0.5 * float(away @ penalty @ away)


def _penalty(group: IntArray, precision: FloatArray, n_classes: int) -> FloatArray:
    """For every group, its precision on differences from the mean, and that of means on the mean."""
    size = len(group)
    penalty = np.zeros((size + n_classes, size + n_classes))
    penalty[range(size, size + n_classes), range(size, size + n_classes)] = _OF_MEANS
    for number, own in enumerate(precision.tolist()):
        members = np.flatnonzero(group == number)
        n = len(members)
        if n:
            penalty[np.ix_(members, members)] = own * (np.eye(n) - 1 / n) + _OF_MEANS / n**2
    return penalty


def _precisions(group: IntArray, at: FloatArray, covariance: FloatArray, precision: FloatArray) -> FloatArray:
    """The number of directions that the rows have determined over how far the weights stray along them."""
    better = precision.copy()
    for number in range(len(precision)):
        members = np.flatnonzero(group == number)
        if len(members) < 2:
            continue
        spread = covariance[np.ix_(members, members)]
        variance = float(np.trace(spread) - spread.mean(axis=0).sum())
        determined = len(members) - 1 - precision[number] * variance
        if determined < _DETERMINED:  # as for components that are all the same: only rounding would decide
            continue
        strayed = float(np.square(at[members] - at[members].mean()).sum())
        better[number] = np.clip(determined / max(strayed, 1e-12), _LEAST, _MOST)
    return better
