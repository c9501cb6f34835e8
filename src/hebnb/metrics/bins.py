"""Rows by how confident a model is of them, and what chance would make of perfect confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm
from sklearn.utils import check_random_state

from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

# How often an interval holds what it is about, and a perfect model stays within its band.
LEVEL = 0.95
# Draws of all bins that a band is the quantiles of.
_DRAWS = 4_000


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows by confidence: the bins that hold some.

    Parameters
    ----------
    place : array of int
        Which of all bins they are.
    confidence, doubt, accuracy : array
        Weighted means; doubt is what confidence lacks to 1, which is exact where confidence is all but 1.
    count, weight : array
        Rows, and what they weigh.
    equal : array
        How many rows of equal weight they are worth.
    rows : array of int
        How many of equal weight and equal probability would vary as much, were probabilities right; 0 where nothing
        varies.
    """

    place: IntArray
    confidence: FloatArray
    doubt: FloatArray
    accuracy: FloatArray
    count: FloatArray
    weight: FloatArray
    equal: FloatArray
    rows: IntArray

    @classmethod
    def of(cls, proba: FloatArray, column: IntArray, weight: FloatArray, n_bins: int, c: int | None = None) -> Bins:
        """Bins by the probability of class c, or of the most probable one."""
        if n_bins < 1:
            raise ParameterError(f"n_bins={n_bins!r} must be at least 1.")
        said = proba.argmax(axis=1) if c is None else np.full(len(proba), c)
        confidence = np.minimum(proba[np.arange(len(proba)), said], 1.0)
        bin_ = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
        total = np.bincount(bin_, weight, n_bins).astype(float)
        used = np.flatnonzero(total)

        def mean(part: FloatArray) -> FloatArray:
            means: FloatArray = np.bincount(bin_, weight * part, n_bins)[used] / total[used]
            return means

        doubt = mean(1 - confidence)
        variance = mean(weight * confidence * (1 - confidence)) / total[used]
        varies = variance > 0
        rows = (1 - doubt) * doubt / np.where(varies, variance, 1.0)
        return cls(
            used,
            np.minimum(mean(confidence), 1.0),
            doubt,
            mean((column == said).astype(float)),
            np.bincount(bin_, minlength=n_bins)[used].astype(float),
            total[used],
            total[used] / mean(weight),
            np.where(varies, np.maximum(rows.round(), 1), 0).astype(np.int64),
        )

    @property
    def share(self) -> FloatArray:
        """What every bin weighs, of one."""
        share: FloatArray = self.weight / self.weight.sum()
        return share

    @property
    def error(self) -> float:
        """The mean of |accuracy − confidence|."""
        return float(self.share @ np.abs(self.accuracy - self.confidence))

    @property
    def by_chance(self) -> float:
        """The mean of |k/n − q|, where k rows are wrong: 2q(1 − q) P(⌊nq⌋ of n − 1), as De Moivre found."""
        n, q = self.rows, self.doubt
        deviation = 2 * q * (1 - q) * binom.pmf(np.floor(n * q), np.maximum(n, 1) - 1, q)
        return float(self.share @ np.where(n > 0, deviation, 0.0))

    @property
    def debiased(self) -> float:
        """The error, less the excess of the mean of |N(gap, s)|, a folded normal distribution, over it."""
        gap, s = np.abs(self.accuracy - self.confidence), self._standard_errors
        folded = s * np.sqrt(2 / np.pi) * np.exp(-((gap / s) ** 2) / 2) + gap * (1 - 2 * norm.cdf(-gap / s))
        return float(max(self.share @ (2 * gap - folded), 0.0))

    @property
    def standard_error(self) -> float:
        """How far the error is from that of endless rows, but for its bias."""
        return float(np.sqrt(np.square(self.share * self._standard_errors).sum()))

    @property
    def _standard_errors(self) -> FloatArray:
        """Those of the accuracies: √(a(1 − a)/n), with half a row more on either side, so that none is zero."""
        a = (self.equal * self.accuracy + 0.5) / (self.equal + 1)
        errors: FloatArray = np.sqrt(a * (1 - a) / self.equal)
        return errors

    def errors_by_chance(self, random_state: int | np.random.RandomState | None) -> FloatArray:
        """Errors that a perfect model would show."""
        random = check_random_state(random_state)
        varies = np.flatnonzero(self.rows)
        n, q = self.rows[varies], self.doubt[varies]
        gaps = np.abs(random.binomial(n, q, (_DRAWS, len(varies))) / n - q)
        errors: FloatArray = gaps @ self.share[varies]
        return errors

    def band(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the accuracies that a perfect model would show in every bin."""
        n, p = np.maximum(self.rows, 1), self.confidence
        low, high = (np.where(self.rows > 0, binom.ppf(end, n, p) / n, p) for end in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return low, high
