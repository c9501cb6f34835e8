"""Weights of a log-linear pool: softmax of class offsets plus weighted scores, by penalised likelihood.

The scores come in groups of like components: the factors of naive Bayes, the one-dependence estimators of AODE. The
mean weight of a group lies near its centre; how far single weights may stray from that mean is governed by a precision
that is chosen by its evidence (Laplace's approximation, as MacKay uses it). For every precision the problem is convex
and Newton's method solves it in a few steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from hebnb.foundation.arrays import FloatArray, IntArray, one_blas_thread

# Precision of mean weights and offsets: each is what is expected, give or take one.
_OF_MEANS = 1.0
# The precisions to choose from, the one tried first, and the largest factor between one and the next to be tried:
# the evidence is that of a quadratic approximation, which holds nearby. The lowest keeps features that by chance say
# less than nothing from getting large negative weights.
_PRECISIONS = np.geomspace(0.3, 3e5, 61)
_FIRST = float(_PRECISIONS[15])
_FARTHEST = 10.0
# Rows beyond which the prior no longer matters; more would only cost digits.
_MANY_ROWS = 1e9
_MOST_PRECISIONS = 30
_MOST_STEPS = 50
# A gain in log-likelihood, per row, for which the step is taken but no other looked for.
_SMALL_GAIN = 1e-8
# A step is not halved for a loss of so little, relatively: that may be rounding, which depends on the order of rows.
ROUNDING = 1e-10
# Scores whose curvature is computed at a time: few enough to stay in the processor's cache.
_BLOCK_SCORES = 1 << 17
# Of a product with itself BLAS computes half, which is worth the square roots from so many components on.
_MANY_COMPONENTS = 64


@dataclass(frozen=True)
class Prior:
    """What is known of the weights and offsets before the rows are looked at.

    Parameters
    ----------
    sizes : tuple of int
        Number of components of every group, in order.
    centres : tuple of float
        Expected mean weight of every group.
    n_classes : int
    has_offsets : bool, default=True
        Whether every class has an offset, which is expected to be zero.
    spans : tuple of arrays, optional
        For every component of every group the square root of how many it stands for, where some share a weight; the
        weight itself is then that many times larger. By default each stands for itself.
    """

    sizes: tuple[int, ...]
    centres: tuple[float, ...]
    n_classes: int
    has_offsets: bool = True
    spans: tuple[FloatArray, ...] | None = None

    @cached_property
    def centre(self) -> FloatArray:
        """The expected weights, followed by the expected offsets."""
        centres = [centre * span for centre, span in zip(self.centres, self._spans, strict=True)]
        return np.concatenate([*centres, np.zeros(self.n_offsets)])

    @cached_property
    def straying(self) -> FloatArray:
        """The projection onto differences from the means of the groups. Times a precision, it is their penalty."""
        blocks = [np.eye(len(span)) - np.outer(span, span) / _total(span) for span in self._spans]
        return _block_diagonal(blocks, self.n_offsets, 0.0)

    @cached_property
    def fixed(self) -> FloatArray:
        """The penalty of mean weights and offsets, which no precision changes."""
        blocks = [np.outer(span, span) * (_OF_MEANS / _total(span) ** 2) for span in self._spans]
        return _block_diagonal(blocks, self.n_offsets, _OF_MEANS)

    @property
    def n_offsets(self) -> int:
        """C, or none."""
        return self.n_classes if self.has_offsets else 0

    @property
    def _spans(self) -> tuple[FloatArray, ...]:
        return tuple(map(np.ones, self.sizes)) if self.spans is None else self.spans

    @property
    def freedom(self) -> int:
        """In how many directions weights can stray."""
        return sum(self.sizes) - len(self.sizes)


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of the labels of rows under a log-linear pool.

    Parameters
    ----------
    scores : array of shape (D, C − 1, S)
        What every component says for every class but the first, less what it says for the first.
    base : array of shape (C − 1, S)
        The part of the score that has no weight, likewise.
    labels : array of shape (S,)
        Class of every row.
    weights : array of shape (S,)
        How often every row counts.
    has_offsets : bool, default=True
        Whether a number is learned for every class, too.
    """

    scores: FloatArray
    base: FloatArray
    labels: IntArray
    weights: FloatArray
    has_offsets: bool = True

    @classmethod
    def weighing(
        cls, scores: FloatArray, base: FloatArray, labels: IntArray, weights: FloatArray, has_offsets: bool = True
    ) -> Likelihood:
        """With weights scaled down where they stand for more rows than matter."""
        return cls(scores, base, labels, weights * min(1.0, _MANY_ROWS / float(weights.sum())), has_offsets)

    @property
    def n_components(self) -> int:
        """D."""
        return len(self.scores)

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.base) + 1

    @property
    def n_parameters(self) -> int:
        """D, and C if there are offsets."""
        return self.n_components + self.has_offsets * self.n_classes

    def log_proba(self, at: FloatArray) -> FloatArray:
        """Log probabilities of the classes under these weights and offsets, of shape (C, S)."""
        weights, offsets = np.split(at, [self.n_components])
        logs = np.zeros((self.n_classes, len(self.labels)))
        logs[1:] = (weights @ self.scores.reshape(self.n_components, -1)).reshape(self.base.shape)
        logs[1:] += self.base
        if self.has_offsets:
            logs += offsets[:, np.newaxis]
        logs -= logs.max(axis=0)
        logs -= np.log(np.exp(logs).sum(axis=0))
        return logs

    def loss(self, log_proba: FloatArray) -> float:
        """Minus the log-likelihood."""
        return -float(self.weights @ log_proba[self.labels, np.arange(len(self.labels))])

    def derivatives(self, log_proba: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian of the loss with respect to weights and offsets."""
        size = self.n_parameters
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        for rows in self._blocks():
            of_rows, curvature = self._derivatives(np.exp(log_proba[:, rows]), rows)
            gradient += of_rows
            hessian += curvature
        return gradient, hessian

    def squared_gradients(self, log_proba: FloatArray) -> FloatArray:
        """The sum over rows of the outer product of the gradient with itself, as far as a row is left out."""
        size = self.n_parameters
        squares = np.zeros((size, size))
        for rows in self._blocks():
            gradients = self._gradients(np.exp(log_proba[:, rows]), rows)
            left_out = self.weights[rows] * np.minimum(self.weights[rows], 1.0)
            squares += (gradients * left_out) @ gradients.T
        return squares

    def _blocks(self) -> list[slice]:
        size = max(256, _BLOCK_SCORES // max(self.n_components * (self.n_classes - 1), 1))
        return [slice(start, start + size) for start in range(0, len(self.labels), size)]

    def _gradients(self, proba: FloatArray, rows: slice) -> FloatArray:
        """The gradient of every row, of shape (D + C, rows), or of shape (D, rows) without offsets."""
        scores, surprise = self.scores[:, :, rows], proba.copy()
        surprise[self.labels[rows], np.arange(proba.shape[1])] -= 1
        of_weights = _over_classes(scores, surprise[1:])
        return np.concatenate([of_weights, surprise]) if self.has_offsets else of_weights

    def _derivatives(self, proba: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray]:
        d, weights = self.n_components, self.weights[rows]
        scores, weighted = self.scores[:, :, rows], proba * weights
        surprise = weighted.copy()
        surprise[self.labels[rows], np.arange(len(weights))] -= weights
        gradient = _summed(scores, surprise[1:]).sum(axis=1)
        if self.has_offsets:
            gradient = np.concatenate([gradient, surprise.sum(axis=1)])
        hessian = np.empty((len(gradient), len(gradient)))
        if self.n_classes == 2:  # the product of the means is a multiple of that of the scores
            spread = weighted[1:] * proba[0]
            hessian[:d, :d] = _squared(scores.reshape(d, -1), spread[0])
        else:
            mean = _over_classes(scores, proba[1:])
            hessian[:d, :d] = _squared(scores.reshape(d, -1), weighted[1:].ravel()) - _squared(mean, weights)
        if not self.has_offsets:
            return gradient, hessian
        if self.n_classes == 2:
            cross = _summed(scores, spread) * np.array([-1.0, 1.0])
        else:
            cross = -mean @ weighted.T
            cross[:, 1:] += _summed(scores, weighted[1:])
        hessian[:d, d:], hessian[d:, :d] = cross, cross.T
        hessian[d:, d:] = np.diag(weighted.sum(axis=1)) - weighted @ proba.T
        return gradient, hessian


def _summed(scores: FloatArray, factors: FloatArray) -> FloatArray:
    """The sum over rows of scores, of shape (D, C − 1, S), times factors, of shape (C − 1, S)."""
    sums: FloatArray = np.matmul(scores.transpose(1, 0, 2), factors[:, :, np.newaxis])[:, :, 0].T
    return sums


def _squared(scores: FloatArray, factors: FloatArray) -> FloatArray:
    """The products of scores, of shape (D, S), with each other, weighted."""
    if len(scores) < _MANY_COMPONENTS:
        return (scores * factors) @ scores.T
    roots = scores * np.sqrt(factors)
    return roots @ roots.T


@dataclass(frozen=True)
class Pool:
    """Learned weights.

    Parameters
    ----------
    weights : array of shape (D,)
    offsets : array of shape (C,)
    precision : float
        What keeps weights near the mean of their group.
    log_loss : float
        What a new row will see, on average: the mean loss of the rows plus what learning from them took off it
        (Takeuchi's criterion).
    """

    weights: FloatArray
    offsets: FloatArray
    precision: float = np.nan
    log_loss: float = np.nan


def learn(likelihood: Likelihood, prior: Prior, start: Pool | None = None) -> Pool:
    """The most probable weights under the precision of greatest evidence, sought from the weights of ``start``."""
    at = prior.centre if start is None else np.concatenate([start.weights, start.offsets[: prior.n_offsets]])
    precision, tried = _FIRST, [_FIRST]
    peak = climb(likelihood, prior, precision, at)
    while len(tried) < _MOST_PRECISIONS:
        precision = _best_nearby(prior, peak, precision)
        if precision in tried:  # found again, or between two
            break
        tried.append(precision)
        peak = climb(likelihood, prior, precision, peak.at)
    _, hessian = likelihood.derivatives(peak.log_proba)
    curvature = hessian + prior.fixed + tried[-1] * prior.straying
    optimism = float(np.trace(np.linalg.solve(curvature, likelihood.squared_gradients(peak.log_proba))))
    weights, learned = np.split(peak.at, [likelihood.n_components])
    offsets = learned if likelihood.has_offsets else np.zeros(likelihood.n_classes)
    return Pool(weights, offsets, tried[-1], (peak.loss + optimism) / float(likelihood.weights.sum()))


@dataclass(frozen=True)
class Peak:
    """The most probable weights under one precision.

    The loss around them is about ½ atᵀ hessian at − pull at, from where the last step began.
    """

    at: FloatArray
    loss: float
    hessian: FloatArray
    pull: FloatArray
    log_proba: FloatArray


def climb(likelihood: Likelihood, prior: Prior, precision: float, at: FloatArray) -> Peak:
    """Newton's method; a step that does not pay is halved."""
    penalty = prior.fixed + precision * prior.straying

    def look(at: FloatArray) -> tuple[float, float, FloatArray]:
        log_proba = likelihood.log_proba(at)
        loss, away = likelihood.loss(log_proba), at - prior.centre
        return loss + 0.5 * float(away @ penalty @ away), loss, log_proba

    value, loss, log_proba = look(at)
    small = _SMALL_GAIN * float(likelihood.weights.sum())
    for _ in range(_MOST_STEPS):
        gradient, hessian = likelihood.derivatives(log_proba)
        pull = hessian @ at - gradient
        slope = gradient + penalty @ (at - prior.centre)
        step = -np.linalg.solve(hessian + penalty, slope)
        most = value + ROUNDING * max(value, 1.0)
        for size in 0.5 ** np.arange(20):
            there = look(at + size * step)
            if there[0] <= most:
                at = at + size * step
                value, loss, log_proba = there
                break
        else:
            break  # as far down as floating point goes
        if -float(slope @ step) <= small:
            break
    return Peak(at, loss, hessian, pull, log_proba)


def _best_nearby(prior: Prior, peak: Peak, precision: float) -> float:
    """The precision of greatest evidence, in the quadratic approximation of the loss around a peak.

    With the offsets eliminated, and in the basis that makes both the curvature at the lowest precision and the penalty
    diagonal, the evidence of all precisions is a sum over its directions.
    """
    if not prior.freedom:
        return precision
    near = _PRECISIONS[np.abs(np.log(_PRECISIONS / precision)) <= np.log(_FARTHEST) + 1e-9]
    d = sum(prior.sizes)
    curvature = peak.hessian + prior.fixed + near[0] * prior.straying
    pull = peak.pull + prior.fixed @ prior.centre
    through_offsets = np.linalg.solve(curvature[d:, d:], np.column_stack([curvature[d:, :d], pull[d:]]))
    schur = curvature[:d, :d] - curvature[:d, d:] @ through_offsets[:, :d]
    pull = pull[:d] - curvature[:d, d:] @ through_offsets[:, d]
    with one_blas_thread():  # on a busy machine several take twenty times as long, on an idle one they gain little
        root, basis = eigh(prior.straying[:d, :d], (schur + schur.T) / 2)
    growth = 1 + np.outer(near - near[0], np.maximum(root, 0))
    gain = ((basis.T @ pull) ** 2 / growth - np.log(growth)).sum(axis=1) + prior.freedom * np.log(near)
    return float(near[np.argmax(gain)])


def _over_classes(scores: FloatArray, numbers: FloatArray) -> FloatArray:
    """The sum over the classes of scores, of shape (D, C − 1, rows), times numbers, of shape (C − 1, rows)."""
    if not len(numbers):  # some versions of NumPy leave a sum over nothing as the memory was
        return np.zeros((len(scores), numbers.shape[1]))
    total: FloatArray = np.einsum("dcs,cs->ds", scores, numbers)
    return total


def _total(span: FloatArray) -> float:
    """How many components the weights of a group stand for."""
    return float(np.rint(span @ span))


def _block_diagonal(blocks: list[FloatArray], n_offsets: int, offset: float) -> FloatArray:
    size = sum(map(len, blocks)) + n_offsets
    matrix = np.diag(np.full(size, offset))
    start = 0
    for block in blocks:
        span = slice(start, start + len(block))
        matrix[span, span] = block
        start = span.stop
    return matrix
